//! WebP: `RIFF`, size (4, little-endian), `WEBP`, then chunks of type (4), size (4), data, a pad byte after odd data.
//!
//! The size counts what follows it, so the file is known to end 8 bytes after that.

use super::{array, cut_in_header};
use crate::error::{Reason, fault};
use crate::{Dimensions, Motion};

const RIFF_LEN: usize = 12;
const CHUNK_HEAD_LEN: usize = 8;

/// Bit of a `VP8X` chunk's flags: the image is animated.
const ANIMATED: u8 = 0x02;

pub(super) fn dimensions(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let kind: [u8; 4] = array(bytes, RIFF_LEN).ok_or_else(|| cut_in_header(bytes))?;
    let data = bytes.get(RIFF_LEN + CHUNK_HEAD_LEN..).ok_or_else(|| cut_in_header(bytes))?;
    let size = match &kind {
        b"VP8X" => canvas(data),
        _ => bitstream(&kind, data)?,
    };
    size.ok_or_else(|| cut_in_header(bytes))
}

pub(super) fn structure(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let size = dimensions(bytes)?;
    let whole = extent(bytes)?;
    let mut chunks = Chunks { bytes: whole, at: RIFF_LEN };
    let Some(first) = chunks.next()? else {
        fault!("it has no chunk");
    };
    if first.kind == *b"VP8X" {
        extended(first, chunks, size)?;
    } else {
        first.image(size)?;
        while chunks.next()?.is_some() {}
    }
    Ok(size)
}

pub(super) fn motion(bytes: &[u8]) -> Motion {
    let Ok(whole) = extent(bytes) else {
        return Motion::Still;
    };
    let mut chunks = Chunks { bytes: whole, at: RIFF_LEN };
    let (mut animated, mut frames) = (false, 0);
    while let Ok(Some(chunk)) = chunks.next() {
        match &chunk.kind {
            b"VP8X" => animated |= chunk.data.first().is_some_and(|flags| flags & ANIMATED != 0),
            b"ANIM" => animated = true,
            b"ANMF" => frames += 1,
            _ => {}
        }
    }
    if !animated {
        return Motion::Still;
    }
    Motion::Animated { frames: (frames > 0).then_some(frames) }
}

/// The bytes up to the end that the RIFF header claims.
pub(crate) fn extent(bytes: &[u8]) -> Result<&[u8], Reason> {
    let claimed = u32::from_le_bytes(array(bytes, 4).ok_or_else(|| cut_in_header(bytes))?);
    match bytes.get(..8_usize.saturating_add(claimed as usize)) {
        Some(whole) => Ok(whole),
        None => fault!("its RIFF header claims {claimed} bytes, and {} are there", bytes.len().saturating_sub(8)),
    }
}

/// What follows a `VP8X` chunk: one image as large as the canvas, or frames that lie within it.
fn extended(head: Chunk<'_>, mut chunks: Chunks<'_>, canvas: Dimensions) -> Result<(), Reason> {
    let animated = head.data.first().is_some_and(|flags| flags & ANIMATED != 0);
    let mut images = 0_usize;
    while let Some(chunk) = chunks.next()? {
        match &chunk.kind {
            b"ANMF" if animated => {
                frame(chunk, canvas)?;
                images += 1;
            }
            b"VP8 " | b"VP8L" if !animated => {
                chunk.image(canvas)?;
                images += 1;
            }
            _ => {}
        }
    }
    if images == 0 {
        fault!("it has no image chunk");
    }
    Ok(())
}

/// An animation frame: left (3, halved), top (3, halved), width and height less one (3 each), duration (3), flags (1),
/// chunks.
fn frame(chunk: Chunk<'_>, canvas: Dimensions) -> Result<(), Reason> {
    let Some((head, chunks)) = chunk.data.split_first_chunk::<16>() else {
        fault!("a frame has {} bytes", chunk.data.len());
    };
    let [l0, l1, l2, t0, t1, t2, w0, w1, w2, h0, h1, h2, ..] = *head;
    let size = Dimensions { width: u24([w0, w1, w2]) + 1, height: u24([h0, h1, h2]) + 1 };
    let (left, top) = (2 * u24([l0, l1, l2]), 2 * u24([t0, t1, t2]));
    if left + size.width > canvas.width || top + size.height > canvas.height {
        fault!("a frame of {size} pixels at {left},{top} leaves the canvas of {canvas}");
    }
    let mut chunks = Chunks { bytes: chunks, at: 0 };
    // The image is the first chunk, or the second behind its alpha plane. Decoders look nowhere else.
    let first = chunks.next()?;
    let image = match first {
        Some(Chunk { kind: [b'A', b'L', b'P', b'H'], .. }) => chunks.next()?,
        first => first,
    };
    match image {
        Some(chunk) if matches!(&chunk.kind, b"VP8 " | b"VP8L") => chunk.image(size),
        _ => fault!("a frame has no image chunk where it has to be"),
    }
}

