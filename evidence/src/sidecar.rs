//! The claims of a capture, in a file beside its image: `NAME.EXT.capture.json`, version 1.
//!
//! Claims are checked against what was measured, and never believed beyond that. No message echoes what a sidecar says.

mod json;
mod origin;
mod rules;
mod time;

use serde::Serialize;
use serde_json::{Map, Value, json};

/// The longest sidecar that is read, in bytes.
pub const SIDECAR_MAX_BYTES: usize = 16_384;
/// What the name of a sidecar has after that of its image.
pub const SIDECAR_SUFFIX: &str = ".capture.json";

/// What the reader itself found of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The sha256 of the file, 64 lower-case hex digits.
    pub sha256: String,
    /// Stored pixels from left to right.
    pub width: u32,
    /// Stored pixels from top to bottom.
    pub height: u32,
}

/// Why a sidecar is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SidecarError {
    /// It is a symbolic link, dangling or not.
    #[error("capture sidecar cannot be a symlink")]
    Symlink,
    /// It is a directory, FIFO, device or socket.
    #[error("capture sidecar must be a regular file")]
    NotAFile,
    /// It has more than [`SIDECAR_MAX_BYTES`].
    #[error("capture sidecar exceeds {SIDECAR_MAX_BYTES} bytes")]
    TooLarge,
    /// It is of a version other than 1.
    #[error("unsupported capture sidecar version")]
    Version,
    /// It was made for other bytes.
    #[error("capture sidecar image hash mismatch")]
    Hash,
    /// It was made for an image of another size.
    #[error("capture sidecar image dimensions mismatch")]
    Dimensions,
    /// Anything else is wrong with it.
    #[error("invalid capture sidecar schema or geometry")]
    Invalid,
}

/// The claims of a sound sidecar: its fields as they were written, but of the addresses only the origins.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Claims(Map<String, Value>);

/// Checks a sidecar against its image.
///
/// ```
/// use attache_evidence::{Measured, SidecarError, validate_sidecar};
/// let measured = Measured { sha256: "0".repeat(64), width: 100, height: 50 };
/// assert_eq!(validate_sidecar(b"{}", &measured).unwrap_err(), SidecarError::Invalid);
/// ```
///
/// # Errors
/// `Version`, `Hash`, `Dimensions` or `Invalid`. The first fault counts, in the order: JSON, keys, version, trust, hash, size, all others.
pub fn validate(bytes: &[u8], measured: &Measured) -> Result<Claims, SidecarError> {
    if bytes.len() > SIDECAR_MAX_BYTES {
        return Err(SidecarError::TooLarge);
    }
    match json::parse(bytes) {
        Some(Value::Object(fields)) => rules::check(fields, measured).map(Claims),
        _ => Err(SidecarError::Invalid),
    }
}

/// What is known of where an image comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Provenance(Value);

impl Provenance {
    /// Of an image without a sidecar.
    #[must_use]
    pub fn missing(measured: &Measured) -> Self {
        Self(document("missing", measured, Value::Null))
    }

    /// Of an image whose sidecar holds.
    #[must_use]
    pub fn validated(measured: &Measured, claims: Claims) -> Self {
        Self(document("validated_claims", measured, Value::Object(claims.0)))
    }
}

/// A hash that fits ties claims to bytes. It says nothing of who made them, or of what the image does not show.
fn document(status: &str, measured: &Measured, claims: Value) -> Value {
    let Measured { sha256, width, height } = measured;
    json!({
        "status": status,
        "content_trust": "untrusted",
        "coverage": "unknown",
        "importer_verified": {"sha256": sha256, "pixel_width": width, "pixel_height": height},
        "producer_claims": claims,
    })
}

#[cfg(test)]
mod tests;
