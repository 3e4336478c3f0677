//! From bytes alone: an image's type, dimensions and soundness.
//!
//! ```
//! use attache_media::{MediaType, Verify, describe, sniff, verify, DEFAULT_MAX_PIXELS};
//!
//! let bytes = b"<!doctype html><title>404</title>";
//! assert_eq!(sniff(bytes), None);
//! assert_eq!(describe(bytes), "HTML text");
//!
//! let stub = b"\x89PNG\r\n\x1a\n\0\0\0";
//! assert_eq!(sniff(stub), Some(MediaType::Png));
//! let refused = verify(stub, MediaType::Png, Verify::Structure, DEFAULT_MAX_PIXELS).unwrap_err();
//! assert_eq!(refused.code(), "undecodable");
//! ```
//!
//! Bytes decide: no function here looks at a file name, and a declared type is only ever compared. Everything is a pure
//! function of its arguments: no I/O, no clock, no threads, nothing async. Numbers that come from the bytes never size
//! an allocation before they have been checked against a budget.
//!
//! # Features
//! - `decode`: [`Verify`] gains the level `Decode`, which decodes every pixel of the first frame with the decoder
//!   crates. Without it this crate carries no decoder.
//! - `fixtures`: the module `fixtures`, small valid images made on the spot, for tests and benches.

mod container;
#[cfg(feature = "decode")]
mod decode;
mod describe;
mod dimensions;
mod error;
#[cfg(any(test, feature = "fixtures"))]
pub mod fixtures;
mod media_type;
mod motion;
mod sniff;
#[cfg(test)]
mod testing;
mod verify;

pub use describe::describe;
pub use dimensions::{Dimensions, dimensions};
pub use error::MediaError;
pub use media_type::{MediaType, ParseMediaTypeError, normalise};
pub use motion::{Motion, motion};
pub use sniff::sniff;
pub use verify::{DEFAULT_MAX_PIXELS, ParseVerifyError, Verify, verify};
