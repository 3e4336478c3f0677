//! GIF: a 13-byte head, perhaps a colour table, then blocks up to the trailer `3B`. Data lies in sub-blocks, each a
//! length byte and as many bytes, up to a length of zero.

use super::{array, cut_in_header};
use crate::error::{Reason, fault};
use crate::{Dimensions, Motion};

const HEAD_LEN: usize = 13;
const EXTENSION: u8 = 0x21;
const IMAGE: u8 = 0x2c;
const TRAILER: u8 = 0x3b;

/// Codes in a GIF have at most 12 bits, and the first code is one bit longer than a pixel.
const MAX_PIXEL_BITS: u8 = 11;

pub(super) fn dimensions(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let [w0, w1, h0, h1, ..]: [u8; 7] = array(bytes, 6).ok_or_else(|| cut_in_header(bytes))?;
    Ok(sides([w0, w1], [h0, h1]))
}

pub(super) fn structure(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let size = dimensions(bytes)?;
    let mut walk = Walk { bytes, at: HEAD_LEN };
    walk.colour_table(bytes[10])?;
    let mut images = 0_usize;
    loop {
        match walk.byte()? {
            TRAILER if images == 0 => fault!("it has no image"),
            TRAILER => return Ok(size),
            EXTENSION => {
                walk.byte()?;
                walk.sub_blocks()?;
            }
            IMAGE => {
                walk.image()?;
                images += 1;
            }
            kind => fault!("an unknown block ({kind}) at offset {}", walk.at - 1),
        }
    }
}

pub(super) fn motion(bytes: &[u8]) -> Motion {
    match images(bytes) {
        Ok(frames @ 2..) => Motion::Animated { frames: Some(frames) },
        _ => Motion::Still,
    }
}

fn images(bytes: &[u8]) -> Result<u64, Reason> {
    let head: [u8; HEAD_LEN] = array(bytes, 0).ok_or_else(|| cut_in_header(bytes))?;
    let mut walk = Walk { bytes, at: HEAD_LEN };
    walk.colour_table(head[10])?;
    let mut images = 0;
    loop {
        match walk.byte()? {
            IMAGE => {
                walk.image()?;
                images += 1;
            }
            EXTENSION => {
                walk.byte()?;
                walk.sub_blocks()?;
            }
            _ => return Ok(images),
        }
    }
}

fn sides(width: [u8; 2], height: [u8; 2]) -> Dimensions {
    Dimensions { width: u16::from_le_bytes(width).into(), height: u16::from_le_bytes(height).into() }
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Walk<'_> {
    /// Position (4), width (2), height (2), flags (1), perhaps a colour table, bits of a pixel (1), sub-blocks.
    fn image(&mut self) -> Result<(), Reason> {
        let at = self.at;
        let head: [u8; 9] = array(self.bytes, at).ok_or_else(|| self.cut())?;
        let [_, _, _, _, w0, w1, h0, h1, flags] = head;
        let size = sides([w0, w1], [h0, h1]);
        if size.width == 0 || size.height == 0 {
            fault!("the image at offset {at} says {size} pixels");
        }
        self.at += head.len();
        self.colour_table(flags)?;
        let pixel_bits = self.byte()?;
        if !(1..=MAX_PIXEL_BITS).contains(&pixel_bits) {
            fault!("the image at offset {at} says {pixel_bits} bits a pixel");
        }
        if self.sub_blocks()? == 0 {
            fault!("the image at offset {at} has no data");
        }
        Ok(())
    }

    /// Flags hold the table's presence (bit 7) and its size as a power of two (bits 0 to 2).
    fn colour_table(&mut self, flags: u8) -> Result<(), Reason> {
        let length = if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) };
        self.skip(length)
    }

    /// Returns how many bytes of data there were.
    fn sub_blocks(&mut self) -> Result<usize, Reason> {
        let mut data = 0;
        loop {
            match usize::from(self.byte()?) {
                0 => return Ok(data),
                length => {
                    self.skip(length)?;
                    data += length;
                }
            }
        }
    }

    fn byte(&mut self) -> Result<u8, Reason> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.cut())?;
        self.at += 1;
        Ok(byte)
    }

    fn skip(&mut self, length: usize) -> Result<(), Reason> {
        self.at += length;
        if self.at > self.bytes.len() { Err(self.cut()) } else { Ok(()) }
    }

    fn cut(&self) -> Reason {
        format!("it ends after {} bytes, before its trailer", self.bytes.len())
    }
}
