//! The work folder as a capability: bounded reads of one snapshot, never through a link, never outside.
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
//! # What is promised
//!
//! A tool, and whatever it left running, may rename, swap and re-link everything below the folder while we read.
//!
//! - Nothing outside the folder is ever opened. No link below it is followed, in any component, whatever it points to. Links on
//!   the way *to* the folder are the host's own and are followed once, by [`WorkDir::open`].
//! - Nothing blocks: a FIFO, a device, a socket or a directory is refused, judged by the descriptor that was opened and
//!   not by an earlier look.
//! - What is read is one state of one file, as far as the file system's own times can tell: length, times and identity are
//!   the same before and after. Those times have a grain (milliseconds on Linux before 6.13), are set when a write begins, and
//!   may miss writes through a shared mapping.
//! - Memory is claimed by what a file yields, never by what it says of itself, and never past the caller's limit.
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
//! Unix only: the guarantees lean on descriptors, and Linux and macOS are what is tested for.

mod blocking;
mod cancel;
mod change;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod edit;
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
mod target;
mod text;
mod text_stream;
mod walk;
mod work_dir;

pub use cancel::Cancel;
pub use change::{Edit, Operation, WriteIntent, Written};
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
