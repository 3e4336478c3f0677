//! What one field that should hold an image holds: the base64 in it, the bytes in that, and a verdict on them.

use attache_conversation::{Checked, Intake, Refusal, RefusalCode, clean, decode_base64};
use attache_media::{MediaType, describe, sniff};
use bytes::Bytes;

use crate::check::Sound;
use crate::raw_part::split_data_url;

/// What a protocol says that a field is. It is a hint: an image is an image wherever it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Image,
    Audio,
    /// Any file; if it is text, a model can read it.
    File,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) sound: Result<Sound, Refusal>,
    /// What was refused as an image, if it is text.
    pub(super) text: Option<String>,
}

/// Decodes and checks. The label is only quoted.
pub(super) fn judge(data: &str, kind: Kind, label: &str, intake: &Intake) -> Verdict {
    let base64 = base64_of(data);
    let refused = |refusal| Verdict { sound: Err(refusal), text: None };
    let bytes = match decode_base64(base64, intake.max_bytes) {
        Ok(bytes) => bytes,
        Err(refusal) if refusal.code == RefusalCode::TooLarge => {
            return refused(match head(base64) {
                None => no_base64(data),
                Some(head) if sniff(&head).is_none() => no_image(&head, decoded_len(base64), kind, label),
                Some(_) => refusal,
            });
        }
        Err(_) => return refused(no_base64(data)),
    };
    if sniff(&bytes).is_none() {
        let refusal = no_image(&bytes, bytes.len(), kind, label);
        let text = if kind == Kind::Audio { None } else { text_of(bytes) };
        return Verdict { sound: Err(refusal), text };
    }
    match intake.check(&bytes, None) {
        Ok(checked) => Verdict { sound: Ok(sound(checked, bytes)), text: None },
        Err(refusal) => refused(refusal),
    }
}

/// Is the whole string base64 of an image, as its first bytes have it? A JPEG is known by three bytes only, which
/// four letters spell, so that there has to be more of it.
pub(super) fn is_image(text: &str) -> bool {
    const SHORTEST_JPEG: usize = 64;

    let base64 = base64_of(text);
    // What the four types begin with, encoded: most text is ruled out here.
    if !matches!(base64.trim_ascii_start().as_bytes().first(), Some(b'i' | b'/' | b'_' | b'R' | b'U')) {
        return false;
    }
    let is_one = match head(base64).and_then(|head| sniff(&head)) {
        Some(MediaType::Jpeg) => base64.len() >= SHORTEST_JPEG,
        found => found.is_some(),
    };
    is_one && base64.bytes().all(is_base64)
}

/// What a field holds, in the one spelling of base64 that every reader takes, and its type by its bytes.
pub(super) fn respelled(data: &str) -> Option<(MediaType, String)> {
    let base64 = base64_of(data);
    let media_type = sniff(&decode_base64(base64, u64::MAX).ok()?)?;
    let symbols = base64.chars().filter(|c| !c.is_ascii_whitespace() && *c != '=');
    let mut spelled: String = symbols
        .map(|c| {
            if c == '-' {
                '+'
            } else if c == '_' {
                '/'
            } else {
                c
            }
        })
        .collect();
    while !spelled.len().is_multiple_of(4) {
        spelled.push('=');
    }
    Some((media_type, spelled))
}

/// Is the whole string a data URL with base64 that says it is an image, or is one?
pub(super) fn is_image_url(text: &str) -> bool {
    let Some((media_type, _)) = split_data_url(text) else { return false };
    is_image_label(media_type) || is_image(text)
}

/// Does a label speak of an image?
pub(super) fn is_image_label(label: &str) -> bool {
    let label = label.trim_start();
    label.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("image"))
        || attache_media::normalise(&format!("image/{label}")).is_some()
}

