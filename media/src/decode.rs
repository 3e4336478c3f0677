//! Decoding every pixel of the first frame, under a pixel budget.

use crate::error::MediaError;
use crate::{Dimensions, MediaType, container};

pub(crate) fn decode(
    bytes: &[u8],
    media_type: MediaType,
    max_pixels: u64,
) -> Result<Dimensions, MediaError> {
    within(container::dimensions(bytes, media_type)?, max_pixels)?;
    container::structure(bytes, media_type)
}

fn within(size: Dimensions, limit: u64) -> Result<(), MediaError> {
    if size.pixels() > limit {
        return Err(MediaError::TooManyPixels {
            width: size.width,
            height: size.height,
            limit,
        });
    }
    Ok(())
}
