//! Writes a planned body into a buffer: the cores fill it side by side, each its share from front to back.
//!
//! The log is read into a small window first, which stays in a core's cache: the system copies into it about three times
//! faster than into a buffer of megabytes, and a buffer that is appended to need not be zeroed before.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use base64_simd::{Out, STANDARD};
use bytes::{BufMut, BytesMut};

use super::body::{Body, Piece};
use crate::cores::{Queue, on_cores};

/// How much of the log is read at a time.
const WINDOW: usize = 128 << 10;
/// How much of an image is encoded at a time where its place has to be zeroed first: so little that the zeros are still
/// in the nearest cache. A multiple of three, so that only an image's end is padded.
const PART: usize = 3 << 10;
/// How much of a body a core fills before it takes the next share.
const SHARE: usize = 1 << 20;
/// How much of a body is worth another thread: until that runs on a core that was asleep, this one has filled as much.
const WORTH_A_THREAD: usize = 16 << 20;
/// Copying is bound by memory, which two to four cores use up.
const MAX_FILLERS: usize = 4;
/// A fresh buffer can take a body that is longer by one part in this many, so that the next requests of a growing
/// conversation fit too. Room that is not written to takes no memory.
const ROOM_TO_GROW: usize = 8;

/// A run of pieces, and the bytes they make.
struct Share<'a> {
    pieces: &'a [Piece],
    len: usize,
}

/// Writes the body over `out`, whose capacity is used again.
pub(super) fn write(body: &Body, log: &File, out: &mut Vec<u8>) -> io::Result<()> {
    let fillers = (body.len / WORTH_A_THREAD).clamp(1, MAX_FILLERS);
    if fillers == 1 { write_alone(body, log, out) } else { write_together(body, log, out, fillers) }
}

/// A body that is not worth another thread is appended to the buffer, which need not be zeroed for that.
fn write_alone(body: &Body, log: &File, out: &mut Vec<u8>) -> io::Result<()> {
    out.clear();
    if out.capacity() < body.len {
        *out = Vec::with_capacity(body.len + body.len / ROOM_TO_GROW);
    }
    fill(body, &body.pieces, &mut Window::new(log), out)
}

fn write_together(body: &Body, log: &File, out: &mut Vec<u8>, fillers: usize) -> io::Result<()> {
    let shares = shares(body);
    if out.capacity() < body.len {
        *out = Vec::new();
        *out = write_fresh(body, &shares, log, fillers)?;
        return Ok(());
    }
    out.resize(body.len, 0);
    let mut rest = out.as_mut_slice();
    let mut places = Vec::with_capacity(shares.len());
    for share in &shares {
        let (place, after) = rest.split_at_mut(share.len);
        places.push(place);
        rest = after;
    }
    fill_all(body, &shares, &mut places, log, fillers)
}

/// Writes the body into a new buffer, which is split among the shares and joined again without a copy.
fn write_fresh(body: &Body, shares: &[Share<'_>], log: &File, fillers: usize) -> io::Result<Vec<u8>> {
    let mut rest = BytesMut::with_capacity(body.len + body.len / ROOM_TO_GROW);
    let mut places = Vec::with_capacity(shares.len());
    for share in shares {
        let after = rest.split_off(share.len);
        places.push(std::mem::replace(&mut rest, after));
    }
    fill_all(body, shares, &mut places, log, fillers)?;
    let mut whole = BytesMut::new();
    for place in places {
        whole.unsplit(place);
    }
    whole.unsplit(rest);
    Ok(whole.into())
}

fn shares(body: &Body) -> Vec<Share<'_>> {
    let mut shares = Vec::with_capacity(body.len / SHARE + 1);
    let (mut from, mut len) = (0, 0);
    for (at, piece) in body.pieces.iter().enumerate() {
        len += piece.len();
        if len >= SHARE || at + 1 == body.pieces.len() {
            shares.push(Share { pieces: &body.pieces[from..=at], len });
            (from, len) = (at + 1, 0);
        }
    }
    shares
}

