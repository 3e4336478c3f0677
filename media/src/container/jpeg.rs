//! JPEG: `FF D8`, then segments (marker, length, data) up to the first scan, entropy-coded data, more of both, `FF D9`.

use super::array;
use crate::error::{Reason, fault};
use crate::{Dimensions, Motion};

const SOI: u8 = 0xd8;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;
const TEM: u8 = 0x01;
const RST0: u8 = 0xd0;
const RST7: u8 = 0xd7;

pub(super) fn dimensions(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let mut walk = Walk::new(bytes);
    loop {
        match walk.next()? {
            Step::Frame(_, data) => return frame_size(data),
            Step::Segment(..) => {}
            Step::Scan(..) => fault!("its first scan comes before its frame header"),
            Step::End => fault!("it ends without a frame header"),
        }
    }
}

pub(super) fn structure(bytes: &[u8]) -> Result<Dimensions, Reason> {
    let mut walk = Walk::new(bytes);
    let mut size = None;
    let mut scans = 0_usize;
    loop {
        match walk.next()? {
            Step::Frame(..) if size.is_some() => fault!("it has a second frame header before offset {}", walk.at),
            Step::Frame(_, data) => size = Some(frame_size(data)?),
            Step::Segment(..) => {}
            Step::Scan(..) if size.is_none() => fault!("its first scan comes before its frame header"),
            Step::Scan(..) => scans += 1,
            Step::End => break,
        }
    }
    match size {
        None => fault!("it ends without a frame header"),
        Some(_) if scans == 0 => fault!("it ends without a scan"),
        Some(size) => Ok(size),
    }
}

/// Counts the images that follow each other. Anything may stand between them: cameras pad, and phones append other data.
pub(super) fn motion(bytes: &[u8]) -> Motion {
    // Each false start may cost a walk to the end, so only so many are followed up.
    const MAX_TRIES: usize = 32;

    let Ok(mut end) = image_end(bytes) else {
        return Motion::Still;
    };
    let (mut images, mut tries) = (1, 0);
    while tries < MAX_TRIES {
        let rest = &bytes[end..];
        let Some(start) = rest.windows(3).position(|head| head == [0xff, SOI, 0xff]) else {
            break;
        };
        tries += 1;
        match image_end(&rest[start..]) {
            Ok(len) => {
                images += 1;
                end += start + len;
            }
            Err(_) => end += start + 1,
        }
    }
    let counted = tries < MAX_TRIES;
    if images == 1 { Motion::Still } else { Motion::Animated { frames: counted.then_some(images) } }
}

/// How many bytes the image at the beginning takes, if it is one with a frame and a scan.
fn image_end(bytes: &[u8]) -> Result<usize, Reason> {
    let mut walk = Walk::new(bytes);
    let (mut frame, mut scan) = (false, false);
    loop {
        match walk.next()? {
            Step::Frame(..) => frame = true,
            Step::Segment(..) => {}
            Step::Scan(..) => scan = true,
            Step::End if frame && scan => return Ok(walk.at),
            Step::End => fault!("it ends without a picture"),
        }
    }
}

/// What stands next in a JPEG.
#[cfg_attr(not(feature = "decode"), expect(dead_code, reason = "only decoding looks into segments and scans"))]
pub(crate) enum Step<'a> {
    /// A frame header: its marker code, `C0` to `CF`, and its data.
    Frame(u8, &'a [u8]),
    /// Any other segment: its marker code and its data.
    Segment(u8, &'a [u8]),
    /// A scan: its header's data, and the offset at which its entropy-coded data begins.
    Scan(&'a [u8], usize),
    /// The end marker.
    End,
}

/// Goes through a JPEG from the marker after `SOI` to `EOI`.
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// `SOF0` to `SOF15`; the three numbers left out in that range are `DHT`, `JPG` and `DAC`.
fn is_frame(code: u8) -> bool {
    matches!(code, 0xc0..=0xcf) && !matches!(code, 0xc4 | 0xc8 | 0xcc)
}

/// A frame header: sample precision (1), height (2), width (2), number of components (1), three bytes for each.
fn frame_size(segment: &[u8]) -> Result<Dimensions, Reason> {
    let Some(&[_, h0, h1, w0, w1, components]) = segment.first_chunk() else {
        fault!("its frame header has {} bytes", segment.len());
    };
    if components == 0 || segment.len() != 6 + 3 * usize::from(components) {
        fault!("its frame header has {} bytes for {components} components", segment.len());
    }
    Ok(Dimensions { width: u32::from(u16::from_be_bytes([w0, w1])), height: u32::from(u16::from_be_bytes([h0, h1])) })
}

impl<'a> Walk<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Walk { bytes, at: 2 }
    }

    pub(crate) fn next(&mut self) -> Result<Step<'a>, Reason> {
        loop {
            return Ok(match self.marker()? {
                EOI => Step::End,
                TEM | RST0..=RST7 => continue,
                SOS => {
                    let header = self.segment(SOS)?;
                    let start = self.at;
                    self.entropy()?;
                    Step::Scan(header, start)
                }
                code if is_frame(code) => Step::Frame(code, self.segment(code)?),
                code => Step::Segment(code, self.segment(code)?),
            });
        }
    }

    /// The code after `FF`. Any number of further `FF` may fill the space between the two.
    fn marker(&mut self) -> Result<u8, Reason> {
        match self.bytes.get(self.at) {
            Some(0xff) => {}
            Some(_) => fault!("no marker at offset {}, where one has to be", self.at),
            None => return Err(self.cut()),
        }
        let rest = &self.bytes[self.at..];
        let fill = rest.iter().position(|&byte| byte != 0xff).ok_or_else(|| self.cut())?;
        let code = rest[fill];
        self.at += fill + 1;
        match code {
            0 => fault!("no marker at offset {}, where one has to be", self.at - 2),
            SOI => fault!("a second image begins inside it, at offset {}", self.at - 2),
            code => Ok(code),
        }
    }

    /// The data of the segment whose marker was just read.
    fn segment(&mut self, code: u8) -> Result<&'a [u8], Reason> {
        let length = u16::from_be_bytes(array(self.bytes, self.at).ok_or_else(|| self.cut())?);
        if length < 2 {
            fault!("the segment of marker {code} at offset {} claims {length} bytes", self.at);
        }
        let end = self.at + usize::from(length);
        let data = self.bytes.get(self.at + 2..end).ok_or_else(|| self.cut())?;
        self.at = end;
        Ok(data)
    }

    /// Entropy-coded data up to the next marker. `FF 00` is a stuffed data byte and `FF D0` to `FF D7` are restarts:
    /// neither ends it.
    fn entropy(&mut self) -> Result<(), Reason> {
        let start = self.at;
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            let marker = rest.iter().position(|&byte| byte == 0xff).ok_or_else(|| self.cut())?;
            self.at += marker;
            match self.bytes.get(self.at + 1) {
                Some(0 | RST0..=RST7) => self.at += 2,
                // A fill byte: what decides is the byte after the last of them.
                Some(0xff) => self.at += 1,
                Some(_) if self.at == start => fault!("a scan at offset {start} has no data"),
                Some(_) => return Ok(()),
                None => return Err(self.cut()),
            }
        }
    }

    fn cut(&self) -> Reason {
        format!("it ends after {} bytes, before its end marker", self.bytes.len())
    }
}
