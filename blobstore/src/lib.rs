//! Bytes stored once by their sha256: durable puts, verified reads, sweep and check.

mod check;
mod error;
mod id;
mod lease;
#[cfg(unix)]
mod local;
mod memory;
mod store;
mod sweep;

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
