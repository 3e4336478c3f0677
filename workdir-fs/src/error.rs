//! What can go wrong, in words that may be shown to a person or a model.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use rustix::io::Errno;

use crate::quote::Quoted;

/// Why a path was refused or a read failed.
///
/// Its `Display` is a plain reason that names the values it is about. It never names a place outside the folder, nor
/// repeats the path that was asked for; names taken from the disk are quoted with their tricks escaped.
/// The operating system's error, where there is one, is the [`source`](Error::source).
#[derive(Debug)]
pub struct FsError {
    reason: Reason,
    cause: Option<io::Error>,
}

/// The kinds of [`FsError`], to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FsErrorKind {
    /// The path does not name anything beneath the folder.
    OutsideRoot,
    /// Nothing of that name is there, or several names come equally close.
    NotFound,
    /// A component is a symbolic link.
    SymlinkRefused,
    /// A directory, FIFO, device or socket, or a file with several names where those are refused.
    NotARegularFile,
    /// The operating system refused, or the file never held still.
    IoError,
    /// More bytes than the caller's limit.
    TooLarge,
}

impl FsErrorKind {
    /// The stable spelling of this kind.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::OutsideRoot => "outside_root",
            Self::NotFound => "not_found",
            Self::SymlinkRefused => "symlink_refused",
            Self::NotARegularFile => "not_a_regular_file",
            Self::IoError => "io_error",
            Self::TooLarge => "too_large",
        }
    }
}

impl fmt::Display for FsErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FsError {
    /// What kind of error this is.
    #[must_use]
    pub fn kind(&self) -> FsErrorKind {
        self.reason.kind()
    }

    /// The stable spelling of [`kind`](Self::kind).
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    /// The names that came equally close, where that is why nothing was found: all of them up to a handful, as they
    /// are on disk and not cleaned. Empty for every other error.
    #[must_use]
    pub fn candidates(&self) -> &[String] {
        match &self.reason {
            Reason::Ambiguous { names, .. } => names,
            _ => &[],
        }
    }

    /// What the system said, or would say.
    pub(crate) fn errno(&self) -> Errno {
        let said = self.cause.as_ref().and_then(Errno::from_io_error);
        said.unwrap_or(match self.reason {
            Reason::Missing => Errno::NOENT,
            Reason::Link => Errno::LOOP,
            Reason::Escape => Errno::XDEV,
            Reason::PathTooLong { .. } => Errno::NAMETOOLONG,
            _ => Errno::IO,
        })
    }

    /// Whether the walk simply found no such entry, so that a look for a similar spelling makes sense.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.reason, Reason::Missing)
    }
}

impl fmt::Display for FsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.fmt(f)
    }
}

impl Error for FsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

/// Everything that is told apart in words. The kinds above are what is told apart in code.
#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error("the path is empty")]
    Empty,
    #[error("the path contains a NUL character")]
    Nul,
    #[error("'..' is not allowed in a path")]
    ParentSegment,
    #[error("it is an absolute path that does not lie beneath the work folder")]
    Absolute,
    #[error("the path names the work folder itself, not a file in it")]
    RootItself,
    #[error("the path led outside the work folder")]
    Escape,

    #[error("there is no such file in the work folder")]
    Missing,
    #[error("the path ends like that of a folder, and there is no folder of that name")]
    NoSuchFolder,
    #[error(
        "there is no file of exactly that name, and its folder has more than {limit} entries, too many to look for a similar one"
    )]
    FolderTooBig { limit: usize },
    #[error("there is no file of exactly that name, and {} are equally close: {}", Count(.names.len(), *.more), List(.names, *.more))]
    Ambiguous { names: Vec<String>, more: bool },

    #[error("the path leads through a symbolic link, and links in the work folder are not followed")]
    Link,

    #[error("it is {found}, not a regular file")]
    NotRegular { found: &'static str },
    #[error("the file has {links} hard links, and files with more than 1 are refused here")]
    HardLinked { links: u64 },

    #[error("the file cannot be {done}: {why}")]
    Os { done: &'static str, why: String },
    #[error("the path is {len} bytes long, more than the {limit} bytes a path may have")]
    PathTooLong { len: usize, limit: usize },
    #[error("a name in the path is longer than the file system allows")]
    NameTooLong,
    #[error("the file keeps changing: it was read {reads} times and changed each time while it was read")]
    KeepsChanging { reads: u32 },
    #[error("there is not enough memory for the {wanted} bytes that come next")]
    OutOfMemory { wanted: usize },

    #[error("the file has {size} bytes, more than the limit of {limit} bytes")]
    TooLarge { size: u64, limit: u64 },
    #[error("the file yields at least {size} bytes, more than the limit of {limit} bytes")]
    YieldsTooMuch { size: u64, limit: u64 },
}

impl Reason {
    fn kind(&self) -> FsErrorKind {
        match self {
            Self::Empty | Self::Nul | Self::ParentSegment | Self::Absolute | Self::RootItself | Self::Escape => {
                FsErrorKind::OutsideRoot
            }
            Self::Missing | Self::NoSuchFolder | Self::FolderTooBig { .. } | Self::Ambiguous { .. } => {
                FsErrorKind::NotFound
            }
            Self::Link => FsErrorKind::SymlinkRefused,
            Self::NotRegular { .. } | Self::HardLinked { .. } => FsErrorKind::NotARegularFile,
            Self::Os { .. }
            | Self::PathTooLong { .. }
            | Self::NameTooLong
            | Self::KeepsChanging { .. }
            | Self::OutOfMemory { .. } => FsErrorKind::IoError,
            Self::TooLarge { .. } | Self::YieldsTooMuch { .. } => FsErrorKind::TooLarge,
        }
    }
}

/// How many names there are, where a longer list was cut.
struct Count(usize, bool);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let more = if self.1 { "more than " } else { "" };
        write!(f, "{more}{}", self.0)
    }
}

