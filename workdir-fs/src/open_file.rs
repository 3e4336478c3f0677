//! A regular file beneath the folder, open and judged.

use std::fs::{File, FileType, Metadata};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::options::HardLinks;
use crate::snapshot::{self, FileVersion};
use crate::{FsError, RelPath, Snapshot};

/// A regular file that was opened through a [`WorkDir`](crate::WorkDir), of which nothing has been read yet.
///
/// It stays the same file whatever happens to its name.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    name: RelPath,
    version: FileVersion,
}

impl OpenFile {
    /// Judges what was opened by the descriptor itself, since a look at the path could have seen something else.
    pub(crate) fn judge(fd: OwnedFd, name: RelPath, hard_links: HardLinks) -> Result<Self, FsError> {
        let file = File::from(fd);
        let metadata = file
            .metadata()
            .map_err(|cause| FsError::os("opened", Errno::from_io_error(&cause).unwrap_or(Errno::IO)))?;
        if name.asks_for_folder() && !metadata.is_dir() {
            return Err(FsError::no_such_folder());
        }
        if !metadata.is_file() {
            return Err(FsError::not_regular(what(metadata.file_type())));
        }
        if hard_links == HardLinks::Refuse && metadata.nlink() > 1 {
            return Err(FsError::hard_linked(metadata.nlink()));
        }
        Ok(Self { file, name, version: FileVersion::of(&metadata) })
    }

    /// What was opened, as in [`Snapshot::name`].
    #[must_use]
    pub fn name(&self) -> &RelPath {
        &self.name
    }

    /// The size in bytes that the file claimed when it was opened.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a claim of 0 bytes does not mean that nothing can be read")]
    pub fn len(&self) -> u64 {
        self.version.size()
    }

    /// Which state of which file was opened.
    #[must_use]
    pub fn version(&self) -> FileVersion {
        self.version
    }

    /// What the system says of what was opened: its mode and times, as they are now.
    ///
    /// # Errors
    ///
    /// `io_error`.
    pub fn metadata(&self) -> Result<Metadata, FsError> {
        snapshot::metadata(&self.file)
    }

    /// Reads one consistent state of the whole file into `buffer`, whose former content is dropped and whose memory is reused.
    ///
    /// `max_bytes` is inclusive. If the file's size, times or identity move while it is read it is read again, at
    /// most 3 times. Blocks for as long as the file system takes.
    ///
    /// # Errors
    ///
    /// `too_large` if the file has more than `max_bytes` bytes, without any read if it had when it was opened;
    /// `io_error` if it keeps changing or cannot be read. The buffer is then empty or holds part of the file.
    pub fn read_snapshot(&self, max_bytes: u64, buffer: &mut Vec<u8>) -> Result<Snapshot, FsError> {
        let version = snapshot::read(&self.file, self.version, max_bytes, buffer)?;
        Ok(Snapshot { name: self.name.clone(), len: buffer.len() as u64, version })
    }
}

fn what(found: FileType) -> &'static str {
    if found.is_dir() {
        "a directory"
    } else if found.is_fifo() {
        "a FIFO"
    } else if found.is_socket() {
        "a socket"
    } else if found.is_char_device() || found.is_block_device() {
        "a device"
    } else {
        "something else"
    }
}