/// The base64 of a field that holds it bare, or in a data URL, or in one that lost its scheme.
fn base64_of(data: &str) -> &str {
    // Far longer than any media type with its parameters.
    const LONGEST_HEAD: usize = 256;

    if let Some((_, base64)) = split_data_url(data) {
        return base64;
    }
    let bytes = data.as_bytes();
    let comma = bytes[..bytes.len().min(LONGEST_HEAD)].iter().position(|byte| *byte == b',');
    match comma.map(|at| data.split_at(at)) {
        Some((head, rest)) if head.contains('/') && head.to_ascii_lowercase().ends_with(";base64") => &rest[1..],
        _ => data,
    }
}

/// The first bytes, if they are base64.
fn head(base64: &str) -> Option<Vec<u8>> {
    // Names of formats stand in the first few hundred bytes.
    const SYMBOLS: usize = 1024;

    let symbols: String = base64.chars().filter(|c| !c.is_ascii_whitespace()).take(SYMBOLS).collect();
    decode_base64(&symbols, u64::MAX).ok()
}

pub(super) fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=')
}

fn decoded_len(base64: &str) -> usize {
    let is_symbol = |byte: &u8| is_base64(*byte) && !byte.is_ascii_whitespace() && *byte != b'=';
    let symbols = base64.bytes().filter(is_symbol).count();
    symbols / 4 * 3 + [0, 0, 1, 2][symbols % 4]
}

fn sound(checked: Checked, bytes: Vec<u8>) -> Sound {
    Sound { checked, bytes: Bytes::from(bytes) }
}

/// The refusal of a field that holds something else.
pub(super) fn no_base64(data: &str) -> Refusal {
    let data = data.trim();
    let reason = if data.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("data:")) {
        "it is a data URL, but not one with base64".to_owned()
    } else if data.split_once("://").is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    {
        return link(data);
    } else {
        format!("the data ({} characters) is not base64", data.chars().count())
    };
    Refusal::new(RefusalCode::Malformed, reason)
}

/// The refusal of what would have to be fetched.
pub(super) fn link(url: &str) -> Refusal {
    let reason = format!("it is a link (\"{}\"), and links are not fetched", clean(url.trim()));
    Refusal::new(RefusalCode::Malformed, reason)
}

fn no_image(bytes: &[u8], len: usize, kind: Kind, label: &str) -> Refusal {
    let allowed = MediaType::ALL.map(MediaType::as_str).join(", ");
    if kind == Kind::Audio {
        let reason = format!("it is audio (\"{}\", {len} bytes) and none of {allowed}", clean(label));
        return Refusal::new(RefusalCode::MediaTypeNotAllowed, reason);
    }
    let looks = match encoded_twice(bytes) {
        Some(media_type) => format!("base64 of base64 ({media_type}), encoded once too often,"),
        None if bytes.is_empty() => "nothing (0 bytes)".to_owned(),
        None => format!("{} ({len} bytes)", describe(bytes)),
    };
    Refusal::new(RefusalCode::ContentMismatch, format!("the data is {looks} and none of {allowed}"))
}

fn encoded_twice(bytes: &[u8]) -> Option<MediaType> {
    let text = std::str::from_utf8(bytes.get(..1024).unwrap_or(bytes)).ok()?;
    sniff(&head(base64_of(text))?)
}

