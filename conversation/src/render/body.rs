//! The render pass over a stored conversation: from the log into a request body with one copy.
//!
//! A body is planned first, as a list of pieces: stretches of the log that are copied as they are, text of ours, and
//! images. Its length is then known, the buffer is allocated once, and the cores fill it side by side. Nothing is parsed
//! or serialised but our own lines.

use std::fs::File;
use std::io;
use std::ops::Range;

use attache_media::MediaType;
use base64_simd::STANDARD;
use bytes::Bytes;

use crate::log::Index;
use crate::render::fill;
use crate::render::resolve::Outcome;

/// What stands before and after the array of messages in a request body, as JSON text.
///
/// ```
/// use attache_conversation::Frame;
/// let frame = Frame { before: br#"{"model":"m","messages":"#, after: b"}" };
/// assert_eq!(Frame::default().before, b"");
/// # let _ = frame;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Frame<'a> {
    /// Stands before the `[`.
    pub before: &'a [u8],
    /// Stands after the `]`.
    pub after: &'a [u8],
}

/// Longest stretch of the log that one piece copies, so that the cores get equal shares.
const LONGEST_PIECE: u64 = 256 << 10;
/// Longest stretch of an image that one piece encodes; a multiple of three, so that only an image's end is padded.
const LONGEST_IMAGE_PIECE: usize = 192 << 10;

/// A planned request body.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(super) pieces: Vec<Piece>,
    /// All text of ours.
    pub(super) text: Vec<u8>,
    /// Where in the log the newline between two messages becomes a comma.
    pub(super) commas: Vec<u64>,
    pub(super) len: usize,
}

#[derive(Debug)]
pub(super) enum Piece {
    /// Bytes of the log from `offset` on, of which those at `commas` become commas.
    Log {
        offset: u64,
        len: usize,
        commas: Range<usize>,
    },
    Text(Range<usize>),
    Base64(Bytes),
}

impl Piece {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Log { len, .. } => *len,
            Self::Text(range) => range.len(),
            Self::Base64(bytes) => STANDARD.encoded_length(bytes.len()),
        }
    }
}

impl Body {
    /// Plans the body of all messages; `outcomes` are those of the index's images.
    pub(crate) fn plan(index: &Index, outcomes: Vec<Outcome>, frame: Frame<'_>) -> Self {
        let mut planner = Planner::default();
        planner.text(frame.before);
        planner.text(b"[");
        let mut images = index.images.iter().zip(outcomes).peekable();
        for (at, message) in index.messages.iter().enumerate() {
            planner.begin_message(at, message.offset);
            while let Some((image, outcome)) = images.next_if(|(image, _)| image.message == at) {
                planner.copy_to(image.offset);
                planner.block(outcome);
                planner.skip_to(image.offset + u64::from(image.len));
            }
            planner.copy_to(message.end());
        }
        planner.flush();
        planner.text(b"]");
        planner.text(frame.after);
        planner.body
    }

    /// Writes the body over `out`, whose capacity is used again.
    pub(crate) fn write(&self, log: &File, out: &mut Vec<u8>) -> io::Result<()> {
        fill::write(self, log, out)
    }
}

/// Builds a [`Body`] piece by piece.
#[derive(Default)]
struct Planner {
    body: Body,
    /// The stretch of the log that is being gathered.
    from: u64,
    to: u64,
    /// The first comma of that stretch.
    first_comma: usize,
}

impl Planner {
    /// Begins message number `at`. Lines that follow each other in the log are copied in one piece, and the newline
    /// between them becomes the array's comma.
    fn begin_message(&mut self, at: usize, offset: u64) {
        if at > 0 && self.to + 1 == offset {
            self.body.commas.push(self.to);
            return self.copy_to(offset);
        }
        self.flush();
        if at > 0 {
            self.text(b",");
        }
        (self.from, self.to) = (offset, offset);
    }

    fn copy_to(&mut self, offset: u64) {
        self.to = offset;
    }

    fn skip_to(&mut self, offset: u64) {
        (self.from, self.to) = (offset, offset);
    }

    fn block(&mut self, outcome: Outcome) {
        self.flush();
        match outcome {
            Outcome::Shown { media_type, bytes } => {
                self.text(image_opening(media_type));
                for begin in (0..bytes.len()).step_by(LONGEST_IMAGE_PIECE) {
                    let end = bytes.len().min(begin + LONGEST_IMAGE_PIECE);
                    self.push(Piece::Base64(bytes.slice(begin..end)));
                }
                self.text(b"\"}}");
            }
            Outcome::Aged(line) | Outcome::Withheld(line) | Outcome::Unavailable(line) => {
                self.text(b"{\"type\":\"text\",\"text\":");
                let start = self.body.text.len();
                serde_json::to_writer(&mut self.body.text, &line).expect("a string is always JSON");
                self.push(Piece::Text(start..self.body.text.len()));
                self.text(b"}");
            }
        }
    }

    /// Ends the stretch of the log gathered so far.
    fn flush(&mut self) {
        while self.from < self.to {
            let end = self.to.min(self.from + LONGEST_PIECE);
            let commas = &self.body.commas[self.first_comma..];
            let last_comma = self.first_comma + commas.partition_point(|comma| *comma < end);
            let len = usize::try_from(end - self.from).expect("a piece is small");
            self.push(Piece::Log { offset: self.from, len, commas: self.first_comma..last_comma });
            self.first_comma = last_comma;
            self.from = end;
        }
    }

    fn text(&mut self, text: &[u8]) {
        let start = self.body.text.len();
        self.body.text.extend_from_slice(text);
        self.push(Piece::Text(start..start + text.len()));
    }

    fn push(&mut self, piece: Piece) {
        self.body.len += piece.len();
        // Text that follows text is one piece.
        if let (Some(Piece::Text(last)), Piece::Text(next)) = (self.body.pieces.last_mut(), &piece)
            && last.end == next.start
        {
            last.end = next.end;
            return;
        }
        self.body.pieces.push(piece);
    }
}

fn image_opening(media_type: MediaType) -> &'static [u8] {
    match media_type {
        MediaType::Png => br#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":""#,
        MediaType::Jpeg => br#"{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":""#,
        MediaType::Gif => br#"{"type":"image","source":{"type":"base64","media_type":"image/gif","data":""#,
        MediaType::Webp => br#"{"type":"image","source":{"type":"base64","media_type":"image/webp","data":""#,
    }
}
