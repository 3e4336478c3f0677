//! Blobs as files of one directory.

mod barrier;
mod folder;
mod identity;
mod keep;
mod known;
mod leases;
mod publish;
mod read;
mod steps;
#[cfg(test)]
mod tests;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;

use self::barrier::Barrier;
use self::folder::Folder;
use self::known::Known;
use self::steps::{Steps, Straight};
use crate::blocking::blocking;
use crate::store::{BlobStore, Durability, Inventory, Stored, Verdict};
use crate::{BlobError, BlobErrorKind, BlobId, Leases};

const DEFAULT_CACHE_BYTES: u64 = 16 * 1024 * 1024;
/// Up to so many blobs are looked for in memory right here, on the caller's thread.
const FEW: usize = 32;

/// Blobs as files of one directory, each under its sha256 without an extension.
///
/// ```text
/// blobs/                                     0700, made at the first write; a wider one is tightened then
///   ba7816bf…15ad                            0600, a blob
///   .tmp-4711-9f86d081884c7d65               a writer's private file; left behind only by a crash
///   ba7816bf…15ad.damaged-4711-2c26b46b68ff  a damaged blob that was moved aside
/// ```
///
/// Writing: a private file in the same directory, flushed, then renamed onto its name without replacing anything;
/// [`sync`](BlobStore::sync) flushes the directory. Where the file system cannot rename like that, safe fallbacks
/// apply. Of racing writers of equal bytes, in one process or many, one wins and all succeed.
///
/// Reading: links are not followed, and every file is hashed when it is first read. After that it is trusted while
/// inode, size and times stay as they were, unless it was verified within 20 ms of its last change: the times of
/// two such changes may be equal, so the file is verified once more when it is next met. Bit rot leaves no trace in
/// the times; [`verify`](BlobStore::verify) and [`check`](crate::check()) hash whatever the store remembers.
///
/// A clone shares everything. Stores over one directory share their leases, if they are in one process.
#[derive(Clone, Debug)]
pub struct LocalStore(Arc<Store>);

/// The settings of a [`LocalStore`].
#[derive(Clone, Debug)]
pub struct LocalStoreBuilder {
    dir: PathBuf,
    durability: Durability,
    cache_bytes: u64,
    steps: Arc<dyn Steps>,
}

/// What the clones share. Everything in it blocks.
#[derive(Debug)]
struct Store {
    folder: Folder,
    durability: Durability,
    known: Known,
    barrier: Barrier,
    leases: Leases,
    steps: Arc<dyn Steps>,
}

impl LocalStore {
    /// The store in `dir` with [`Durability::Full`] and 16 MiB of cache. Nothing is created before the first write.
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self::builder(dir).build()
    }

    /// As [`new`](Self::new), to be set up further.
    pub fn builder(dir: impl Into<PathBuf>) -> LocalStoreBuilder {
        LocalStoreBuilder {
            dir: dir.into(),
            durability: Durability::Full,
            cache_bytes: DEFAULT_CACHE_BYTES,
            steps: Arc::new(Straight),
        }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        self.0.folder.path()
    }

    /// What a power cut may take.
    pub fn durability(&self) -> Durability {
        self.0.durability
    }

    /// [`stage`](BlobStore::stage) on this thread, without a runtime. The bytes are not kept in memory.
    ///
    /// # Errors
    /// As there.
    pub fn stage_blocking(&self, bytes: &[u8]) -> Result<Stored, BlobError> {
        self.0.stage(bytes, None)
    }

    /// [`stage_many`](BlobStore::stage_many) on this thread, without a runtime.
    pub fn stage_many_blocking(&self, blobs: &[Bytes]) -> Vec<Result<Stored, BlobError>> {
        self.0.stage_many(blobs)
    }

    /// [`sync`](BlobStore::sync) on this thread, without a runtime.
    ///
    /// # Errors
    /// As there.
    pub fn sync_blocking(&self) -> Result<(), BlobError> {
        self.0.sync()
    }

    /// [`get`](BlobStore::get) on this thread, without a runtime.
    ///
    /// # Errors
    /// As there.
    pub fn get_blocking(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        self.0.get(id, expected_len)
    }

    /// Runs a blocking operation off the async threads.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce(&Store) -> T + Send + 'static) -> T {
        let store = self.0.clone();
        blocking(move || work(&store)).await
    }
}

