//! What several test files share.

use crate::{Dimensions, MediaError, MediaType, Verify, fixtures};

macro_rules! sample {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../testdata/", $name)))
    };
}

/// Small images of 45 × 30 pixels, written by libjpeg-turbo, libwebp, zlib and a GIF encoder (through Pillow).
pub(crate) const SAMPLES: [(&str, &[u8]); 17] = [
    sample!("baseline-420.jpg"),
    sample!("baseline-444-restarts.jpg"),
    sample!("baseline-cmyk.jpg"),
    sample!("orientation-6.jpg"),
    sample!("progressive-420.jpg"),
    sample!("progressive-grey.jpg"),
    sample!("lossless.webp"),
    sample!("lossy.webp"),
    sample!("lossy-alpha.webp"),
    sample!("three-frames.webp"),
    sample!("interlaced.gif"),
    sample!("three-frames.gif"),
    sample!("grey-16.png"),
    sample!("one-bit.png"),
    sample!("palette.png"),
    sample!("rgba.png"),
    sample!("three-frames.png"),
];

pub(crate) const SAMPLE_SIZE: Dimensions = Dimensions { width: 45, height: 30 };

pub(crate) fn sample(name: &str) -> Vec<u8> {
    SAMPLES.iter().find(|(known, _)| *known == name).expect("a sample of that name").1.to_vec()
}

pub(crate) fn type_of(name: &str) -> MediaType {
    let extension = name.rsplit('.').next();
    MediaType::ALL.into_iter().find(|media_type| extension == Some(media_type.extension())).expect("a known extension")
}

/// All samples, and a fixture of each type.
pub(crate) fn images() -> Vec<(String, MediaType, Vec<u8>)> {
    let samples = SAMPLES.iter().map(|(name, bytes)| ((*name).to_owned(), type_of(name), bytes.to_vec()));
    let made = MediaType::ALL
        .into_iter()
        .map(|media_type| (format!("a made {media_type}"), media_type, fixtures::of(media_type)));
    samples.chain(made).collect()
}

/// The levels above `Magic` that this build has.
pub(crate) const DEEP: &[Verify] = &[
    Verify::Structure,
    #[cfg(feature = "decode")]
    Verify::Decode,
];

pub(crate) fn undecodable(error: &MediaError) -> &str {
    match error {
        MediaError::Undecodable { reason, .. } => reason,
        other => panic!("{other:?} is not Undecodable"),
    }
}

/// One PNG chunk with a right checksum.
pub(crate) fn png_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let checked = [&kind[..], data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &checked, &crc32fast::hash(&checked).to_be_bytes()].concat()
}

pub(crate) fn png_header(width: u32, height: u32, depth: u8, colour_type: u8) -> Vec<u8> {
    let data = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour_type, 0, 0, 0]].concat();
    png_chunk(b"IHDR", &data)
}

pub(crate) fn png_of(chunks: &[Vec<u8>]) -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n"[..], &chunks.concat()].concat()
}

/// One WebP chunk with its pad byte.
pub(crate) fn webp_chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    let pad: &[u8] = if data.len() % 2 == 1 { &[0] } else { &[] };
    [&kind[..], &(data.len() as u32).to_le_bytes(), data, pad].concat()
}

pub(crate) fn webp_of(chunks: &[Vec<u8>]) -> Vec<u8> {
    let chunks = chunks.concat();
    [&b"RIFF"[..], &(chunks.len() as u32 + 4).to_le_bytes(), b"WEBP", &chunks].concat()
}
