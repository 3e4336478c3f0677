//! What can go wrong with a conversation.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use attache_blobstore::BlobError;

use crate::text::clean;

/// The kind of a [`ConversationError`], for a caller to branch on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ConversationErrorKind {
    /// There is no conversation in that directory.
    NotFound,
    /// Another writer holds the lock.
    Locked,
    /// A message is not one: not JSON, no string `role`, nested too deep, too long.
    InvalidMessage,
    /// No image, or more than one, goes by that sha256 or prefix.
    NoSuchImage,
    /// A blob could not be read or written.
    Blob,
    /// The log was changed by somebody who does not hold the lock, or an earlier failure left its end unknown.
    /// Open the conversation again.
    Stale,
    /// The log cannot be trusted for this operation (a sweep needs every line to be readable).
    Damaged,
    /// The operating system refused.
    Io,
}

impl ConversationErrorKind {
    /// A stable name.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NotFound => "conversation_not_found",
            Self::Locked => "conversation_locked",
            Self::InvalidMessage => "invalid_message",
            Self::NoSuchImage => "no_such_image",
            Self::Blob => "store_failed",
            Self::Stale => "conversation_stale",
            Self::Damaged => "conversation_damaged",
            Self::Io => "io_error",
        }
    }
}

/// An operation on a conversation failed; nothing that was acknowledged before is lost by it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ConversationError(Box<Inner>);

#[derive(Debug, thiserror::Error)]
enum Inner {
    #[error("there is no conversation at \"{}\": no {} there", clean(&.0.to_string_lossy()), crate::log::LOG_NAME)]
    NotFound(PathBuf),
    #[error(
        "the conversation at \"{}\" is being written by {}; waited {} s for it", clean(&.dir.to_string_lossy()),
        clean(.holder), .waited.as_secs_f32()
    )]
    Locked { dir: PathBuf, holder: String, waited: Duration },
    #[error("{0}")]
    InvalidMessage(String),
    #[error("{0}")]
    NoSuchImage(String),
    #[error("{context}: {error}")]
    Blob { context: String, error: BlobError },
    #[error("{0}")]
    Stale(String),
    #[error("{0}")]
    Damaged(String),
    #[error("could not {operation} \"{}\": {error}", clean(&.path.to_string_lossy()))]
    Io { operation: &'static str, path: PathBuf, error: io::Error },
}

impl ConversationError {
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ConversationErrorKind {
        match *self.0 {
            Inner::NotFound(_) => ConversationErrorKind::NotFound,
            Inner::Locked { .. } => ConversationErrorKind::Locked,
            Inner::InvalidMessage(_) => ConversationErrorKind::InvalidMessage,
            Inner::NoSuchImage(_) => ConversationErrorKind::NoSuchImage,
            Inner::Blob { .. } => ConversationErrorKind::Blob,
            Inner::Stale(_) => ConversationErrorKind::Stale,
            Inner::Damaged(_) => ConversationErrorKind::Damaged,
            Inner::Io { .. } => ConversationErrorKind::Io,
        }
    }

    /// The kind's stable name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.kind().code()
    }

    pub(crate) fn not_found(dir: &Path) -> Self {
        Inner::NotFound(dir.to_owned()).into()
    }

    pub(crate) fn locked(dir: &Path, holder: &str, waited: Duration) -> Self {
        Inner::Locked { dir: dir.to_owned(), holder: holder.to_owned(), waited }.into()
    }

    pub(crate) fn invalid_message(text: impl Into<String>) -> Self {
        Inner::InvalidMessage(text.into()).into()
    }

    pub(crate) fn no_such_image(text: impl Into<String>) -> Self {
        Inner::NoSuchImage(text.into()).into()
    }

    pub(crate) fn blob(context: impl Into<String>, error: BlobError) -> Self {
        Inner::Blob { context: context.into(), error }.into()
    }

    pub(crate) fn stale(text: impl Into<String>) -> Self {
        Inner::Stale(text.into()).into()
    }

    pub(crate) fn damaged(text: impl Into<String>) -> Self {
        Inner::Damaged(text.into()).into()
    }

    pub(crate) fn io(operation: &'static str, path: &Path, error: io::Error) -> Self {
        Inner::Io { operation, path: path.to_owned(), error }.into()
    }
}

impl From<Inner> for ConversationError {
    fn from(inner: Inner) -> Self {
        Self(Box::new(inner))
    }
}