impl LocalStoreBuilder {
    /// What a power cut may take.
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How many bytes of verified blobs are kept in memory, the least recently used going first; 0 keeps none.
    pub fn cache_bytes(mut self, cache_bytes: u64) -> Self {
        self.cache_bytes = cache_bytes;
        self
    }

    /// The store.
    pub fn build(self) -> LocalStore {
        LocalStore(Arc::new(Store {
            leases: leases::of(&self.dir),
            folder: Folder::new(self.dir),
            durability: self.durability,
            known: Known::new(self.cache_bytes),
            barrier: Barrier::default(),
            steps: self.steps,
        }))
    }
}

impl Store {
    fn error(&self, operation: &'static str, id: BlobId, kind: BlobErrorKind) -> BlobError {
        BlobError::new(operation, self.location(id), kind)
    }

    fn io_error(&self, operation: &'static str, id: BlobId, error: impl Into<io::Error>) -> BlobError {
        BlobError::io(operation, self.location(id), error)
    }

    fn location(&self, id: BlobId) -> String {
        id.with_hex(|name| self.folder.path().join(name).display().to_string())
    }
}

#[async_trait]
impl BlobStore for LocalStore {
    async fn stage(&self, bytes: Bytes) -> Result<Stored, BlobError> {
        self.run(move |store| store.stage(&bytes, Some(bytes.clone()))).await
    }

    async fn stage_many(&self, blobs: Vec<Bytes>) -> Vec<Result<Stored, BlobError>> {
        self.run(move |store| store.stage_many(&blobs)).await
    }

    fn local(&self) -> Option<Self> {
        Some(self.clone())
    }

    async fn sync(&self) -> Result<(), BlobError> {
        if self.0.is_synced() {
            return Ok(());
        }
        self.run(Store::sync).await
    }

    async fn get(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        self.run(move |store| store.get(id, expected_len)).await
    }

    async fn get_many(&self, wanted: &[(BlobId, Option<u64>)]) -> Vec<Result<Bytes, BlobError>> {
        // Blobs that are still in memory cost one `stat` each, which is less than the way to another thread and back.
        if wanted.len() <= FEW
            && let Some(found) = self.0.all_remembered(wanted)
        {
            return found;
        }
        let asked = wanted.to_vec();
        self.run(move |store| store.get_many(&asked)).await
    }

    async fn contains(&self, id: BlobId) -> Result<Option<u64>, BlobError> {
        self.run(move |store| store.contains(id)).await
    }

    async fn contains_many(&self, ids: &[BlobId]) -> Vec<Result<Option<u64>, BlobError>> {
        let ids = ids.to_vec();
        self.run(move |store| ids.into_iter().map(|id| store.contains(id)).collect()).await
    }

    async fn inventory(&self) -> Result<Inventory, BlobError> {
        self.run(Store::inventory).await
    }

    async fn verify(&self, id: BlobId) -> Result<Verdict, BlobError> {
        self.run(move |store| store.verify(id)).await
    }

    async fn remove_if_older(&self, id: BlobId, cutoff: SystemTime) -> Result<bool, BlobError> {
        self.run(move |store| store.remove_if_older(id, cutoff)).await
    }

    async fn remove_stale_temps(&self, cutoff: SystemTime) -> Result<Vec<String>, BlobError> {
        self.run(move |store| store.remove_stale_temps(cutoff)).await
    }

    async fn quarantine(&self, id: BlobId) -> Result<String, BlobError> {
        self.run(move |store| store.quarantine(id)).await
    }

    fn location(&self, id: BlobId) -> String {
        self.0.location(id)
    }
}
