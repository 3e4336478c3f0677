//! The seam over a folder in a remote sandbox.
//!
//! 1. [`wire`]: the requests, one function each; [`connect`], [`entry`] and [`failure`] are what they are made of.
//! 2. [`sandbox`]: from keys to paths there, looks and listings.
//! 3. [`read`], [`mod@write`]: the operations. [`turns`] lets writers take turns.

mod connect;
mod entry;
mod failure;
mod options;
mod read;
mod sandbox;
mod turns;
mod wire;
mod write;

use async_trait::async_trait;
use tokio::runtime::Handle;

use self::failure::Failure;
use self::sandbox::Sandbox;
use self::wire::Wire;
use crate::cancel::Cancel;
use crate::change::{Edit, WriteIntent, Written};
use crate::file_error::{Doing, FileError, FileErrorKind};
use crate::file_system::FileSystem;
use crate::target::{DirEntry, Info, Target, Version};
use crate::text_stream::TextStream;

pub use options::{E2bOptions, E2bOptionsError};

/// The files beneath a folder of an [E2B](https://e2b.dev) sandbox, over its HTTP API. Clones are the same folder.
///
/// ```no_run
/// # async fn example(sandbox_id: &str, token: &str) -> Result<(), Box<dyn std::error::Error>> {
/// use attache_workdir_fs::{Cancel, E2bFs, E2bOptions, FileSystem};
///
/// let options = E2bOptions::new(sandbox_id).with_access_token(token).with_root("/home/user/project");
/// let fs = E2bFs::new(&options)?;
/// let target = fs.resolve("README.md", None).await?;
/// println!("{}", fs.read_text(&target, 1_000_000, &Cancel::new()).await?);
/// # Ok(())
/// # }
/// ```
///
/// - Links are followed as far as they stay beneath the folder; `realpath` in the sandbox tells where they lead. What runs in the
///   sandbox may change that at any moment, and reaches the sandbox's other files anyway: the wall is the sandbox, and nothing of this
///   machine is ever touched.
/// - A read is one look, and at most one request for the content, whose connection ends at the first piece past the limit.
/// - A [`Version`] is made of what a look tells: size, modification time, permissions and owner. A rewrite of the same size
///   that puts the modification time back is not noticed.
/// - A write goes to a private file beside the target, which is flushed and renamed; then the directory is flushed. A
///   file that comes up where there was none is never replaced. The condition on a version is tested last just before the
///   rename, which knows no conditions: a change from another process in between is overwritten. Writers in this process
///   take turns.
/// - A replaced file keeps its permission bits. Set-user-id bits, access lists and extended attributes are lost.
/// - The sandbox needs `/bin/sh` and the commands `realpath`, `chmod`, `ln`, `rm` and `sync` of GNU coreutils.
///
/// Requests need a tokio runtime with its I/O driver.
#[derive(Clone, Debug)]
pub struct E2bFs(Sandbox);

impl E2bFs {
    /// The folder that `options` name. No request is made.
    ///
    /// # Errors
    ///
    /// [`E2bOptionsError`] for a sandbox, address, token or folder that cannot be one.
    pub fn new(options: &E2bOptions) -> Result<Self, E2bOptionsError> {
        Ok(Self(Sandbox { root: options.root()?, wire: Wire::new(options)? }))
    }

    /// Carries a change to its end, whether or not the caller still waits: half of one would leave a private file.
    async fn to_the_end<T: Send + 'static>(
        doing: Doing,
        target: &Target,
        change: impl Future<Output = Result<T, FileError>> + Send + 'static,
    ) -> Result<T, FileError> {
        in_runtime(doing, target)?;
        match tokio::spawn(change).await {
            Ok(outcome) => outcome,
            Err(stopped) => match stopped.try_into_panic() {
                Ok(payload) => std::panic::resume_unwind(payload),
                Err(_) => {
                    let why = "the runtime is shutting down";
                    Err(FileError::cannot(FileErrorKind::Aborted, doing, target.display(), why))
                }
            },
        }
    }
}

/// Requests outside a runtime would panic.
fn in_runtime(doing: Doing, target: &Target) -> Result<(), FileError> {
    let why = "requests to a sandbox need a tokio runtime";
    match Handle::try_current() {
        Ok(_) => Ok(()),
        Err(_) => Err(FileError::cannot(FileErrorKind::IoError, doing, target.display(), why)),
    }
}

#[async_trait]
impl FileSystem for E2bFs {
    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Result<Target, FileError> {
        let asked = self.0.tidy(path, cwd)?;
        let shown = |key: &str| Target::new(key, if asked.is_empty() { "." } else { &asked });
        in_runtime(Doing::Resolve, &shown(""))?;
        match self.0.follow(&asked).await {
            Ok(key) => Ok(shown(&key)),
            Err(followed) => {
                let target = shown("");
                Err(followed.into_failure(Doing::Resolve, &target).into_error(Doing::Resolve, &target, None))
            }
        }
    }

    async fn stat(&self, target: &Target) -> Result<Info, FileError> {
        in_runtime(Doing::Read, target)?;
        let look = async { sandbox::info(&self.0.find(target).await?.1) };
        look.await.map_err(|failure: Failure| failure.into_error(Doing::Read, target, None))
    }

    async fn lstat(&self, target: &Target) -> Result<Info, FileError> {
        in_runtime(Doing::Read, target)?;
        self.0.lstat(target).await.map_err(|failure| failure.into_error(Doing::Read, target, None))
    }

    async fn read_bytes(&self, target: &Target, max_bytes: u64, cancel: &Cancel) -> Result<Vec<u8>, FileError> {
        in_runtime(Doing::Read, target)?;
        read::unless_cancelled(cancel, target, read::read_bytes(&self.0, target, max_bytes)).await
    }

    async fn stream_text(&self, target: &Target, cancel: &Cancel) -> Result<TextStream, FileError> {
        in_runtime(Doing::Read, target)?;
        let pieces = read::unless_cancelled(cancel, target, read::pieces(&self.0, target, cancel)).await?;
        Ok(TextStream::new(target, pieces))
    }

    async fn list_dir(&self, target: &Target) -> Result<Vec<DirEntry>, FileError> {
        in_runtime(Doing::List, target)?;
        self.0.list(target).await.map_err(|failure| failure.into_error(Doing::List, target, None))
    }

    async fn write_text(&self, target: &Target, content: &str, intent: &WriteIntent) -> Result<Written, FileError> {
        let (sandbox, own, content, intent) = (self.0.clone(), target.clone(), content.to_owned(), intent.clone());
        let change = async move { write::write_text(&sandbox, &own, &content, &intent).await };
        Self::to_the_end(Doing::Write, target, change).await
    }

    async fn edit_text(&self, target: &Target, edit: &Edit, guard: Option<&Version>) -> Result<Written, FileError> {
        let (sandbox, own, edit, guard) = (self.0.clone(), target.clone(), edit.clone(), guard.cloned());
        let change = async move { write::edit_text(&sandbox, &own, &edit, guard.as_ref()).await };
        Self::to_the_end(Doing::Edit, target, change).await
    }
}
