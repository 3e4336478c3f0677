//! Looks and reads.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use rustix::fs::{Stat, fstat};

use super::place::{self, Place};
use super::{Fault, resolve, settle};
use crate::blocking::unless_cancelled;
use crate::cancel::Cancel;
use crate::file_error::{Doing, FileError};
use crate::target::{FileKind, Info, Target};
use crate::work_dir::WorkDir;

/// How many bytes are read at once: the pieces of a stream, and how often a read looks whether it was cancelled.
const PIECE: usize = 256 << 10;

/// How much is streamed of a file that claims to be empty, as files of special file systems do: 10 MiB.
const MAX_UNCLAIMED: u64 = 10 << 20;

pub(super) fn stat(work: &WorkDir, target: &Target) -> Result<Info, FileError> {
    settle(work, target, Doing::Read, |key| {
        let found = if key.is_empty() {
            fstat(work.open_dir("")?)?
        } else {
            Place::open(work, key)?.look()?.ok_or_else(|| FileError::not_found(Doing::Read, target))?
        };
        if place::is_link(&found) {
            return Err(Fault::Os(rustix::io::Errno::LOOP));
        }
        Ok(place::info(work, &found))
    })
}

/// The name that was asked for is looked at, which the key no longer tells where it was a link's.
pub(super) fn lstat(work: &WorkDir, target: &Target) -> Result<Info, FileError> {
    let Some((parent, name)) = split_asked(target.asked()) else {
        return stat(work, target);
    };
    let parent = Target::new(resolved(work, target, parent)?, target.asked());
    settle(work, &parent, Doing::Read, |parent| {
        let place = Place { dir: work.open_dir(parent)?, name: name.to_owned() };
        let found = place.look()?.ok_or_else(|| FileError::not_found(Doing::Read, target))?;
        Ok(place::info(work, &found))
    })
}

/// The folder and the name. `None` for the root.
fn split_asked(asked: &str) -> Option<(&str, &str)> {
    (asked != ".").then(|| asked.rsplit_once('/').unwrap_or(("", asked)))
}

fn resolved(work: &WorkDir, target: &Target, path: &str) -> Result<String, FileError> {
    resolve::follow(work, path).map_err(|errno| FileError::os(Doing::Read, target.display(), errno))
}

/// Opens the regular file at `key`. The descriptor is judged, not an earlier look.
fn open(work: &WorkDir, target: &Target, key: &str) -> Result<(File, Stat), Fault> {
    if key.is_empty() {
        return Err(FileError::not_regular(Doing::Read, target).into());
    }
    let file = File::from(work.open_any(key)?);
    let found = fstat(&file)?;
    if place::kind(work, &found) != FileKind::File {
        return Err(FileError::not_regular(Doing::Read, target).into());
    }
    Ok((file, found))
}

pub(super) fn read_bytes(
    work: &WorkDir,
    target: &Target,
    max_bytes: u64,
    cancel: &Cancel,
) -> Result<Vec<u8>, FileError> {
    let (file, found) = settle(work, target, Doing::Read, |key| open(work, target, key))?;
    let size = place::size(&found);
    if size > max_bytes {
        return Err(FileError::too_large(Doing::Read, target, size, max_bytes));
    }
    collect(&file, target, size, max_bytes, cancel)
}

/// What `source`, which claims `size` bytes, yields within the limit.
pub(super) fn collect(
    source: impl Read,
    target: &Target,
    size: u64,
    max_bytes: u64,
    cancel: &Cancel,
) -> Result<Vec<u8>, FileError> {
    // One byte more than allowed tells a file that has grown, and nothing past it is read.
    let mut rest = source.take(max_bytes.saturating_add(1));
    let mut bytes = Vec::new();
    while !cancel.is_cancelled() {
        // Memory is claimed piece by piece, as the file yields what it claims.
        let expected = (size.saturating_add(1).saturating_sub(bytes.len() as u64)).min(PIECE as u64) as usize;
        if bytes.try_reserve(expected).is_err() {
            return Err(FileError::os(Doing::Read, target.display(), rustix::io::Errno::NOMEM));
        }
        match rest.by_ref().take(PIECE as u64).read_to_end(&mut bytes) {
            Ok(0) => return Ok(bytes),
            Ok(_) if bytes.len() as u64 > max_bytes => return Err(FileError::yields_too_much(target, max_bytes)),
            Ok(_) => {}
            Err(error) => return Err(os(target, &error)),
        }
    }
    Err(FileError::aborted(target))
}

fn os(target: &Target, error: &std::io::Error) -> FileError {
    let errno = rustix::io::Errno::from_io_error(error).unwrap_or(rustix::io::Errno::IO);
    FileError::os(Doing::Read, target.display(), errno)
}

/// An open file, read piece by piece up to the size it had when it was opened.
pub(super) struct Chunks {
    file: Arc<File>,
    target: Target,
    left: u64,
    /// The size it had, or the most that is read where that was 0.
    claimed: bool,
}

impl Chunks {
    pub(super) fn open(work: &WorkDir, target: Target) -> Result<Self, FileError> {
        let (file, found) = settle(work, &target, Doing::Read, |key| open(work, &target, key))?;
        let size = place::size(&found);
        let left = if size > 0 { size } else { MAX_UNCLAIMED + 1 };
        Ok(Self { file: Arc::new(file), target, left, claimed: size > 0 })
    }

    pub(super) fn stream(self, cancel: Cancel) -> BoxStream<'static, Result<Bytes, FileError>> {
        stream::unfold(Some(self), move |chunks| {
            let cancel = cancel.clone();
            async move {
                let mut chunks = chunks?;
                match chunks.next(&cancel).await {
                    Ok(bytes) if bytes.is_empty() => None,
                    Ok(bytes) => Some((Ok(bytes), Some(chunks))),
                    Err(error) => Some((Err(error), None)),
                }
            }
        })
        .boxed()
    }

    /// The next piece, an empty one at the end.
    async fn next(&mut self, cancel: &Cancel) -> Result<Bytes, FileError> {
        let (file, most) = (Arc::clone(&self.file), self.left.min(PIECE as u64));
        let read = move || {
            let mut piece = Vec::with_capacity(most as usize);
            (&*file).take(most).read_to_end(&mut piece).map(|_| piece)
        };
        let read = unless_cancelled(cancel, read).await.ok_or_else(|| FileError::aborted(&self.target))?;
        let piece = read.map_err(|error| os(&self.target, &error))?;
        self.left -= piece.len() as u64;
        if self.left == 0 && !self.claimed {
            return Err(FileError::yields_too_much(&self.target, MAX_UNCLAIMED));
        }
        Ok(piece.into())
    }
}
