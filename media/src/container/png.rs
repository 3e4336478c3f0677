//! PNG: the magic, then chunks of length (4, big-endian), type (4), data, CRC-32 of type and data (4), up to `IEND`.

use super::{array, cut_in_header};
use crate::error::{Reason, fault};
use crate::{Dimensions, Motion};

const MAGIC_LEN: usize = 8;

/// The largest length and the largest side that the format allows.
const MAX_U31: u32 = i32::MAX as u32;

pub(super) fn dimensions(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let head: [u8; 8] = array(bytes, MAGIC_LEN).ok_or_else(|| cut_in_header(bytes))?;
    if head != *b"\0\0\0\x0dIHDR" {
        fault!("its first chunk is not a 13-byte IHDR");
    }
    let header: [u8; 13] = array(bytes, MAGIC_LEN + 8).ok_or_else(|| cut_in_header(bytes))?;
    sides(header)
}

pub(super) fn structure(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let size = dimensions(bytes)?;
    let colour_type = bytes.get(MAGIC_LEN + 8 + 9).copied();
    let mut walk = Walk { bytes, at: MAGIC_LEN, index: 0 };
    let mut palette = false;
    let mut pixels = Pixels::Ahead;
    loop {
        let chunk = walk.next()?;
        pixels = match (&chunk.kind, pixels) {
            (b"IHDR", _) if walk.index > 1 => fault!("chunk {} is a second IHDR", walk.index),
            (b"PLTE", _) if chunk.data.len() % 3 != 0 || !(3..=768).contains(&chunk.data.len()) => {
                fault!("its palette has {} bytes", chunk.data.len())
            }
            (b"IDAT", Pixels::Behind) => fault!("its pixel data is not in one run: chunk {} is apart", walk.index),
            (b"IDAT", _) => Pixels::Here,
            (b"IEND", Pixels::Ahead) => fault!("it has no pixel data (no IDAT chunk)"),
            (b"IEND", _) if !chunk.data.is_empty() => fault!("its IEND chunk is not empty"),
            (b"IEND", _) => break,
            (_, Pixels::Here) => Pixels::Behind,
            (_, before) => before,
        };
        palette |= chunk.kind == *b"PLTE";
        if pixels == Pixels::Here && colour_type == Some(INDEXED) && !palette {
            fault!("its pixels are palette indices, but it has no palette");
        }
        chunk.known_if_critical(walk.index)?;
    }
    Ok(size)
}

/// An animation announces itself before the pixels: `acTL` with the number of frames (4) and of plays (4). The default image
/// is its first frame only if an `fcTL` comes before the pixels too.
pub(super) fn motion(bytes: &[u8]) -> Motion {
    let mut walk = Walk { bytes, at: MAGIC_LEN, index: 0 };
    let (mut promised, mut default_is_a_frame) = (None, false);
    while let Ok(chunk) = walk.next() {
        match &chunk.kind {
            b"acTL" => promised = promised.or(array(chunk.data, 0).map(u32::from_be_bytes)),
            b"fcTL" => default_is_a_frame = true,
            b"IDAT" | b"IEND" => break,
            _ => {}
        }
    }
    match promised {
        None => Motion::Still,
        Some(0 | 1) if default_is_a_frame => Motion::Still,
        Some(frames) => {
            let hidden = u64::from(!default_is_a_frame);
            Motion::Animated { frames: Some(u64::from(frames) + hidden) }
        }
    }
}

/// Where the walk is, seen from the `IDAT` chunks, which have to be neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pixels {
    Ahead,
    Here,
    Behind,
}

/// Colour type of images whose pixels are palette indices.
const INDEXED: u8 = 3;

/// The 13 bytes of an `IHDR` chunk: sides, and whether the rest of it can be.
fn sides(header: [u8; 13]) -> Result<Dimensions, Reason> {
    let [w0, w1, w2, w3, h0, h1, h2, h3, depth, colour_type, compression, filter, interlace] = header;
    let width = u32::from_be_bytes([w0, w1, w2, w3]);
    let height = u32::from_be_bytes([h0, h1, h2, h3]);
    if width > MAX_U31 || height > MAX_U31 {
        fault!("its header says {width}x{height} pixels, and a side is at most {MAX_U31}");
    }
    let depth_fits = match colour_type {
        0 => matches!(depth, 1 | 2 | 4 | 8 | 16),
        INDEXED => matches!(depth, 1 | 2 | 4 | 8),
        2 | 4 | 6 => matches!(depth, 8 | 16),
        _ => false,
    };
    if !depth_fits {
        fault!("its header has colour type {colour_type} at depth {depth}, which does not exist");
    }
    if compression != 0 || filter != 0 || interlace > 1 {
        fault!("its header names methods {compression}, {filter}, {interlace}, which do not exist");
    }
    Ok(Dimensions { width, height })
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// How many chunks have been read; the chunk just read is this one, counted from 1.
    index: usize,
}

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
}

impl<'a> Walk<'a> {
    fn next(&mut self) -> Result<Chunk<'a>, Reason> {
        self.index += 1;
        let index = self.index;
        let cut = || format!("it ends inside chunk {index}, after {} bytes, before IEND", self.bytes.len());
        let length = u32::from_be_bytes(array(self.bytes, self.at).ok_or_else(cut)?);
        if length > MAX_U31 {
            fault!("chunk {index} claims {length} bytes, and a chunk has at most {MAX_U31}");
        }
        let checked_start = self.at + 4;
        let data_end = checked_start.saturating_add(4 + length as usize);
        let checked = self.bytes.get(checked_start..data_end).ok_or_else(cut)?;
        let crc = u32::from_be_bytes(array(self.bytes, data_end).ok_or_else(cut)?);
        let (kind, data) = checked.split_first_chunk::<4>().ok_or_else(cut)?;
        if !kind.iter().all(u8::is_ascii_alphabetic) {
            fault!("chunk {index} has no chunk type");
        }
        if crc32fast::hash(checked) != crc {
            fault!("the checksum of chunk {index} ({length} bytes) is wrong");
        }
        self.at = data_end + 4;
        Ok(Chunk { kind: *kind, data })
    }
}

impl Chunk<'_> {
    /// An upper-case first letter says "do not show the image unless you know this chunk".
    fn known_if_critical(&self, index: usize) -> Result<(), Reason> {
        let critical = self.kind[0].is_ascii_uppercase();
        if critical && !matches!(&self.kind, b"IHDR" | b"PLTE" | b"IDAT" | b"IEND") {
            fault!("chunk {index} is of a critical type that PNG does not have");
        }
        Ok(())
    }
}