/// Names, quoted, with a mark where the list was cut.
struct List<'a>(&'a [String], bool);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            let gap = if i == 0 { "" } else { ", " };
            write!(f, "{gap}{}", Quoted(name))?;
        }
        f.write_str(if self.1 { ", …" } else { "" })
    }
}

impl From<Reason> for FsError {
    fn from(reason: Reason) -> Self {
        Self { reason, cause: None }
    }
}

/// One constructor per reason, so that every refusal can be found by its name.
impl FsError {
    pub(crate) fn empty_path() -> Self {
        Reason::Empty.into()
    }

    pub(crate) fn nul_in_path() -> Self {
        Reason::Nul.into()
    }

    pub(crate) fn parent_segment() -> Self {
        Reason::ParentSegment.into()
    }

    pub(crate) fn absolute_path() -> Self {
        Reason::Absolute.into()
    }

    pub(crate) fn root_itself() -> Self {
        Reason::RootItself.into()
    }

    /// The confinement itself was tested: an open was stopped at the edge of the folder. Lowered paths cannot do this,
    /// so whoever sees it should look for an attack or a defect.
    pub(crate) fn escape_attempt(cause: io::Error) -> Self {
        Self { reason: Reason::Escape, cause: Some(cause) }
    }

    pub(crate) fn missing() -> Self {
        Reason::Missing.into()
    }

    pub(crate) fn no_such_folder() -> Self {
        Reason::NoSuchFolder.into()
    }

    pub(crate) fn folder_too_big(limit: usize) -> Self {
        Reason::FolderTooBig { limit }.into()
    }

    /// `more` says that `names` was cut.
    pub(crate) fn ambiguous(names: Vec<String>, more: bool) -> Self {
        Reason::Ambiguous { names, more }.into()
    }

    pub(crate) fn link() -> Self {
        Reason::Link.into()
    }

    pub(crate) fn not_regular(found: &'static str) -> Self {
        Reason::NotRegular { found }.into()
    }

    pub(crate) fn hard_linked(links: u64) -> Self {
        Reason::HardLinked { links }.into()
    }

    pub(crate) fn path_too_long(len: usize, limit: usize) -> Self {
        Reason::PathTooLong { len, limit }.into()
    }

    pub(crate) fn keeps_changing(reads: u32) -> Self {
        Reason::KeepsChanging { reads }.into()
    }

    pub(crate) fn out_of_memory(wanted: usize) -> Self {
        Reason::OutOfMemory { wanted }.into()
    }

    /// `size` is what the opened descriptor says.
    pub(crate) fn too_large(size: u64, limit: u64) -> Self {
        Reason::TooLarge { size, limit }.into()
    }

    /// `size` is what was read before giving up; the descriptor claims less.
    pub(crate) fn yields_too_much(size: u64, limit: u64) -> Self {
        Reason::YieldsTooMuch { size, limit }.into()
    }

    /// `done` completes the sentence "the file cannot be …".
    pub(crate) fn os(done: &'static str, errno: Errno) -> Self {
        let cause = io::Error::from(errno);
        // Without the " (os error 13)" that std appends: the number is in the cause.
        let why = cause.to_string().split(" (os error").next().unwrap_or_default().to_owned();
        Self { reason: Reason::Os { done, why }, cause: Some(cause) }
    }

    /// What an open that failed with `errno` means, in a walk that follows no link.
    pub(crate) fn from_open(errno: Errno) -> Self {
        match errno {
            // A middle component that is a file holds nothing, so nothing was found in it.
            Errno::NOENT | Errno::NOTDIR => Self { reason: Reason::Missing, cause: Some(errno.into()) },
            Errno::LOOP => Self::link(),
            Errno::XDEV => Self::escape_attempt(errno.into()),
            // Sockets cannot be opened at all, and devices without a driver behind them say the same.
            Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
                Self { reason: Reason::NotRegular { found: "a socket or device" }, cause: Some(errno.into()) }
            }
            Errno::NAMETOOLONG => Self { reason: Reason::NameTooLong, cause: Some(errno.into()) },
            _ => Self::os("opened", errno),
        }
    }
}

/// The work folder itself could not be opened. Meant for the host, whose own path it names.
#[derive(Debug, thiserror::Error)]
#[error("cannot open the work folder '{}'", .path.display())]
pub struct OpenRootError {
    path: PathBuf,
    #[source]
    cause: io::Error,
}

impl OpenRootError {
    pub(crate) fn new(path: &Path, cause: impl Into<io::Error>) -> Self {
        Self { path: path.to_owned(), cause: cause.into() }
    }

    /// The folder as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What kind of failure the operating system reported.
    #[must_use]
    pub fn io_kind(&self) -> io::ErrorKind {
        self.cause.kind()
    }
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
