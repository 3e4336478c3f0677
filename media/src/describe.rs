use crate::sniff;

/// Names what bytes look like, for the note that refuses them: `HTML text`, `HEIC/HEIF`, `an unknown format`.
pub fn describe(bytes: &[u8]) -> &'static str {
    if bytes.is_empty() {
        return "empty";
    }
    sniff(bytes).map_or("an unknown format", crate::MediaType::as_str)
}
