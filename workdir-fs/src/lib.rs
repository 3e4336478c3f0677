//! The work folder as a capability: bounded reads of one snapshot and atomic, versioned changes, never outside.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::create_dir(folder.path().join("shots"))?;
//! # std::fs::write(folder.path().join("shots/a.png"), b"\x89PNG")?;
//! use attache_workdir_fs::WorkDir;
//!
//! let work = WorkDir::open(folder.path())?;
//! let path = work.lower("./shots//a.png")?;
//! let mut bytes = Vec::new();
//! let snapshot = work.read(&path, 1_000_000, &mut bytes)?;
//! assert_eq!((snapshot.name.as_str(), snapshot.len), ("shots/a.png", 4));
//!
//! assert_eq!(work.lower("../shots/a.png").unwrap_err().code(), "outside_root");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two ways in. [`WorkDir`] reads for a host that attaches what a tool left behind, and follows no link at all. [`FileSystem`] is
//! the seam behind the file tools of a model, which read, write and edit text; [`LocalFs`] is the folder behind that seam,
//! and follows links as far as they stay inside:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # let folder = tempfile::tempdir()?;
//! use attache_workdir_fs::{Edit, FileSystem, LocalFs, WorkDir, WriteIntent};
//!
//! let fs = LocalFs::new(WorkDir::open(folder.path())?);
//! let target = fs.resolve("notes/today.txt", None).await?;
//! let known = fs.write_text(&target, "buy milk\n", &WriteIntent::CreateIfAbsent).await?.version;
//!
//! // Somebody else is faster, and the edit is not made on what nobody has seen.
//! std::fs::write(folder.path().join("notes/today.txt"), "buy bread\n")?;
//! let edit = Edit { old: "milk".into(), new: "tea".into(), replace_all: false };
//! let error = fs.edit_text(&target, &edit, Some(&known)).await.unwrap_err();
//! assert_eq!(error.code(), "FS_STALE_VERSION");
//! assert_eq!(error.to_string(), r#"cannot edit "notes/today.txt": file changed since it was read"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is promised
//!
//! A tool, and whatever it left running, may rename, swap and re-link everything below the folder while we work.
//!
//! - Nothing outside the folder is ever opened, made or changed. [`WorkDir`] follows no link below it, in any component, whatever it
//!   points to; [`LocalFs`] works out where links lead and then goes there through none. Links on the way *to* the folder are the
//!   host's own and are followed once, by [`WorkDir::open`].
//! - Nothing blocks: a FIFO, a device, a socket or a directory is refused, judged by the descriptor that was opened and
//!   not by an earlier look.
//! - What [`WorkDir`] reads is one state of one file, as far as the file system's own times can tell: length, times and identity are
//!   the same before and after. Those times have a grain (milliseconds on Linux before 6.13), are set when a write begins, and
//!   may miss writes through a shared mapping.
//! - Memory is claimed by what a file yields, never by what it says of itself, and never past the caller's limit.
//! - A change is seen whole or not at all, is durable when it is reported, and never replaces what its condition rules out;
//!   [`LocalFs`] names the two exceptions.
//!
//! Hard links look like ordinary files. Where the tool itself is hostile and shares a file system with secrets,
//! [`HardLinks::Refuse`] turns down every file that has a second name.
//!
//! # Why not check the path and then open it?
//!
//! Because the two steps see two worlds. With a directory being swapped for a link, about half of all
//! resolve-then-open reads came back with a file from outside, and so did one in two hundred that looked at
//! each component first. Here the open *is* the check: one `openat2` call that refuses links in the kernel, or, where the
//! kernel lacks it, one handle after another, each opened without following.
//!
//! Unix only: the guarantees lean on descriptors. It is tested on Linux; macOS takes the walk of handles, and was not tried yet.

mod blocking;
mod cancel;
mod change;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(feature = "e2b")]
mod e2b;
mod edit;
mod entries;
mod error;
mod file_error;
mod file_system;
mod local;
mod open_file;
mod options;
mod quote;
mod rel_path;
mod similar;
mod snapshot;
mod spelling;
mod target;
mod text;
mod text_stream;
mod walk;
mod work_dir;

pub use cancel::Cancel;
pub use change::{Edit, Operation, WriteIntent, Written};
#[cfg(feature = "e2b")]
pub use e2b::{E2bFs, E2bOptions, E2bOptionsError};
pub use entries::{Entry, EntryKind};
pub use error::{FsError, FsErrorKind, OpenRootError};
pub use file_error::{FileError, FileErrorKind};
pub use file_system::FileSystem;
pub use local::LocalFs;
pub use open_file::OpenFile;
pub use options::{HardLinks, Walk, WorkDirOptions};
pub use rel_path::RelPath;
pub use snapshot::{FileVersion, Snapshot};
pub use target::{DirEntry, FileKind, Info, Target, Version};
pub use text_stream::TextStream;
pub use work_dir::WorkDir;
