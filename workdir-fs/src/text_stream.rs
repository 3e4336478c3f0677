//! Text that is decoded as it comes.

use std::{fmt, mem};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;

use crate::blocking::blocking_all;
use crate::cancel::Cancel;
use crate::file_error::FileError;
use crate::target::Target;
use crate::text::{self, BINARY_PROBE, BOM};

/// The text of a file in pieces, pulled one at a time: bounded memory, whatever the size of the file.
///
/// Whatever the size of the pieces, together they are the whole text, and what is not text fails all the same.
pub struct TextStream {
    target: Target,
    bytes: BoxStream<'static, Result<Bytes, FileError>>,
    /// What came and was not given out: the start, up to 8192 bytes, until it is known not to be binary; later a
    /// character's first bytes.
    pending: Vec<u8>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing was given out.
    Start,
    Middle,
    /// All was given out, or an error.
    Done,
}

impl TextStream {
    /// Decodes the content of `target`, given as the pieces in which a provider receives it.
    ///
    /// Memory is that of the largest piece, and 8192 bytes.
    pub fn new(target: &Target, bytes: BoxStream<'static, Result<Bytes, FileError>>) -> Self {
        Self { target: target.clone(), bytes, pending: Vec::new(), state: State::Start }
    }

    /// The next piece, never an empty one; `None` at the end, and from then on.
    ///
    /// # Errors
    ///
    /// What the provider reports, `FS_NOT_TEXT` for bytes that are no text, also for a character cut by the end.
    /// Nothing follows an error.
    pub async fn next(&mut self) -> Result<Option<String>, FileError> {
        let piece = self.pull().await;
        if !matches!(piece, Ok(Some(_))) {
            self.state = State::Done;
            self.pending = Vec::new();
        }
        piece
    }

    /// Lets the whole text pass `each`, which gathers what it needs in `into`, on a thread that may block: for long texts several times faster than
    /// pulling the pieces one at a time.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next); `FS_ABORTED` once `cancel` is asked. What passed until then is lost with `each`.
    pub async fn fold<T: Send + 'static>(
        mut self,
        cancel: &Cancel,
        mut into: T,
        each: impl Fn(&mut T, &str) + Send + 'static,
    ) -> Result<T, FileError> {
        let cancel = cancel.clone();
        blocking_all(async move {
            while let Some(piece) = self.next().await? {
                each(&mut into, &piece);
                if cancel.is_cancelled() {
                    return Err(FileError::aborted(&self.target));
                }
            }
            Ok(into)
        })
        .await
    }

    async fn pull(&mut self) -> Result<Option<String>, FileError> {
        while self.state != State::Done {
            let ended = match self.bytes.next().await {
                Some(bytes) => {
                    self.append(bytes?);
                    false
                }
                None => true,
            };
            if self.state == State::Start {
                if !ended && self.pending.len() < BINARY_PROBE {
                    continue;
                }
                self.start()?;
            }
            let piece = self.decode(ended)?;
            if ended {
                self.state = State::Done;
            }
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
        }
        Ok(None)
    }

    fn append(&mut self, bytes: Bytes) {
        if self.pending.is_empty() {
            // Without a copy, where nobody else holds them.
            self.pending = bytes.into();
        } else {
            self.pending.extend_from_slice(&bytes);
        }
    }

    fn start(&mut self) -> Result<(), FileError> {
        if text::is_binary(&self.pending) {
            return Err(FileError::binary(&self.target));
        }
        if self.pending.starts_with(BOM.as_bytes()) {
            self.pending.drain(..BOM.len());
        }
        self.state = State::Middle;
        Ok(())
    }

    /// Everything that is pending but a character that is not complete yet.
    fn decode(&mut self, ended: bool) -> Result<String, FileError> {
        String::from_utf8(mem::take(&mut self.pending)).or_else(|invalid| {
            let error = invalid.utf8_error();
            if error.error_len().is_some() || ended {
                return Err(FileError::not_utf8(&self.target));
            }
            let mut whole = invalid.into_bytes();
            self.pending = whole.split_off(error.valid_up_to());
            Ok(String::from_utf8(whole).expect("it was found valid up to here"))
        })
    }
}

impl fmt::Debug for TextStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextStream").field("target", &self.target).field("state", &self.state).finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "text_stream_tests.rs"]
mod tests;
