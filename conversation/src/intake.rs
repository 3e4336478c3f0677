//! The checks that every image passes before it is stored, from its bytes alone.

use attache_media::{DEFAULT_MAX_PIXELS, MediaType, Verify, describe, sniff, verify};

use crate::refusal::{Refusal, RefusalCode};

/// What to do when the bytes are another allowed type than the declared one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnMismatch {
    /// Refuse with `content_mismatch`.
    #[default]
    Refuse,
    /// Take the image under the type of its bytes, and say so.
    Relabel,
}

/// Largest image accepted by default, in bytes: its base64 is 5 242 880 characters, the strictest per-image limit
/// that a model service is known to apply.
pub const DEFAULT_MAX_BYTES: u64 = 3_932_160;

/// The settings of the checks on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intake {
    /// Largest accepted image in bytes, inclusive.
    pub max_bytes: u64,
    /// How deep an image is verified.
    pub verify: Verify,
    /// Most pixels that may be decoded.
    pub max_pixels: u64,
    /// What happens to a wrong label.
    pub on_mismatch: OnMismatch,
}

impl Default for Intake {
    fn default() -> Self {
        Self {
            max_bytes: DEFAULT_MAX_BYTES,
            verify: Verify::Magic,
            max_pixels: DEFAULT_MAX_PIXELS,
            on_mismatch: OnMismatch::Refuse,
        }
    }
}

/// An image that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The type of the bytes.
    pub media_type: MediaType,
    /// The declared type, where it was another one and the setting relabels.
    pub relabelled_from: Option<MediaType>,
}

impl Intake {
    /// Checks size, leading bytes and, where asked, soundness. `declared` is `None` where labels are only hints: the
    /// bytes alone then decide.
    ///
    /// # Errors
    /// `too_large`, `content_mismatch`, `undecodable` or `too_many_pixels`, with the values in the reason.
    pub fn check(&self, bytes: &[u8], declared: Option<MediaType>) -> Result<Checked, Refusal> {
        let len = bytes.len() as u64;
        if len > self.max_bytes {
            return Err(Refusal::too_large(len, self.max_bytes));
        }
        let checked = self.label(bytes, declared)?;
        verify(bytes, checked.media_type, self.verify, self.max_pixels)?;
        Ok(checked)
    }

    fn label(&self, bytes: &[u8], declared: Option<MediaType>) -> Result<Checked, Refusal> {
        let found = sniff(bytes).ok_or_else(|| none_of_the_allowed(bytes, declared))?;
        match declared {
            Some(declared) if declared != found && self.on_mismatch == OnMismatch::Refuse => Err(Refusal::new(
                RefusalCode::ContentMismatch,
                format!("declared as {declared}, but the bytes are {found}"),
            )),
            Some(declared) => {
                Ok(Checked { media_type: found, relabelled_from: (declared != found).then_some(declared) })
            }
            None => Ok(Checked { media_type: found, relabelled_from: None }),
        }
    }
}

fn none_of_the_allowed(bytes: &[u8], declared: Option<MediaType>) -> Refusal {
    let declared = declared.map_or_else(String::new, |declared| format!("declared as {declared}, but "));
    let allowed = MediaType::ALL.map(MediaType::as_str).join(", ");
    let reason = match describe(bytes) {
        _ if bytes.is_empty() => format!("{declared}the file is empty, which is none of {allowed}"),
        found => format!("{declared}the bytes look like {found} and are none of {allowed}"),
    };
    Refusal::new(RefusalCode::ContentMismatch, reason)
}

/// Decodes base64 as it comes from tools, peers and other people's logs.
///
/// ASCII white space is stripped; the standard and the URL-safe alphabet (not a mixture) and missing padding are
/// accepted; nothing else, a `data:` prefix included.
///
/// # Errors
/// `too_large` before anything is decoded when the decoded size must exceed `max_bytes`; `malformed` otherwise.
pub fn decode_base64(text: &str, max_bytes: u64) -> Result<Vec<u8>, Refusal> {
    let stripped;
    let mut text = text;
    if text.bytes().any(|byte| byte.is_ascii_whitespace()) {
        let symbols = text.bytes().filter(|byte| !byte.is_ascii_whitespace() && *byte != b'=').count();
        refuse_oversize(symbols, max_bytes)?;
        stripped = text.replace(|c: char| c.is_ascii_whitespace(), "");
        text = &stripped;
    }
    let symbols = strip_padding(text)?;
    refuse_oversize(symbols.len(), max_bytes)?;
    let alphabet = if symbols.bytes().any(|byte| matches!(byte, b'-' | b'_')) {
        base64_simd::URL_SAFE_NO_PAD
    } else {
        base64_simd::STANDARD_NO_PAD
    };
    alphabet.decode_to_vec(symbols).map_err(|_| malformed(text))
}

fn strip_padding(text: &str) -> Result<&str, Refusal> {
    let symbols = text.trim_end_matches('=');
    let padding = text.len() - symbols.len();
    if padding > 2 || (padding > 0 && !text.len().is_multiple_of(4)) {
        return Err(malformed(text));
    }
    Ok(symbols)
}

