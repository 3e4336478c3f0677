//! What every store promises.

use std::fmt::Debug;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;
use serde::Serialize;

use crate::{BlobError, BlobId, Lease, LocalStore};

/// The most bytes a store accepts or hands out under one id: 72 MiB, which leaves room above the largest image any
/// setting admits (64 MiB).
pub const MAX_BLOB_BYTES: u64 = 72 * 1024 * 1024;

/// What a power cut may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Durability {
    /// Nothing that [`sync`](BlobStore::sync) returned for: files, names and newly made directories are on the disk.
    #[default]
    Full,
    /// Whatever the system had not written back yet. A crash of the process alone still loses nothing.
    Os,
}

/// Bytes stored once, by their sha256.
///
/// # Contract
/// - A blob is visible under its id whole or not at all; equal content from many writers is stored once, and all
///   of them succeed.
/// - A blob is durable when [`sync`](Self::sync) has returned after its [`stage`](Self::stage). Write the record
///   that names it only then, and keep the [`Lease`] until that record is durable too.
/// - Nothing is returned unverified: what [`get`](Self::get) hands out hashes to the id.
/// - Stores are shared by reference between tasks; a future that is dropped midway leaves either the whole blob or
///   none.
#[async_trait]
pub trait BlobStore: Send + Sync + Debug {
    /// Hashes the bytes once and publishes them under their id; with [`Durability::Full`] the bytes are on the disk,
    /// yet the name may not survive a power cut until [`sync`](Self::sync).
    ///
    /// An existing blob of the same id is used if it is whole and replaced if it is damaged.
    ///
    /// # Errors
    /// `TooLarge` above [`MAX_BLOB_BYTES`]; `NotABlob` if something else stands at the name; `Io`. Nothing is
    /// published then.
    async fn stage(&self, bytes: Bytes) -> Result<Stored, BlobError>;

    /// [`stage`](Self::stage)s several blobs, answered in the order given. A store that has to hash them does so for
    /// less than one after the other.
    async fn stage_many(&self, blobs: Vec<Bytes>) -> Vec<Result<Stored, BlobError>> {
        let mut staged = Vec::with_capacity(blobs.len());
        for bytes in blobs {
            staged.push(self.stage(bytes).await);
        }
        staged
    }

    /// The same store, if it is one on this machine: who has the bytes on a thread that may block then stages them right
    /// there, by [`LocalStore::stage_many_blocking`](crate::LocalStore::stage_many_blocking).
    fn local(&self) -> Option<LocalStore> {
        None
    }

    /// One durability barrier for everything staged before the call, by any task; cheap when nothing is pending.
    ///
    /// # Errors
    /// `Io`: nothing staged since the last barrier may be relied on. A later call does not pretend otherwise.
    async fn sync(&self) -> Result<(), BlobError>;

    /// [`stage`](Self::stage), then [`sync`](Self::sync): the blob is durable when this returns.
    ///
    /// # Errors
    /// As those two.
    async fn put(&self, bytes: Bytes) -> Result<Stored, BlobError> {
        let stored = self.stage(bytes).await?;
        self.sync().await?;
        Ok(stored)
    }

