//! What counts as text, and its form with plain line endings.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use crate::file_error::FileError;
use crate::target::Target;

/// A NUL among this many bytes at the start makes a file binary.
pub(crate) const BINARY_PROBE: usize = 8192;

/// The largest file, in bytes, whose old text is handed out as the basis of a diff: 10 MiB.
pub(crate) const MAX_BASIS: u64 = 10 << 20;

/// The UTF-8 byte order mark.
pub(crate) const BOM: &str = "\u{feff}";

/// The whole of a file as text, without its byte order mark.
pub(crate) fn decode(bytes: Vec<u8>, target: &Target) -> Result<String, FileError> {
    let mut text = decode_raw(bytes, target)?;
    if text.starts_with(BOM) {
        text.drain(..BOM.len());
    }
    Ok(text)
}

/// The whole of a file as text, its byte order mark included.
pub(crate) fn decode_raw(bytes: Vec<u8>, target: &Target) -> Result<String, FileError> {
    if is_binary(&bytes) {
        return Err(FileError::binary(target));
    }
    String::from_utf8(bytes).map_err(|_| FileError::not_utf8(target))
}

pub(crate) fn is_binary(start: &[u8]) -> bool {
    memchr(0, &start[..start.len().min(BINARY_PROBE)]).is_some()
}

/// `\r\n` becomes `\n`; a `\r` by itself stays.
pub(crate) fn to_lf(text: &str) -> Cow<'_, str> {
    let mut rest = 0;
    let mut lf = String::new();
    for at in memmem::find_iter(text.as_bytes(), b"\r\n") {
        lf.push_str(&text[rest..at]);
        rest = at + 1;
    }
    if rest == 0 {
        return Cow::Borrowed(text);
    }
    lf.push_str(&text[rest..]);
    Cow::Owned(lf)
}