fn refuse_oversize(symbols: usize, max_bytes: u64) -> Result<(), Refusal> {
    let decoded = symbols as u64 / 4 * 3 + [0, 0, 1, 2][symbols % 4];
    if decoded > max_bytes { Err(Refusal::too_large(decoded, max_bytes)) } else { Ok(()) }
}

fn malformed(text: &str) -> Refusal {
    let hint = if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:")) {
        ": it is a data URL, and only its part after the comma would be base64"
    } else {
        ""
    };
    Refusal::new(RefusalCode::Malformed, format!("the data ({} characters) is not base64{hint}", text.len()))
}

#[cfg(test)]
mod tests {
    use attache_media::fixtures;
    use proptest::prelude::*;

    use super::*;

    fn code(result: Result<Checked, Refusal>) -> RefusalCode {
        result.unwrap_err().code
    }

    #[test]
    fn the_size_limit_is_inclusive_and_both_sizes_are_named() {
        let png = fixtures::png_of_len(2048, 1);
        let intake = Intake { max_bytes: 2048, ..Intake::default() };
        assert!(intake.check(&png, Some(MediaType::Png)).is_ok());
        let refusal = Intake { max_bytes: 2047, ..intake }.check(&png, Some(MediaType::Png)).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::TooLarge);
        assert!(refusal.reason.contains("2048 bytes") && refusal.reason.contains("2047 bytes"), "{}", refusal.reason);
    }

    #[test]
    fn all_cross_pairs_mismatch_and_name_the_found_type() {
        for found in MediaType::ALL {
            for declared in MediaType::ALL {
                let bytes = fixtures::of(found);
                let result = Intake::default().check(&bytes, Some(declared));
                if found == declared {
                    assert_eq!(result.unwrap(), Checked { media_type: found, relabelled_from: None });
                    continue;
                }
                let refusal = result.unwrap_err();
                assert_eq!(refusal.code, RefusalCode::ContentMismatch);
                assert!(refusal.reason.contains(found.as_str()), "{}", refusal.reason);
                let relabel = Intake { on_mismatch: OnMismatch::Relabel, ..Intake::default() };
                let checked = relabel.check(&bytes, Some(declared)).unwrap();
                assert_eq!(checked, Checked { media_type: found, relabelled_from: Some(declared) });
            }
        }
    }

    #[test]
    fn bytes_of_no_allowed_type_never_pass_however_labelled() {
        let relabel = Intake { on_mismatch: OnMismatch::Relabel, ..Intake::default() };
        for bytes in [&b""[..], b"<html>", b"{\"success\":true}", b"RIFF....WAVE"] {
            assert_eq!(code(relabel.check(bytes, Some(MediaType::Png))), RefusalCode::ContentMismatch);
            assert_eq!(code(relabel.check(bytes, None)), RefusalCode::ContentMismatch);
        }
        let empty = relabel.check(b"", None).unwrap_err().reason;
        assert_eq!(empty, "the file is empty, which is none of image/png, image/jpeg, image/gif, image/webp");
    }

    #[test]
    fn base64_spellings() {
        for good in ["aGk_YT4-", "aGk/YT4+", " aGk/\r\nYT4+\t", "aGk/YT4+"] {
            assert_eq!(decode_base64(good, 100).unwrap(), b"hi?a>>", "{good:?}");
        }
        for good in ["aGk", "aGk=", "aG k="] {
            assert_eq!(decode_base64(good, 2).unwrap(), b"hi", "{good:?}");
        }
        for bad in ["%%%", "aGk/YT4-", "a", "aGk==", "a===", "aG=k", "data:image/png;base64,aGk=", "aGkä", "\u{a0}aGk="]
        {
            assert_eq!(decode_base64(bad, 100).unwrap_err().code, RefusalCode::Malformed, "{bad:?}");
        }
        assert_eq!(decode_base64("", 0).unwrap(), b"");
    }

    #[test]
    fn an_oversize_string_is_refused_before_it_is_decoded() {
        for (text, limit, fits) in [("AAAA", 3, true), ("AAAA", 2, false), ("AAA=", 2, true), ("AA", 0, false)] {
            assert_eq!(decode_base64(text, limit).is_ok(), fits, "{text} {limit}");
        }
        // It is no base64 either, which was never looked at.
        assert_eq!(decode_base64(&"%".repeat(40), 4).unwrap_err().code, RefusalCode::TooLarge);
    }

    proptest! {
        #[test]
        fn what_is_encoded_decodes_however_it_is_wrapped(bytes: Vec<u8>, width in 1usize..80, url_safe: bool, pad: bool) {
            let alphabet = match (url_safe, pad) {
                (false, true) => base64_simd::STANDARD,
                (false, false) => base64_simd::STANDARD_NO_PAD,
                (true, true) => base64_simd::URL_SAFE,
                (true, false) => base64_simd::URL_SAFE_NO_PAD,
            };
            let text = alphabet.encode_to_string(&bytes);
            let wrapped: String = text.as_bytes().chunks(width).map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect();
            prop_assert_eq!(decode_base64(&wrapped, bytes.len() as u64).unwrap(), bytes);
        }

        #[test]
        fn arbitrary_text_never_panics(text: String, limit: u64) {
            let _ = decode_base64(&text, limit);
        }
    }
}