    /// The verified bytes of a blob; `expected_len` is the length the caller's record gives, in bytes.
    ///
    /// # Errors
    /// `Missing`, `WrongLength`, `Damaged`, `NotABlob`, `TooLarge`, `Io`.
    async fn get(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError>;

    /// Several blobs, answered in the order asked.
    async fn get_many(&self, wanted: &[(BlobId, Option<u64>)]) -> Vec<Result<Bytes, BlobError>> {
        let mut found = Vec::with_capacity(wanted.len());
        for &(id, expected_len) in wanted {
            found.push(self.get(id, expected_len).await);
        }
        found
    }

    /// The length of a blob in bytes, `None` if there is none. Looks at the name alone: the blob may be damaged.
    ///
    /// # Errors
    /// `NotABlob`, `Io`.
    async fn contains(&self, id: BlobId) -> Result<Option<u64>, BlobError>;

    /// [`contains`](Self::contains) for several blobs, answered in the order asked.
    async fn contains_many(&self, ids: &[BlobId]) -> Vec<Result<Option<u64>, BlobError>> {
        let mut found = Vec::with_capacity(ids.len());
        for &id in ids {
            found.push(self.contains(id).await);
        }
        found
    }

    /// Everything the store holds, sorted by id, and everything in it that is not a blob.
    ///
    /// # Errors
    /// `Io`.
    async fn inventory(&self) -> Result<Inventory, BlobError>;

    /// Reads and hashes the stored bytes, whatever the store remembers about them.
    ///
    /// # Errors
    /// `Io`: the bytes could not be read, which says nothing about them.
    async fn verify(&self, id: BlobId) -> Result<Verdict, BlobError>;

    /// Deletes a blob unless it was modified at or after `cutoff` or is leased; says whether it did. Age and lease
    /// are looked at immediately before the deletion.
    ///
    /// # Errors
    /// `NotABlob`, `Io`.
    async fn remove_if_older(&self, id: BlobId, cutoff: SystemTime) -> Result<bool, BlobError>;

    /// Deletes temporary files that writers left behind, if they were last written before `cutoff`; answers where
    /// they were. A store without such files has none to delete.
    ///
    /// # Errors
    /// `Io`.
    async fn remove_stale_temps(&self, cutoff: SystemTime) -> Result<Vec<String>, BlobError> {
        let _ = cutoff;
        Ok(Vec::new())
    }

    /// Moves a damaged blob aside, where it can be looked at, and answers where. Never deletes.
    ///
    /// # Errors
    /// `NotDamaged` for a whole blob, `Missing`, `NotABlob`, `Io`.
    async fn quarantine(&self, id: BlobId) -> Result<String, BlobError>;

    /// Where a blob of this id is or would be, for messages: a path or a URL.
    fn location(&self, id: BlobId) -> String;
}

/// A blob that is stored.
#[derive(Clone, Debug)]
pub struct Stored {
    /// Its name.
    pub id: BlobId,
    /// Its length in bytes.
    pub len: u64,
    /// Whether this call brought it: `false` if equal bytes were there already and whole.
    pub new: bool,
    /// Keeps sweeps in this process off the blob; hold it until the record that names the blob is durable.
    pub lease: Lease,
}

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The blobs, sorted by id. Nothing was hashed.
    pub blobs: Vec<BlobInfo>,
    /// Everything else, sorted by path.
    pub foreign: Vec<Foreign>,
}

/// One blob as the store lists it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobInfo {
    /// Its name.
    pub id: BlobId,
    /// Its length in bytes.
    pub len: u64,
    /// When it was stored, or last found there by a writer of equal bytes.
    pub modified: SystemTime,
    /// Whether a lease in this process protects it from sweeps.
    pub leased: bool,
}

/// Something in the store that is not a blob.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Foreign {
    /// Where it is.
    pub path: String,
    /// Why it is not a blob.
    pub reason: ForeignReason,
    /// When it was last modified, where the store knows.
    #[serde(skip)]
    pub modified: Option<SystemTime>,
}

/// Why an entry of the store is not a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ForeignReason {
    /// The name is not 64 lowercase hex digits.
    WrongName,
    /// A symbolic link.
    Link,
    /// A directory.
    Directory,
    /// A FIFO, socket or device.
    Special,
    /// A writer's temporary file: in use, or left behind by a crash.
    Temp,
    /// A damaged blob that was moved aside.
    Quarantined,
}

impl ForeignReason {
    /// A stable word for logs and JSON.
    pub const fn code(self) -> &'static str {
        match self {
            Self::WrongName => "wrong_name",
            Self::Link => "link",
            Self::Directory => "directory",
            Self::Special => "special",
            Self::Temp => "temp",
            Self::Quarantined => "quarantined",
        }
    }
}

/// What re-hashing a blob said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// The bytes are those the id names.
    Good {
        /// Their length.
        len: u64,
    },
    /// The bytes are others.
    Damaged {
        /// Their length.
        found_len: u64,
        /// Their sha256.
        found_digest: BlobId,
    },
    /// Nothing stands at the name.
    Missing,
    /// Something stands at the name that is not a file.
    NotABlob(ForeignReason),
}