/// A `VP8X` chunk: flags (1), reserved (3), width and height less one (3 each).
fn canvas(data: &[u8]) -> Option<Dimensions> {
    let [_, _, _, _, w0, w1, w2, h0, h1, h2] = array(data, 0)?;
    Some(Dimensions { width: u24([w0, w1, w2]) + 1, height: u24([h0, h1, h2]) + 1 })
}

/// The dimensions in a `VP8 ` or `VP8L` chunk, or `None` where its data ends before them.
fn bitstream(kind: &[u8; 4], data: &[u8]) -> Result<Option<Dimensions>, Reason> {
    match kind {
        b"VP8 " => lossy(data),
        b"VP8L" => lossless(data),
        _ => fault!("its first chunk is none of VP8, VP8L, VP8X"),
    }
}

/// A frame tag (3, lowest bit zero in a key frame), a start code (3), width and height (2 each, 14 bits used).
fn lossy(data: &[u8]) -> Result<Option<Dimensions>, Reason> {
    let Some([tag, _, _, start @ .., w0, w1, h0, h1]) = array::<10>(data, 0) else {
        return Ok(None);
    };
    if tag & 1 != 0 || start != [0x9d, 0x01, 0x2a] {
        fault!("its image does not begin with a key frame");
    }
    let side = |bytes| u32::from(u16::from_le_bytes(bytes) & 0x3fff);
    Ok(Some(Dimensions { width: side([w0, w1]), height: side([h0, h1]) }))
}

/// A signature byte, then from the lowest bit up: width less one (14), height less one (14), alpha (1), version (3).
fn lossless(data: &[u8]) -> Result<Option<Dimensions>, Reason> {
    let Some([signature, bits @ ..]) = array::<5>(data, 0) else {
        return Ok(None);
    };
    let bits = u32::from_le_bytes(bits);
    if signature != 0x2f || bits >> 29 != 0 {
        fault!("its lossless image has no valid signature");
    }
    Ok(Some(Dimensions { width: (bits & 0x3fff) + 1, height: (bits >> 14 & 0x3fff) + 1 }))
}

fn u24([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}

struct Chunks<'a> {
    bytes: &'a [u8],
    at: usize,
}

struct Chunk<'a> {
    kind: [u8; 4],
    data: &'a [u8],
}

impl<'a> Chunks<'a> {
    /// The next chunk, or `None` at the end. The pad byte after the last may be missing where the size around the
    /// chunks does not count it: some writers leave it out, and nothing is lost.
    fn next(&mut self) -> Result<Option<Chunk<'a>>, Reason> {
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let head = array::<CHUNK_HEAD_LEN>(self.bytes, self.at);
        let Some([k0, k1, k2, k3, size @ ..]) = head else {
            fault!("{} stray bytes follow its last chunk", self.bytes.len() - self.at);
        };
        let size = u32::from_le_bytes(size) as usize;
        let start = self.at + CHUNK_HEAD_LEN;
        let Some(data) = self.bytes.get(start..start.saturating_add(size)) else {
            fault!("a chunk claims {size} bytes, and {} are there", self.bytes.len() - start);
        };
        self.at = start + size + size % 2;
        Ok(Some(Chunk { kind: [k0, k1, k2, k3], data }))
    }
}

impl Chunk<'_> {
    /// Checks that this is an image of the size promised around it. A larger one would slip past a pixel budget.
    fn image(&self, promised: Dimensions) -> Result<(), Reason> {
        match bitstream(&self.kind, self.data)? {
            None => fault!("an image chunk has {} bytes", self.data.len()),
            Some(found) if found != promised => {
                fault!("an image of {found} pixels stands where {promised} was promised")
            }
            Some(_) => Ok(()),
        }
    }
}
