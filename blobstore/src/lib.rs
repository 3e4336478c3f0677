//! Bytes stored once by their sha256: durable puts, verified reads, sweep and check.
//!
//! ```
//! use attache_blobstore::{BlobStore, LocalStore};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! let store = LocalStore::new(dir.path().join("blobs"));
//! let stored = store.put("bytes".into()).await?;
//! // Durable: now write the record that names it, then drop `stored.lease`.
//! assert_eq!(store.get(stored.id, Some(stored.len)).await?, "bytes");
//! # Ok(())
//! # }
//! ```
//!
//! Three rules make records trustworthy. A blob is durable before anything names it: [`BlobStore::stage`] as many as a
//! record needs, [`BlobStore::sync`] once, then write. Nothing is handed out that does not hash to its name. And only a
//! [`sweep()`] deletes, never what a record names, what a [`Lease`] holds or what is young.
//!
//! Why not a general object store: it knows neither of these rules, and the local ones either leave out the flushes or
//! pay for each blob what this crate pays once for all of a record's.

mod blocking;
mod check;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod error;
mod id;
mod lease;
#[cfg(unix)]
mod local;
mod memory;
mod store;
mod sweep;

pub use blocking::blocking;
pub use check::{
    BlobFinding, CheckOptions, CheckProgress, CheckReport, DamagedBlob, QuarantinedBlob, UnreadableBlob, WrongLength,
    check,
};
pub use error::{BlobError, BlobErrorKind};
pub use id::{BlobId, ParseBlobIdError};
pub use lease::{Lease, Leases};
#[cfg(unix)]
pub use local::{LocalStore, LocalStoreBuilder};
pub use memory::MemoryStore;
pub use store::{BlobInfo, BlobStore, Durability, Foreign, ForeignReason, Inventory, MAX_BLOB_BYTES, Stored, Verdict};
pub use sweep::{SweepOptions, SweepReport, sweep};
