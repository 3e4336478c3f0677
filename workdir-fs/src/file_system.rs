//! The seam between file tools and the place where files are.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::cancel::Cancel;
use crate::change::{Edit, WriteIntent, Written};
use crate::file_error::FileError;
use crate::target::{DirEntry, Info, Target, Version};
use crate::text;
use crate::text_stream::TextStream;

/// Files in one place: a local folder, or a sandbox far away. Bounded reads, versions, atomic guarded changes.
///
/// Every path goes through [`resolve`](Self::resolve) once; all else works on the [`Target`] it gives. There are no
/// time-outs here: reads take a [`Cancel`], and dropping a future stops the wait, though not a change that has begun.
///
/// Text is UTF-8, without exception: anything else is `FS_NOT_TEXT`, and so is a NUL in the first 8192 bytes. A byte order
/// mark at the start is not part of the text.
#[async_trait]
pub trait FileSystem: Send + Sync + Debug {
    /// Finds out which file `path` names; relative paths start at `cwd`, which starts at the root. Nothing needs to be there.
    ///
    /// Links are followed as long as they stay beneath the root. `..` is taken back lexically, before any link is looked at.
    ///
    /// # Errors
    ///
    /// `FS_NOT_FOUND` for a blank path, `FS_OUTSIDE_ROOT` for one that leads outside, `FS_IO_ERROR` for links in a circle,
    /// which a place far away may tell only when something is done there.
    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Result<Target, FileError>;

    /// What stands at `target`. A single look, and no content is read.
    ///
    /// # Errors
    ///
    /// `FS_NOT_FOUND` `cannot read "p": not found`; `FS_NOT_DIRECTORY` if a file is where a folder of the path should be.
    async fn stat(&self, target: &Target) -> Result<Info, FileError>;

    /// What stands at the very name that was asked for: a link there is [`FileKind::Other`](crate::FileKind::Other).
    ///
    /// # Errors
    ///
    /// As for [`stat`](Self::stat).
    async fn lstat(&self, target: &Target) -> Result<Info, FileError>;

    /// The whole file, if it has at most `max_bytes` bytes. Never a part of it.
    ///
    /// A file that claims more is refused before any content is read; one that claims less and yields more is given up at
    /// the first chunk that passes the limit.
    ///
    /// # Errors
    ///
    /// `FS_NOT_FOUND` `cannot read "p": not found`, `FS_NOT_REGULAR_FILE` `cannot read "p": not a regular file`,
    /// `FS_TOO_LARGE` `cannot read "p": 11 bytes exceeds the 10-byte limit` or `cannot read "p": content exceeds the 10-byte
    /// limit`, `FS_ABORTED` if `cancel` is asked before the end.
    async fn read_bytes(&self, target: &Target, max_bytes: u64, cancel: &Cancel) -> Result<Vec<u8>, FileError>;

    /// The whole text, if it has at most `max_bytes` bytes.
    ///
    /// # Errors
    ///
    /// Those of [`read_bytes`](Self::read_bytes); `FS_NOT_TEXT` `cannot read "p": invalid UTF-8 text` or `cannot read "p": binary file`.
    async fn read_text(&self, target: &Target, max_bytes: u64, cancel: &Cancel) -> Result<String, FileError> {
        let bytes = self.read_bytes(target, max_bytes, cancel).await?;
        text::decode(bytes, target)
    }

    /// The text in pieces, of whatever size they come. Together they are what [`read_text`](Self::read_text) gives.
    ///
    /// A file that grows meanwhile is read up to the size it had when it was opened.
    ///
    /// # Errors
    ///
    /// Those of [`read_text`](Self::read_text) but `FS_TOO_LARGE`, here or from the stream.
    async fn stream_text(&self, target: &Target, cancel: &Cancel) -> Result<TextStream, FileError>;

    /// The entries of a directory, sorted by name. A broken one is listed without its [`Info`] and never fails the rest.
    ///
    /// # Errors
    ///
    /// `FS_NOT_FOUND` `cannot list "p": not found`, `FS_NOT_DIRECTORY` `cannot list "p": not a directory`.
    async fn list_dir(&self, target: &Target) -> Result<Vec<DirEntry>, FileError>;

    /// Replaces the whole file, or creates it and the folders above it. Atomic: readers see the old content or the new one.
    ///
    /// A new file is for its owner alone (0600), a replaced one keeps its mode. Writers of one target in this process take
    /// turns. A failed write leaves the old content and no private file.
    ///
    /// # Errors
    ///
    /// - `FS_NOT_REGULAR_FILE` `cannot write "p": not a regular file`, also if it came up before publication.
    /// - [`CreateIfAbsent`](WriteIntent::CreateIfAbsent), and a file is there or came up: `FS_NOT_OBSERVED` `cannot overwrite
    ///   existing "p" without reading it first`.
    /// - [`ReplaceIfVersion`](WriteIntent::ReplaceIfVersion), and it is missing or changed: `FS_STALE_VERSION` `cannot write "p": file
    ///   changed since it was read`.
    async fn write_text(&self, target: &Target, content: &str, intent: &WriteIntent) -> Result<Written, FileError>;

    /// Replaces a literal text in the file, atomically, if the file is in the state `guard`.
    ///
    /// The texts are compared with `\r\n` taken for `\n`, left to right, without overlaps. Only the touched lines change: every
    /// other keeps its own ending, and the byte order mark and the final newline stay as they are. A line of the new text
    /// ends as the line it replaces did, or as most lines of the file do.
    ///
    /// # Errors
    ///
    /// In this order:
    ///
    /// - `FS_STALE_VERSION` `cannot edit "p": file changed since it was read`: it is missing, or not in the state `guard`.
    /// - `FS_NOT_REGULAR_FILE`, `FS_TOO_LARGE`, and `FS_NOT_TEXT` as for reading.
    /// - `FS_EDIT_NOT_FOUND` `old_string was not found in "p"`, also if it is empty.
    /// - `FS_AMBIGUOUS_EDIT` `old_string matched 2 times in "p"; provide a more specific old_string or set replace_all to true`.
    async fn edit_text(&self, target: &Target, edit: &Edit, guard: Option<&Version>) -> Result<Written, FileError>;
}
