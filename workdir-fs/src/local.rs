//! The seam over a work folder.
//!
//! 1. [`resolve`]: from a spelling to a key, the path beneath the root without any link in it.
//! 2. [`place`]: from a key to an open directory and a name in it. Every operation starts here, and follows no link.
//! 3. [`read`], [`list`], [`mod@write`]: the operations. [`publish`] makes a file visible, [`locks`] lets writers take turns.

mod list;
mod locks;
mod place;
mod publish;
mod read;
mod resolve;
mod steps;
mod write;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use rustix::io::Errno;

use crate::blocking::{blocking, unless_cancelled};
use crate::cancel::Cancel;
use crate::change::{Edit, WriteIntent, Written};
use crate::file_error::{Doing, FileError};
use crate::file_system::FileSystem;
use crate::target::{DirEntry, Info, Target, Version};
use crate::text_stream::TextStream;
use crate::work_dir::WorkDir;
use steps::{Steps, Straight};

/// The files beneath a [`WorkDir`], for tools that read and write text. Clones are the same folder.
///
/// - Links beneath the folder are followed as far as they stay beneath it, absolute ones included; one that leads outside is
///   `FS_OUTSIDE_ROOT`. All that is opened, created, renamed or removed is a plain name in a directory that is held
///   open, so that a swap of names at any moment leads to a refusal and never outside.
/// - A [`Target`]'s key is its path beneath the folder without any link; a link that leads nowhere counts as the place it names.
///   Hard links are different files here, since a replaced file no longer shares its bytes with the others.
/// - A write goes to a private file beside the target, which is flushed and renamed; then the directory is flushed. A
///   file that comes up where there was none is never replaced. On file systems that refuse renames (`EXDEV` in some synced
///   folders) the target is written in place, and a reader may meet a part of it.
/// - A replaced file keeps its mode and, where this is permitted, its owner; access lists and extended attributes are lost.
/// - A condition on the version is tested last just before the rename. Writers in this process take turns; one in another
///   process that changes the file between that test and the rename is overwritten.
/// - [`HardLinks::Refuse`](crate::HardLinks::Refuse) holds here too: such a file is `FS_NOT_REGULAR_FILE`.
#[derive(Clone)]
pub struct LocalFs {
    work: WorkDir,
    steps: Arc<dyn Steps>,
}

impl LocalFs {
    /// The files beneath `work`.
    #[must_use]
    pub fn new(work: WorkDir) -> Self {
        Self { work, steps: Arc::new(Straight) }
    }

    /// The folder.
    #[must_use]
    pub fn work_dir(&self) -> &WorkDir {
        &self.work
    }

    /// Runs `work` off the async threads.
    async fn run<T: Send + 'static>(
        &self,
        target: &Target,
        work: impl FnOnce(&Self, &Target) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, FileError> {
        let (fs, target) = (self.clone(), target.clone());
        blocking(move || work(&fs, &target)).await
    }
}

#[async_trait]
impl FileSystem for LocalFs {
    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Result<Target, FileError> {
        let asked = resolve::tidy(&self.work, path, cwd)?;
        let work = self.work.clone();
        blocking(move || match resolve::follow(&work, &asked) {
            Ok(key) => Ok(resolve::target(&key, &asked)),
            Err(errno) => Err(FileError::os(Doing::Resolve, resolve::target("", &asked).display(), errno)),
        })
        .await
    }

    async fn stat(&self, target: &Target) -> Result<Info, FileError> {
        self.run(target, |fs, target| read::stat(&fs.work, target)).await
    }

    async fn lstat(&self, target: &Target) -> Result<Info, FileError> {
        self.run(target, |fs, target| read::lstat(&fs.work, target)).await
    }

    async fn read_bytes(&self, target: &Target, max_bytes: u64, cancel: &Cancel) -> Result<Vec<u8>, FileError> {
        let (work, target, asked) = (self.work.clone(), target.clone(), cancel.clone());
        let aborted = FileError::aborted(&target);
        let read = move || read::read_bytes(&work, &target, max_bytes, &asked);
        unless_cancelled(cancel, read).await.unwrap_or(Err(aborted))
    }

    async fn stream_text(&self, target: &Target, cancel: &Cancel) -> Result<TextStream, FileError> {
        let (work, opened) = (self.work.clone(), target.clone());
        let open = move || read::Chunks::open(&work, opened);
        let chunks = unless_cancelled(cancel, open).await.unwrap_or_else(|| Err(FileError::aborted(target)))?;
        Ok(TextStream::new(target, chunks.stream(cancel.clone())))
    }

    async fn list_dir(&self, target: &Target) -> Result<Vec<DirEntry>, FileError> {
        self.run(target, |fs, target| list::list_dir(&fs.work, target)).await
    }

    async fn write_text(&self, target: &Target, content: &str, intent: &WriteIntent) -> Result<Written, FileError> {
        let (content, intent) = (content.to_owned(), intent.clone());
        self.run(target, move |fs, target| write::write_text(fs, target, &content, &intent)).await
    }

    async fn edit_text(&self, target: &Target, edit: &Edit, guard: Option<&Version>) -> Result<Written, FileError> {
        let (edit, guard) = (edit.clone(), guard.cloned());
        self.run(target, move |fs, target| write::edit_text(fs, target, &edit, guard.as_ref())).await
    }
}

impl fmt::Debug for LocalFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalFs").field(&self.work).finish()
    }
}

/// Why an operation did not go through.
enum Fault {
    /// The system refused.
    Os(Errno),
    /// A refusal of ours, in its final words.
    Said(FileError),
    /// Something came in between; the next try decides.
    Again,
}

impl From<Errno> for Fault {
    fn from(errno: Errno) -> Self {
        Self::Os(errno)
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Os(Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}

impl From<FileError> for Fault {
    fn from(error: FileError) -> Self {
        Self::Said(error)
    }
}

/// How often an operation is tried whose names change under it. Another writer changes them once a write.
const MAX_TRIES: u32 = 32;

/// Does something at a target's key, and again with a new key if a link has come up in it since it was resolved.
fn settle<T>(
    work: &WorkDir,
    target: &Target,
    doing: Doing,
    mut attempt: impl FnMut(&str) -> Result<T, Fault>,
) -> Result<T, FileError> {
    let refused = |errno| FileError::os(doing, target.display(), errno);
    let mut key = target.key().to_owned();
    for _ in 0..MAX_TRIES {
        match attempt(&key) {
            Ok(done) => return Ok(done),
            Err(Fault::Os(Errno::LOOP)) => key = resolve::follow(work, &key).map_err(refused)?,
            Err(Fault::Os(errno)) => return Err(refused(errno)),
            Err(Fault::Said(error)) => return Err(error),
            Err(Fault::Again) => {}
        }
    }
    Err(match doing {
        // It changed at every try, so whatever the caller knows of it is out of date.
        Doing::Edit => FileError::stale(doing, target),
        _ => refused(Errno::BUSY),
    })
}

#[cfg(test)]
mod tests;
