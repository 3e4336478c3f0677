//! The lines that stand in for an image when its bytes are not shown.
//!
//! Each is a function of the record alone (and of a fixed setting or a recorded reason), never of a count that moves
//! from request to request: a line that changes would break every provider's prompt cache from there on.

use crate::text::clean;

/// The line of an image that ageing left out. `keep` is the configured number, not how many were shown.
#[must_use]
pub fn aged_line(media_type: &str, bytes: u64, sha256: &str, keep: usize) -> String {
    format!(
        "[image not shown: {}, {bytes} bytes, sha256 {}; only the newest images stay in view (keep {keep})]",
        clean(media_type),
        clean(sha256)
    )
}

/// The line of an image whose bytes are missing, damaged or not what the record says. `bytes` is what the record
/// says, as text, since a malformed record may hold anything there.
#[must_use]
pub fn unavailable_line(media_type: &str, bytes: &str, sha256: &str) -> String {
    format!("[image unavailable: {}, {} bytes, sha256 {}]", clean(media_type), clean(bytes), clean(sha256))
}

/// The line of an image that was withheld by hand.
#[must_use]
pub fn withheld_line(media_type: &str, bytes: u64, sha256: &str, reason: &str) -> String {
    format!("[image withheld: {}, {bytes} bytes, sha256 {}; {}]", clean(media_type), clean(sha256), clean(reason))
}

/// The line that announces an accepted attachment by the name under which a tool can ask for it again.
#[must_use]
pub fn attached_line(path: &str, media_type: &str, bytes: u64) -> String {
    format!("[image attached: {}, {}, {bytes} bytes]", clean(path), clean(media_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_the_agreed_shape() {
        let sha = "ab".repeat(32);
        for (line, expected) in [
            (
                aged_line("image/png", 7, &sha, 5),
                format!(
                    "[image not shown: image/png, 7 bytes, sha256 {sha}; only the newest images stay in view (keep 5)]"
                ),
            ),
            (unavailable_line("", "7", "../x"), "[image unavailable: , 7 bytes, sha256 ../x]".to_owned()),
            (
                withheld_line("image/png", 7, &sha, "too\nbig"),
                format!("[image withheld: image/png, 7 bytes, sha256 {sha}; too\\u{{a}}big]"),
            ),
            (attached_line("a.png", "image/png", 7), "[image attached: a.png, image/png, 7 bytes]".to_owned()),
        ] {
            assert_eq!(line, expected);
        }
    }
}