/// Fills each place with its share, on so many threads.
fn fill_all<P: Place + Send>(
    body: &Body,
    shares: &[Share<'_>],
    places: &mut [P],
    log: &File,
    fillers: usize,
) -> io::Result<()> {
    let queue = Queue::new(shares.iter().zip(places));
    on_cores(fillers, &|| {
        let mut window = Window::new(log);
        while let Some((share, place)) = queue.take() {
            fill(body, share.pieces, &mut window, place)?;
        }
        Ok(())
    })
}

fn fill(body: &Body, pieces: &[Piece], log: &mut Window<'_>, out: &mut impl Place) -> io::Result<()> {
    for piece in pieces {
        match piece {
            Piece::Log { offset, len, commas } => log.copy(*offset, *len, &body.commas[commas.clone()], out)?,
            Piece::Text(range) => out.copy(&body.text[range.clone()]),
            Piece::Base64(bytes) => out.encode(bytes),
        }
    }
    Ok(())
}

/// Where a share goes.
trait Place {
    fn copy(&mut self, bytes: &[u8]);
    /// Writes the bytes as base64.
    fn encode(&mut self, bytes: &[u8]);
}

/// A whole buffer, which is appended to.
impl Place for Vec<u8> {
    fn copy(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn encode(&mut self, bytes: &[u8]) {
        STANDARD.encode_append(bytes, self);
    }
}

/// A part of a used buffer; what is written is cut off from the front.
impl Place for &mut [u8] {
    fn copy(&mut self, bytes: &[u8]) {
        self.put_slice(bytes);
    }

    fn encode(&mut self, bytes: &[u8]) {
        let (here, after) = std::mem::take(self).split_at_mut(STANDARD.encoded_length(bytes.len()));
        let _ = STANDARD.encode(bytes, Out::from_slice(here));
        *self = after;
    }
}

/// A part of a fresh buffer, which is appended to.
impl Place for BytesMut {
    fn copy(&mut self, bytes: &[u8]) {
        self.put_slice(bytes);
    }

    fn encode(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(PART) {
            let begin = self.len();
            self.resize(begin + STANDARD.encoded_length(part.len()), 0);
            let _ = STANDARD.encode(part, Out::from_slice(&mut self[begin..]));
        }
    }
}

/// A stretch of the log in memory.
struct Window<'a> {
    log: &'a File,
    /// Where in the log the stretch begins.
    from: u64,
    filled: usize,
    bytes: Vec<u8>,
}

impl<'a> Window<'a> {
    fn new(log: &'a File) -> Self {
        Self { log, from: 0, filled: 0, bytes: Vec::new() }
    }

    /// Copies `len` bytes of the log from `offset` on, of which those at `commas` become commas.
    fn copy(&mut self, mut offset: u64, len: usize, mut commas: &[u64], out: &mut impl Place) -> io::Result<()> {
        let end = offset + len as u64;
        while offset < end {
            let (from, part) = (offset, self.part(offset, end)?);
            offset += part.len() as u64;
            let here = commas.partition_point(|comma| *comma < offset);
            for comma in &commas[..here] {
                part[usize::try_from(comma - from).expect("a part is small")] = b',';
            }
            commas = &commas[here..];
            out.copy(part);
        }
        Ok(())
    }

    /// As much of `offset..end` as is at hand, at least a byte.
    fn part(&mut self, offset: u64, end: u64) -> io::Result<&mut [u8]> {
        if offset < self.from || offset >= self.from + self.filled as u64 {
            self.fill(offset)?;
        }
        let begin = usize::try_from(offset - self.from).expect("the offset lies in the window");
        let end = usize::try_from(end - self.from).map_or(self.filled, |end| end.min(self.filled));
        Ok(&mut self.bytes[begin..end])
    }

    fn fill(&mut self, offset: u64) -> io::Result<()> {
        self.bytes.resize(WINDOW, 0);
        (self.from, self.filled) = (offset, 0);
        loop {
            match self.log.read_at(&mut self.bytes, offset) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    self.filled = read;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}
