use std::fmt;
use std::str::FromStr;

use crate::MediaType;
use crate::container;
use crate::dimensions::Dimensions;
use crate::error::MediaError;

/// Pixels that `Verify::Decode` decodes at most unless told otherwise: 64 million, for example 8000 × 8000.
pub const DEFAULT_MAX_PIXELS: u64 = 64_000_000;

/// How deep [`verify`] looks. Each level includes the ones before it, hence the order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verify {
    /// The leading bytes only, which [`sniff`](crate::sniff()) has judged already.
    #[default]
    Magic,
    /// The container is walked from its first byte to its end marker. Costs about one checksum of the bytes.
    Structure,
    /// Every pixel of the first frame is decoded, under a pixel budget.
    #[cfg(feature = "decode")]
    Decode,
}

/// A text that names no level of [`Verify`] which this build has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseVerifyError {
    /// None of the three names.
    #[error("the verify level is none of magic, structure, decode")]
    Unknown,
    /// `decode`, in a build without the feature of that name.
    #[error("the verify level decode is not in this build: it was built without the feature \"decode\"")]
    NotBuilt,
}

/// Checks that bytes are a sound image of a type, as deep as `level` says.
///
/// Returns the dimensions, or `None` at [`Verify::Magic`], which looks at nothing: sniffing is the caller's step.
/// Bytes after the end of the image are allowed at every level.
///
/// `max_pixels` counts at `Verify::Decode` alone, where it is checked against the header before anything else is
/// done, so that a header's claim never costs memory.
///
/// Decoding a PNG or a GIF holds one row at a time. A JPEG takes up to 12 bytes of memory a pixel and a WebP up to 16, so
/// a host that decodes several at once may want a smaller budget than the default. A decoder's panic is caught and is
/// a refusal too; the process's panic hook still sees it.
///
/// # Errors
/// [`MediaError::Undecodable`] where the bytes are not a whole image of `media_type` with both sides above zero, and
/// [`MediaError::TooManyPixels`] where it has more than `max_pixels`.
pub fn verify(
    bytes: &[u8],
    media_type: MediaType,
    level: Verify,
    #[cfg_attr(not(feature = "decode"), expect(unused_variables, reason = "only decoding counts pixels"))]
    max_pixels: u64,
) -> Result<Option<Dimensions>, MediaError> {
    match level {
        Verify::Magic => Ok(None),
        Verify::Structure => container::structure(bytes, media_type).map(Some),
        #[cfg(feature = "decode")]
        Verify::Decode => crate::decode::decode(bytes, media_type, max_pixels).map(Some),
    }
}

impl Verify {
    /// The name used in settings: `magic`, `structure` or `decode`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verify::Magic => "magic",
            Verify::Structure => "structure",
            #[cfg(feature = "decode")]
            Verify::Decode => "decode",
        }
    }
}

impl fmt::Display for Verify {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Verify {
    type Err = ParseVerifyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "magic" => Ok(Verify::Magic),
            "structure" => Ok(Verify::Structure),
            #[cfg(feature = "decode")]
            "decode" => Ok(Verify::Decode),
            #[cfg(not(feature = "decode"))]
            "decode" => Err(ParseVerifyError::NotBuilt),
            _ => Err(ParseVerifyError::Unknown),
        }
    }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
