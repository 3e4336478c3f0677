//! What can go wrong, in kinds a caller can branch on.

use std::fmt;
use std::io;

use crate::BlobId;

/// A store could not do what it was asked; names the operation and the path or id, and carries the cause.
#[derive(Debug)]
pub struct BlobError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    operation: &'static str,
    place: String,
    kind: BlobErrorKind,
    source: Option<io::Error>,
}

/// What a caller may want to tell apart: a missing blob is not a damaged one, and neither is an unreadable one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlobErrorKind {
    /// Nothing is stored under the id.
    Missing,
    /// The stored bytes are not those the id names.
    Damaged {
        /// The id asked for.
        expected: BlobId,
        /// What the stored bytes hash to.
        found: BlobId,
    },
    /// The blob has another length than the caller expected. Either the caller's record or the blob is wrong:
    /// [`verify`](crate::BlobStore::verify) tells which.
    WrongLength {
        /// The length asked for, in bytes.
        expected: u64,
        /// The stored length, in bytes.
        found: u64,
    },
    /// A link, a directory or a special file stands at the blob's name; it was neither followed nor replaced.
    NotABlob,
    /// More bytes than a store holds under one name.
    TooLarge {
        /// The length of the blob, in bytes.
        len: u64,
        /// The most a store accepts, in bytes.
        limit: u64,
    },
    /// Only damaged blobs are moved aside, and this one is whole.
    NotDamaged,
    /// The system refused; `StorageFull`, `PermissionDenied` and `ReadOnlyFilesystem` are worth telling apart.
    Io(io::ErrorKind),
}

impl BlobErrorKind {
    /// A stable word for logs and JSON.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Damaged { .. } => "damaged",
            Self::WrongLength { .. } => "wrong_length",
            Self::NotABlob => "not_a_blob",
            Self::TooLarge { .. } => "too_large",
            Self::NotDamaged => "not_damaged",
            Self::Io(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => "storage_full",
            Self::Io(io::ErrorKind::PermissionDenied) => "permission_denied",
            Self::Io(io::ErrorKind::ReadOnlyFilesystem) => "read_only",
            Self::Io(_) => "io",
        }
    }
}

impl BlobError {
    /// An error of a kind other than [`Io`](BlobErrorKind::Io): `operation` is a verb ("read"), `place` a path or id.
    pub fn new(operation: &'static str, place: impl Into<String>, kind: BlobErrorKind) -> Self {
        Self(Box::new(Inner { operation, place: place.into(), kind, source: None }))
    }

    /// An error of the system's.
    pub fn io(operation: &'static str, place: impl Into<String>, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        let kind = BlobErrorKind::Io(source.kind());
        Self(Box::new(Inner { operation, place: place.into(), kind, source: Some(source) }))
    }

    /// What went wrong, to branch on.
    pub fn kind(&self) -> BlobErrorKind {
        self.0.kind
    }

    /// The kind's stable word, as [`BlobErrorKind::code`].
    pub fn code(&self) -> &'static str {
        self.0.kind.code()
    }

    /// The path or id the operation was about.
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Whether nothing is stored under the id.
    pub fn is_missing(&self) -> bool {
        self.0.kind == BlobErrorKind::Missing
    }
}

impl fmt::Display for BlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { operation, place, kind, source } = &*self.0;
        write!(f, "cannot {operation} {place}: ")?;
        match kind {
            BlobErrorKind::Missing => f.write_str("no such blob"),
            BlobErrorKind::Damaged { expected, found } => write!(f, "its bytes hash to {found}, not to {expected}"),
            BlobErrorKind::WrongLength { expected, found } => write!(f, "it holds {found} bytes, not {expected}"),
            BlobErrorKind::NotABlob => f.write_str("not a regular file"),
            BlobErrorKind::TooLarge { len, limit } => write!(f, "{len} bytes are more than the limit of {limit}"),
            BlobErrorKind::NotDamaged => f.write_str("it is whole"),
            BlobErrorKind::Io(kind) => match source {
                Some(source) => fmt::Display::fmt(source, f),
                None => fmt::Display::fmt(kind, f),
            },
        }
    }
}

impl std::error::Error for BlobError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The system's error is already in the text; its own cause is what comes next.
        self.0.source.as_ref().and_then(|source| source.get_ref()).and_then(|inner| inner.source())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_where_and_why() {
        let (a, b) = (BlobId::of(b"a"), BlobId::of(b"b"));
        let cases = [
            (BlobErrorKind::Missing, "missing", "no such blob".to_owned()),
            (BlobErrorKind::Damaged { expected: a, found: b }, "damaged", format!("its bytes hash to {b}, not to {a}")),
            (
                BlobErrorKind::WrongLength { expected: 1, found: 2 },
                "wrong_length",
                "it holds 2 bytes, not 1".to_owned(),
            ),
            (BlobErrorKind::NotABlob, "not_a_blob", "not a regular file".to_owned()),
            (
                BlobErrorKind::TooLarge { len: 9, limit: 8 },
                "too_large",
                "9 bytes are more than the limit of 8".to_owned(),
            ),
        ];
        for (kind, code, why) in cases {
            let error = BlobError::new("read", "blobs/x", kind);
            assert_eq!((error.code(), error.to_string()), (code, format!("cannot read blobs/x: {why}")));
        }
    }

    #[test]
    fn tells_a_full_disk_from_a_refused_one() {
        let cases = [
            (io::ErrorKind::StorageFull, "storage_full"),
            (io::ErrorKind::QuotaExceeded, "storage_full"),
            (io::ErrorKind::PermissionDenied, "permission_denied"),
            (io::ErrorKind::ReadOnlyFilesystem, "read_only"),
            (io::ErrorKind::Other, "io"),
        ];
        for (kind, code) in cases {
            let error = BlobError::io("write", "blobs/x", kind);
            assert_eq!((error.kind(), error.code()), (BlobErrorKind::Io(kind), code));
        }
    }
}
