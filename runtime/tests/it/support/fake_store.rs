//! A store that fails when it is told to.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use attache_runtime::blobstore::{Inventory, Stored, Verdict};
use attache_runtime::{BlobError, BlobId, BlobStore, MemoryStore};

use bytes::Bytes;

/// A store in memory whose `stage` fails for certain bytes, and whose `sync` fails or hangs while it is told to.
#[derive(Debug, Default)]
pub(crate) struct FakeStore {
    inner: MemoryStore,
    poison: Mutex<HashSet<Vec<u8>>>,
    pub(crate) sync_fails: AtomicBool,
    pub(crate) sync_hangs: AtomicBool,
    pub(crate) staged: AtomicUsize,
    pub(crate) synced: AtomicUsize,
}

impl FakeStore {
    pub(crate) fn fail_for(&self, bytes: &[u8]) {
        self.poison.lock().unwrap().insert(bytes.to_vec());
    }

    fn failure() -> BlobError {
        BlobError::io("store", "/secret/place/blobs", std::io::Error::from(std::io::ErrorKind::StorageFull))
    }
}

#[async_trait::async_trait]
impl BlobStore for FakeStore {
    async fn stage(&self, bytes: Bytes) -> Result<Stored, BlobError> {
        self.staged.fetch_add(1, Ordering::SeqCst);
        // Some take longer than others, so that they finish in another order than they began.
        for _ in 0..bytes.last().map_or(0, |last| last % 8) {
            tokio::task::yield_now().await;
        }
        if self.poison.lock().unwrap().contains(&bytes[..]) {
            return Err(Self::failure());
        }
        self.inner.stage(bytes).await
    }

    async fn sync(&self) -> Result<(), BlobError> {
        self.synced.fetch_add(1, Ordering::SeqCst);
        if self.sync_hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if self.sync_fails.load(Ordering::SeqCst) { Err(Self::failure()) } else { self.inner.sync().await }
    }

    async fn get(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        self.inner.get(id, expected_len).await
    }

    async fn contains(&self, id: BlobId) -> Result<Option<u64>, BlobError> {
        self.inner.contains(id).await
    }

    async fn inventory(&self) -> Result<Inventory, BlobError> {
        self.inner.inventory().await
    }

    async fn verify(&self, id: BlobId) -> Result<Verdict, BlobError> {
        self.inner.verify(id).await
    }

    async fn remove_if_older(&self, id: BlobId, cutoff: SystemTime) -> Result<bool, BlobError> {
        self.inner.remove_if_older(id, cutoff).await
    }

    async fn quarantine(&self, id: BlobId) -> Result<String, BlobError> {
        self.inner.quarantine(id).await
    }

    fn location(&self, id: BlobId) -> String {
        self.inner.location(id)
    }
}