/// Text that a model can read: UTF-8 with no controls but white space.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
    let readable = !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}'));
    (readable && !text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use attache_media::fixtures;
    use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine};
    use proptest::prelude::*;

    use super::*;

    fn code(data: &str, kind: Kind, intake: &Intake) -> &'static str {
        match judge(data, kind, "x/y", intake).sound {
            Ok(sound) => sound.checked.media_type.as_str(),
            Err(refusal) => refusal.code.as_str(),
        }
    }

    #[test]
    fn a_field_is_judged_by_what_is_in_it() {
        let png = BASE64_STANDARD.encode(fixtures::png(8, 8, 1));
        let twice = BASE64_STANDARD.encode(&png);
        let pdf = BASE64_STANDARD.encode(b"%PDF-1.7 and so on");
        let (all, few) = (Intake::default(), Intake { max_bytes: 10, ..Intake::default() });
        for (data, kind, intake, outcome) in [
            (png.clone(), Kind::Image, &all, "image/png"),
            (png.clone(), Kind::Audio, &all, "image/png"),
            (format!("data:image/gif;base64,{png}"), Kind::Image, &all, "image/png"),
            (format!("image/jpeg;base64,{png}"), Kind::Image, &all, "image/png"),
            (BASE64_URL_SAFE_NO_PAD.encode(fixtures::jpeg()), Kind::File, &all, "image/jpeg"),
            (png.clone(), Kind::Image, &few, "too_large"),
            (pdf.clone(), Kind::File, &few, "content_mismatch"),
            (pdf.clone(), Kind::File, &all, "content_mismatch"),
            (pdf, Kind::Audio, &few, "media_type_not_allowed"),
            (twice, Kind::Image, &all, "content_mismatch"),
            ("%".repeat(40), Kind::Image, &few, "malformed"),
            ("https://example.org/a b.png".to_owned(), Kind::Image, &all, "malformed"),
            ("data:image/png,abc".to_owned(), Kind::Image, &all, "malformed"),
            ("data:image/png;base64,".to_owned(), Kind::Image, &all, "content_mismatch"),
            (String::new(), Kind::Image, &all, "content_mismatch"),
        ] {
            assert_eq!(code(&data, kind, intake), outcome, "{data} {kind:?}");
        }
    }

    #[test]
    fn reasons_say_what_it_is_instead() {
        let twice = BASE64_STANDARD.encode(BASE64_STANDARD.encode(fixtures::gif()));
        let html = BASE64_STANDARD.encode("<!doctype html><title>404</title>");
        for (data, kind, part) in [
            (twice.as_str(), Kind::Image, "base64 of base64 (image/gif), encoded once too often"),
            (&html, Kind::Image, "HTML text (33 bytes)"),
            (&html, Kind::Audio, "it is audio (\"x/y\", 33 bytes)"),
            ("http://example.org/a.png", Kind::Image, "it is a link (\"http://example.org/a.png\")"),
            ("data:image/png,x", Kind::Image, "not one with base64"),
            ("", Kind::Image, "nothing (0 bytes)"),
        ] {
            let reason = judge(data, kind, "x/y", &Intake::default()).sound.unwrap_err().reason;
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn text_is_handed_back_and_other_bytes_are_not() {
        for (bytes, text) in [
            (&b"\xef\xbb\xbfa\r\nb"[..], Some("a\r\nb")),
            (b"a\0b", None),
            (b"\xff\xfe", None),
            (b" \n", None),
            (b"", None),
        ] {
            let data = BASE64_STANDARD.encode(bytes);
            assert_eq!(judge(&data, Kind::File, "", &Intake::default()).text.as_deref(), text, "{bytes:?}");
        }
    }

    #[test]
    fn a_string_is_an_image_only_as_a_whole() {
        let jpeg = BASE64_STANDARD.encode(fixtures::jpeg());
        for (text, is_one) in [
            (jpeg.clone(), true),
            (format!("data:;base64,{jpeg}"), true),
            ("/9j/usr/share".to_owned(), false),
            (format!("{jpeg} (see there)"), false),
            ("UklGRgAAAABXRUJQ".to_owned(), true),
            ("words".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_image(&text), is_one, "{text}");
        }
        assert!(is_image_url("data:image/png;base64,"));
        assert!(!is_image_url("data:text/plain;base64,aGk=") && !is_image_url(&jpeg));
    }

    #[test]
    fn labels_that_speak_of_an_image() {
        for label in
            ["image/png", " IMAGE/JPEG; x=y", "image/*", "image", "png", "JPG", "image/svg+xml", "image/x-icon"]
        {
            assert!(is_image_label(label), "{label}");
        }
        for label in ["", "text/plain", "application/octet-stream", "audio/png"] {
            assert!(!is_image_label(label), "{label}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_data_never_panics(data in "(data:|image/png;base64,)?\\PC{0,80}", max_bytes in 1u64..80) {
            let intake = Intake { max_bytes, ..Intake::default() };
            let _ = judge(&data, Kind::File, &data, &intake);
            let _ = (is_image(&data), is_image_url(&data), is_image_label(&data));
        }
    }
}
