//! What can go wrong behind the file seam, in the words that a model and a log rely on.

use std::error::Error;
use std::{fmt, io};

use rustix::io::Errno;

use crate::target::Target;

/// Why an operation of a [`FileSystem`](crate::FileSystem) failed.
///
/// Its `Display` is the message, word for word what a model is shown after `Error: `. The only path in it is the
/// [`display`](Target::display) of the target: no place outside, no private file, no path that the system resolved.
/// The operating system's error, where there is one, is the [`source`](Error::source).
#[derive(Debug)]
pub struct FileError {
    kind: FileErrorKind,
    message: String,
    cause: Option<io::Error>,
}

/// The kinds of [`FileError`], to branch on. The set is closed: whatever fails, fails as one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileErrorKind {
    /// Nothing is there, or nothing was named.
    NotFound,
    /// Something that should be a directory is none.
    NotDirectory,
    /// Not UTF-8, or a NUL in the first 8192 bytes.
    NotText,
    /// A directory, FIFO, device or socket where a file should be.
    NotRegularFile,
    /// More bytes than a limit.
    TooLarge,
    /// The system does not permit it.
    PermissionDenied,
    /// The path does not lead to a place beneath the root.
    OutsideRoot,
    /// Whatever else the system reports.
    IoError,
    /// What is there is not the version that the caller knows.
    StaleVersion,
    /// Something is there, and the caller has not seen it.
    NotObserved,
    /// The text to replace is there more than once.
    AmbiguousEdit,
    /// The text to replace is not there.
    EditNotFound,
    /// The caller cancelled.
    Aborted,
}

impl FileErrorKind {
    /// The stable spelling of this kind.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "FS_NOT_FOUND",
            Self::NotDirectory => "FS_NOT_DIRECTORY",
            Self::NotText => "FS_NOT_TEXT",
            Self::NotRegularFile => "FS_NOT_REGULAR_FILE",
            Self::TooLarge => "FS_TOO_LARGE",
            Self::PermissionDenied => "FS_PERMISSION_DENIED",
            Self::OutsideRoot => "FS_OUTSIDE_ROOT",
            Self::IoError => "FS_IO_ERROR",
            Self::StaleVersion => "FS_STALE_VERSION",
            Self::NotObserved => "FS_NOT_OBSERVED",
            Self::AmbiguousEdit => "FS_AMBIGUOUS_EDIT",
            Self::EditNotFound => "FS_EDIT_NOT_FOUND",
            Self::Aborted => "FS_ABORTED",
        }
    }
}

impl fmt::Display for FileErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FileError {
    /// An error of `kind` with exactly this message.
    #[must_use]
    pub fn new(kind: FileErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), cause: None }
    }

    /// The same error with its cause, which the message does not repeat.
    #[must_use]
    pub fn with_cause(mut self, cause: io::Error) -> Self {
        self.cause = Some(cause);
        self
    }

    /// What kind of error this is.
    #[must_use]
    pub fn kind(&self) -> FileErrorKind {
        self.kind
    }

    /// The stable spelling of [`kind`](Self::kind).
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for FileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| cause as _)
    }
}

/// What was to be done with a target; the verb of the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    Resolve,
    Read,
    List,
    Write,
    Edit,
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resolve => "resolve",
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
            Self::Edit => "edit",
        })
    }
}

/// One constructor per message.
impl FileError {
    /// `cannot read "p": why`, and the like.
    pub(crate) fn cannot(kind: FileErrorKind, doing: Doing, display: &str, why: impl fmt::Display) -> Self {
        Self::new(kind, format!("cannot {doing} \"{display}\": {why}"))
    }

    pub(crate) fn blank_path() -> Self {
        Self::new(FileErrorKind::NotFound, "file_path must be a non-empty string")
    }

    pub(crate) fn outside_root(doing: Doing, display: &str) -> Self {
        Self::cannot(FileErrorKind::OutsideRoot, doing, display, "outside the work folder")
    }

    pub(crate) fn not_found(doing: Doing, target: &Target) -> Self {
        Self::cannot(FileErrorKind::NotFound, doing, target.display(), "not found")
    }

    pub(crate) fn not_regular(doing: Doing, target: &Target) -> Self {
        Self::cannot(FileErrorKind::NotRegularFile, doing, target.display(), "not a regular file")
    }

    /// What was looked at claims `size` bytes.
    pub(crate) fn too_large(doing: Doing, target: &Target, size: u64, limit: u64) -> Self {
        let why = format_args!("{size} bytes exceeds the {limit}-byte limit");
        Self::cannot(FileErrorKind::TooLarge, doing, target.display(), why)
    }

    /// It claimed less, and more came.
    pub(crate) fn yields_too_much(target: &Target, limit: u64) -> Self {
        let why = format_args!("content exceeds the {limit}-byte limit");
        Self::cannot(FileErrorKind::TooLarge, Doing::Read, target.display(), why)
    }

    pub(crate) fn aborted(target: &Target) -> Self {
        Self::cannot(FileErrorKind::Aborted, Doing::Read, target.display(), "cancelled")
    }

    pub(crate) fn binary(target: &Target) -> Self {
        Self::cannot(FileErrorKind::NotText, Doing::Read, target.display(), "binary file")
    }

    pub(crate) fn not_utf8(target: &Target) -> Self {
        Self::cannot(FileErrorKind::NotText, Doing::Read, target.display(), "invalid UTF-8 text")
    }

    pub(crate) fn stale(doing: Doing, target: &Target) -> Self {
        Self::cannot(FileErrorKind::StaleVersion, doing, target.display(), "file changed since it was read")
    }

    pub(crate) fn not_observed(target: &Target) -> Self {
        let message = format!("cannot overwrite existing \"{}\" without reading it first", target.display());
        Self::new(FileErrorKind::NotObserved, message)
    }

    pub(crate) fn edit_not_found(target: &Target) -> Self {
        let message = format!("old_string was not found in \"{}\"", target.display());
        Self::new(FileErrorKind::EditNotFound, message)
    }

    pub(crate) fn ambiguous_edit(target: &Target, matches: usize) -> Self {
        let message = format!(
            "old_string matched {matches} times in \"{}\"; provide a more specific old_string or set replace_all to true",
            target.display()
        );
        Self::new(FileErrorKind::AmbiguousEdit, message)
    }

    /// What the system's refusal means.
    pub(crate) fn os(doing: Doing, display: &str, errno: Errno) -> Self {
        let cause = io::Error::from(errno);
        let words = cause.to_string();
        // Without the " (os error 13)" that std appends: the number is in the cause.
        let os_words = words.split(" (os error").next().unwrap_or_default();
        let (kind, why) = match errno {
            Errno::NOENT => (FileErrorKind::NotFound, "not found"),
            Errno::NOTDIR => (FileErrorKind::NotDirectory, "not a directory"),
            Errno::XDEV => (FileErrorKind::OutsideRoot, "outside the work folder"),
            // Sockets cannot be opened at all, and devices without a driver behind them say the same.
            Errno::ISDIR | Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
                (FileErrorKind::NotRegularFile, "not a regular file")
            }
            Errno::ACCESS | Errno::PERM => (FileErrorKind::PermissionDenied, os_words),
            _ => (FileErrorKind::IoError, os_words),
        };
        Self::cannot(kind, doing, display, why).with_cause(cause)
    }
}
