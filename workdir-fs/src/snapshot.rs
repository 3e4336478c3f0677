//! Reading one state of a file that others may be writing to.

use std::fmt;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;

use rustix::buffer::spare_capacity;
use rustix::fs::Stat;
use rustix::io::{Errno, pread};

use crate::{FsError, RelPath};

/// How often a file that changed while it was read is read again.
const MAX_REREADS: u32 = 3;

/// The most memory that is claimed ahead of the bytes that fill it.
const MAX_AHEAD: u64 = 1 << 20;

/// One consistent state of a file, whose bytes are in the caller's buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// What was opened. It differs from what was asked for only in the spelling of the last component, where the exact name
    /// did not exist.
    pub name: RelPath,
    /// How many bytes were read. Special file systems may claim another size.
    pub len: u64,
    /// Which state of which file this is.
    pub version: FileVersion,
}

/// Which state of which file: device, inode, size, and both times in nanoseconds.
///
/// Equal versions mean that nothing changed, as far as the file system's own times can tell. A rewrite of the same
/// size with its modification time put back still differs, in the change time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileVersion {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl FileVersion {
    pub(crate) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    #[allow(
        clippy::unnecessary_cast,
        clippy::allow_attributes,
        reason = "the types of these fields differ by platform"
    )]
    pub(crate) fn of_stat(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// The size the file claims, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}

/// Five numbers in hexadecimal, in the order of the fields: enough to tell versions apart, and not meant to be read back.
impl fmt::Display for FileVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, inode, size, modified, changed } = self;
        write!(f, "{device:x}-{inode:x}-{size:x}-{:x}.{:x}-{:x}.{:x}", modified.0, modified.1, changed.0, changed.1)
    }
}

/// Fills `buffer` with one state of `file`, which was in state `before` when it was opened, and returns that state.
///
/// The steps, and what can end them:
///
/// 1. The claimed size is over the limit: too large, and nothing is read.
/// 2. Read to the end, or to one byte past the limit.
/// 3. Past the limit: too large.
/// 4. The state is still `before`: done. Else again from 1 with the new state, a bounded number of times.
pub(crate) fn read(
    file: &File,
    mut before: FileVersion,
    max_bytes: u64,
    buffer: &mut Vec<u8>,
) -> Result<FileVersion, FsError> {
    for _ in 0..=MAX_REREADS {
        buffer.clear();
        if before.size > max_bytes {
            return Err(FsError::too_large(before.size, max_bytes));
        }
        fill(file, before.size, max_bytes.saturating_add(1), buffer)?;
        let after = state(file)?;
        let got = buffer.len() as u64;
        if got > max_bytes {
            buffer.clear();
            return Err(if after.size > max_bytes {
                FsError::too_large(after.size, max_bytes)
            } else {
                FsError::yields_too_much(got, max_bytes)
            });
        }
        if after == before {
            return Ok(after);
        }
        before = after;
    }
    buffer.clear();
    Err(FsError::keeps_changing(MAX_REREADS + 1))
}

pub(crate) fn state(file: &File) -> Result<FileVersion, FsError> {
    Ok(FileVersion::of(&metadata(file)?))
}

pub(crate) fn metadata(file: &File) -> Result<Metadata, FsError> {
    file.metadata().map_err(|cause| FsError::os("read", errno_of(&cause)))
}

fn errno_of(cause: &std::io::Error) -> Errno {
    Errno::from_io_error(cause).unwrap_or(Errno::IO)
}

/// Reads from the start into the empty `buffer`, up to `most` bytes.
fn fill(file: &File, claimed: u64, most: u64, buffer: &mut Vec<u8>) -> Result<(), FsError> {
    loop {
        let got = buffer.len() as u64;
        // One byte more than the claim, so that the file's end shows itself as a short read.
        let expected = claimed.saturating_add(1).saturating_sub(got).max(4096);
        let room = expected.min(most - got).min(MAX_AHEAD.max(got));
        if room == 0 {
            return Ok(());
        }
        let read = read_some(file, room as usize, most - got, buffer)?;
        // At the claimed size with room to spare there is no need to ask for the end once more: had the file
        // grown, the state after would say so. A claim of nothing says nothing, and only an empty read ends it.
        let at_claimed_end = buffer.len() as u64 == claimed && (read as u64) < room;
        if read == 0 || at_claimed_end {
            return Ok(());
        }
    }
}

/// Appends up to `room` bytes, or more if the buffer has the room already, but never more than `left`.
fn read_some(file: &File, room: usize, left: u64, buffer: &mut Vec<u8>) -> Result<usize, FsError> {
    let start = buffer.len();
    buffer.try_reserve_exact(room).map_err(|_| FsError::out_of_memory(room))?;
    let spare = buffer.capacity() - start;
    loop {
        let read = if spare as u64 <= left {
            pread(file, spare_capacity(buffer), start as u64)
        } else {
            // A reused buffer may have more room than may be read.
            buffer.resize(start + room, 0);
            let read = pread(file, &mut buffer[start..], start as u64);
            buffer.truncate(start + read.unwrap_or(0));
            read
        };
        match read {
            Err(Errno::INTR) => {}
            Err(errno) => return Err(FsError::os("read", errno)),
            Ok(read) => return Ok(read),
        }
    }
}
