use crate::MediaType;

/// The image type that bytes begin like, or `None` where they begin like none of the four.
///
/// Bytes decide: no name, extension or label is asked. At most the first 12 bytes are looked at, so this says nothing
/// about soundness; [`verify`](crate::verify()) does.
///
/// ```
/// use attache_media::{MediaType, sniff};
///
/// assert_eq!(sniff(b"GIF89a and more"), Some(MediaType::Gif));
/// assert_eq!(sniff(b"<!doctype html>"), None);
/// ```
pub fn sniff(bytes: &[u8]) -> Option<MediaType> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some(MediaType::Png)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some(MediaType::Jpeg)
    } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
        Some(MediaType::Gif)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some(MediaType::Webp)
    } else {
        None
    }
}

#[cfg(test)]
#[path = "sniff_tests.rs"]
mod tests;
