//! The four containers: where each keeps its dimensions, and a walk from the first byte to the end marker.
//!
//! Each format module has `dimensions` (header only) and `structure` (the whole walk). Both get bytes that begin with
//! the format's magic, read through checked slices only, and allocate nothing but the text of a reason.

mod gif;
mod jpeg;
mod png;
mod webp;

#[cfg(feature = "decode")]
pub(crate) use jpeg::{Step as JpegStep, Walk as JpegWalk};
#[cfg(feature = "decode")]
pub(crate) use webp::extent as webp_extent;

use crate::error::{MediaError, Reason, fault};
use crate::{Dimensions, MediaType, Motion, sniff};

/// Reads the header.
pub(crate) fn dimensions(bytes: &[u8], media_type: MediaType) -> Result<Dimensions, MediaError> {
    let read = match media_type {
        MediaType::Png => png::dimensions,
        MediaType::Jpeg => jpeg::dimensions,
        MediaType::Gif => gif::dimensions,
        MediaType::Webp => webp::dimensions,
    };
    checked(bytes, media_type, read)
}

/// Walks the whole container and returns what [`dimensions`] would.
pub(crate) fn structure(bytes: &[u8], media_type: MediaType) -> Result<Dimensions, MediaError> {
    let walk = match media_type {
        MediaType::Png => png::structure,
        MediaType::Jpeg => jpeg::structure,
        MediaType::Gif => gif::structure,
        MediaType::Webp => webp::structure,
    };
    checked(bytes, media_type, walk)
}

/// Looks for further pictures, as far as the container is sound.
pub(crate) fn motion(bytes: &[u8], media_type: MediaType) -> Motion {
    match media_type {
        MediaType::Png => png::motion(bytes),
        MediaType::Jpeg => jpeg::motion(bytes),
        MediaType::Gif => gif::motion(bytes),
        MediaType::Webp => webp::motion(bytes),
    }
}

fn checked(
    bytes: &[u8],
    media_type: MediaType,
    read: fn(&[u8]) -> Result<Dimensions, Reason>,
) -> Result<Dimensions, MediaError> {
    begins_like(bytes, media_type)
        .and_then(|()| read(bytes))
        .and_then(above_zero)
        .map_err(|reason| MediaError::Undecodable { media_type, reason })
}

fn begins_like(bytes: &[u8], media_type: MediaType) -> Result<(), Reason> {
    if bytes.is_empty() {
        fault!("it is empty (0 bytes)");
    }
    if sniff(bytes) != Some(media_type) {
        fault!("its {} bytes do not begin like {media_type}", bytes.len());
    }
    Ok(())
}

fn above_zero(size: Dimensions) -> Result<Dimensions, Reason> {
    if size.width == 0 || size.height == 0 {
        fault!("its header says {size} pixels");
    }
    Ok(size)
}

/// `N` bytes at an offset, or `None` where the bytes end before.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// The reason for every header that is not all there.
fn cut_in_header(bytes: &[u8]) -> Reason {
    format!("it ends inside its header, after {} bytes", bytes.len())
}
