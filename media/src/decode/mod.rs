//! Decoding every pixel of the first frame, under a pixel budget.
//!
//! The order is what makes it safe: the budget is checked against the header, the container is walked, and only then a
//! decoder crate sees the bytes. What each of them lets pass when left alone, and what is done about it:
//!
//! - `png` checks no Adler-32 unless told to, and passes over a wrong CRC in chunks it can do without. It is told to check
//!   the first; the walk has checked the CRC of every chunk. Missing pixel data is an error. An Adler-32 that is not there
//!   at all, after the last pixel, is none: libpng lets that pass too.
//! - `zune-jpeg`, even when strict, fills up with zeros where a scan meets a marker too early, and knows no checksum,
//!   because JPEG has none. [`scan`] therefore reads all entropy-coded data first and counts blocks. Frames of a motion JPEG
//!   get the tables they leave out first ([`tables`]).
//! - `image-webp` reports data that ends early. It may read a few bytes past the RIFF size, so it gets no more than that.
//!   WebP has no checksum either.
//! - `gif` says so when an image's data ends early. The end code after the last pixel may be missing, since common
//!   encoders leave it out. GIF has no checksum.
//!
//! So a changed byte is always found in a PNG, and in the others when it breaks the coding.

mod block;
mod huffman;
mod scan;
mod tables;

use std::io::Cursor;
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};

use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::options::DecoderOptions;

use crate::error::MediaError;
use crate::{Dimensions, MediaType, container};

pub(crate) fn decode(bytes: &[u8], media_type: MediaType, max_pixels: u64) -> Result<Dimensions, MediaError> {
    within(container::dimensions(bytes, media_type)?, max_pixels)?;
    let size = container::structure(bytes, media_type)?;
    let pixels = || match media_type {
        MediaType::Png => png(bytes, size),
        MediaType::Jpeg => jpeg(bytes),
        MediaType::Gif => gif(bytes, max_pixels),
        MediaType::Webp => webp(bytes),
    };
    // The decoder crates promise no absence of panics: `zune-jpeg` and `image-webp` hold unwraps and assertions that
    // depend on the input, and have been made to panic by fuzzers before. Nothing that a panic could leave half-done
    // outlives this call.
    let outcome = catch_unwind(AssertUnwindSafe(pixels)).unwrap_or_else(|_| fault("the decoder broke down over it"));
    match outcome {
        Ok(()) => Ok(size),
        Err(Refusal::Reason(reason)) => Err(MediaError::Undecodable { media_type, reason }),
        Err(Refusal::TooManyPixels(error)) => Err(error),
    }
}

fn within(size: Dimensions, limit: u64) -> Result<(), MediaError> {
    if size.pixels() > limit {
        return Err(MediaError::TooManyPixels { width: size.width, height: size.height, limit });
    }
    Ok(())
}

enum Refusal {
    Reason(String),
    TooManyPixels(MediaError),
}

/// The decoders' own texts are not passed on: some quote the file.
fn fault(reason: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal::Reason(reason.into()))
}

/// Room for the pixels. Where a budget allows more than the machine has, that is an answer and not an abort.
fn zeros(len: usize) -> Result<Vec<u8>, Refusal> {
    let mut zeros = Vec::new();
    match zeros.try_reserve_exact(len) {
        Ok(()) => zeros.resize(len, 0),
        Err(_) => fault(format!("there is no memory for its {len} bytes of pixels"))?,
    }
    Ok(zeros)
}

