use std::fmt;

use crate::MediaType;
use crate::container;
use crate::error::MediaError;

/// Width and height in pixels, both above zero when [`dimensions`] made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimensions {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl Dimensions {
    /// How many pixels that is. Two 32-bit sides always fit.
    pub const fn pixels(self) -> u64 {
        self.width as u64 * self.height as u64
    }
}

/// Shown as `1280x800`.
impl fmt::Display for Dimensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// Reads an image's dimensions from its header, without decoding and without allocating.
///
/// These are the stored dimensions: a JPEG's orientation tag is not applied. A GIF's are those of its logical screen, an
/// animated WebP's those of its canvas. Only the header has to be there and sound; the rest may be missing.
///
/// # Errors
/// [`MediaError::Undecodable`] where the header is not one of `media_type`, is cut off, or has a zero side.
///
/// ```
/// use attache_media::{MediaType, dimensions};
///
/// let header = b"GIF89a\x40\x01\xc8\x00\x00\x00\x00";
/// let size = dimensions(header, MediaType::Gif)?;
/// assert_eq!((size.width, size.height, size.pixels()), (320, 200, 64_000));
/// # Ok::<(), attache_media::MediaError>(())
/// ```
pub fn dimensions(bytes: &[u8], media_type: MediaType) -> Result<Dimensions, MediaError> {
    container::dimensions(bytes, media_type)
}

#[cfg(test)]
#[path = "dimensions_tests.rs"]
mod tests;
