//! The claims of a capture, beside its image.

use serde::Serialize;
use serde_json::{Value, json};

pub(crate) const SIDECAR_MAX_BYTES: usize = 16_384;
pub(crate) const SIDECAR_SUFFIX: &str = ".capture.json";

pub(crate) struct Measured {
    pub(crate) sha256: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SidecarError {
    #[error("capture sidecar cannot be a symlink")]
    Symlink,
    #[error("capture sidecar must be a regular file")]
    NotAFile,
    #[error("capture sidecar exceeds 16384 bytes")]
    TooLarge,
    #[error("invalid capture sidecar schema or geometry")]
    Invalid,
}

pub(crate) struct Claims(Value);

/// Accepts nothing yet.
pub(crate) fn validate(_: &[u8], _: &Measured) -> Result<Claims, SidecarError> {
    Err(SidecarError::Invalid)
}

#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Provenance(Value);

impl Provenance {
    pub(crate) fn missing(measured: &Measured) -> Self {
        Self(document("missing", measured, Value::Null))
    }

    pub(crate) fn validated(measured: &Measured, claims: Claims) -> Self {
        Self(document("validated_claims", measured, claims.0))
    }
}

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