/// Row by row, so that memory goes with the width alone.
fn png(bytes: &[u8], size: Dimensions) -> Result<(), Refusal> {
    let mut options = png::DecodeOptions::default();
    options.set_ignore_adler32(false);
    // The walk through the container has just done that, and for every chunk.
    options.set_ignore_crc(true);
    options.set_ignore_text_chunk(true);
    options.set_ignore_iccp_chunk(true);
    let mut decoder = png::Decoder::new_with_options(Cursor::new(bytes), options);
    // Room for a row of the widest pixels (8 bytes) and for chunks, which are there and not merely claimed.
    let row = (size.width as usize).saturating_mul(8);
    decoder
        .set_limits(png::Limits { bytes: row.saturating_mul(2).saturating_add(bytes.len()).saturating_add(1 << 20) });
    let Ok(mut reader) = decoder.read_info() else {
        return fault("the decoder refuses its header");
    };
    let mut rows = 0_u64;
    loop {
        match reader.next_row() {
            Ok(Some(_)) => rows += 1,
            Ok(None) => return Ok(()),
            Err(_) => {
                return fault(format!("its pixel data is damaged or too short: decoding stopped after {rows} rows"));
            }
        }
    }
}

/// At most about 12 bytes a pixel: three for the result, and a progressive image's coefficients.
fn jpeg(bytes: &[u8]) -> Result<(), Refusal> {
    let bytes = &*tables::completed(bytes);
    scan::check(bytes).map_err(Refusal::Reason)?;
    let options = DecoderOptions::default()
        .set_strict_mode(true)
        .set_max_width(usize::from(u16::MAX))
        .set_max_height(usize::from(u16::MAX))
        .jpeg_set_max_scans(scan::MAX_SCANS);
    let mut decoder = zune_jpeg::JpegDecoder::new_with_options(ZCursor::new(bytes), options);
    if decoder.decode_headers().is_err() {
        return fault("the decoder refuses its header");
    }
    let Some(len) = decoder.output_buffer_size() else {
        return fault("the decoder refuses its header");
    };
    match decoder.decode_into(&mut zeros(len)?) {
        Ok(()) => Ok(()),
        Err(_) => fault("its pixel data is damaged"),
    }
}

/// One byte a pixel. The frame may be larger than the logical screen in the header, so it has to keep to the budget too.
///
/// The frame is filled in one go: asked for less than it has at hand, a row for example, the decoder takes sound data
/// for data that leads nowhere and passes over the rest of it (`gif` 0.14.2 with `weezl` 0.1.12).
fn gif(bytes: &[u8], max_pixels: u64) -> Result<(), Refusal> {
    let mut options = gif::DecodeOptions::new();
    // The walk has judged the blocks; extensions of unknown kinds are no reason against an image.
    options.allow_unknown_blocks(true);
    // Metadata that is there, and not merely claimed, is all that this limit sees: pixels are ours.
    options.set_memory_limit(gif::MemoryLimit::Bytes(NonZeroU64::new(bytes.len() as u64).unwrap_or(NonZeroU64::MIN)));
    let Ok(mut decoder) = options.read_info(bytes) else {
        return fault("the decoder refuses its header");
    };
    let Ok(Some(frame)) = decoder.next_frame_info() else {
        return fault("the decoder finds no image in it");
    };
    let size = Dimensions { width: frame.width.into(), height: frame.height.into() };
    within(size, max_pixels).map_err(Refusal::TooManyPixels)?;
    let mut pixels = zeros(size.width as usize * size.height as usize)?;
    match decoder.fill_buffer(&mut pixels) {
        Ok(true) => Ok(()),
        _ => fault(format!("its pixel data is damaged or too short for {size} pixels")),
    }
}

/// At most about 16 bytes a pixel: canvas, frame and result, each of four, and the decoder's planes.
fn webp(bytes: &[u8]) -> Result<(), Refusal> {
    let whole = container::webp_extent(bytes).map_err(Refusal::Reason)?;
    let Ok(mut decoder) = image_webp::WebPDecoder::new(Cursor::new(whole)) else {
        return fault("the decoder refuses its header");
    };
    // Chunks of metadata are no larger than the file.
    decoder.set_memory_limit(bytes.len());
    let Some(len) = decoder.output_buffer_size() else {
        return fault("the decoder refuses its header");
    };
    match decoder.read_image(&mut zeros(len)?) {
        Ok(()) => Ok(()),
        Err(_) => fault("its pixel data is damaged or too short"),
    }
}

#[cfg(test)]
mod tests;
