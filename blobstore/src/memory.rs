//! A store without a disk.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use async_trait::async_trait;
use bytes::Bytes;

use crate::store::{BlobInfo, BlobStore, Foreign, ForeignReason, Inventory, MAX_BLOB_BYTES, Stored, Verdict};
use crate::{BlobError, BlobErrorKind, BlobId, Leases};

/// Blobs in memory, for tests and for embedders without a disk. Clones share the blobs; nothing outlives the last.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
    leases: Leases,
}

#[derive(Debug, Default)]
struct Shared {
    blobs: BTreeMap<BlobId, Held>,
    quarantined: Vec<(BlobId, Held)>,
}

#[derive(Debug)]
struct Held {
    bytes: Bytes,
    /// What the bytes hash to: not the name they are under, once a test has damaged them.
    digest: BlobId,
    modified: SystemTime,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts any bytes under any id, as a disk fault would, and dates them: for tests of what follows.
    pub fn plant(&self, id: BlobId, bytes: impl Into<Bytes>, modified: SystemTime) {
        let bytes = bytes.into();
        let digest = BlobId::of(&bytes);
        self.shared().blobs.insert(id, Held { bytes, digest, modified });
    }

    /// Forgets a blob, as a disk fault would; says whether it was there. Leases do not count.
    pub fn lose(&self, id: BlobId) -> bool {
        self.shared().blobs.remove(&id).is_some()
    }

    fn list(&self) -> Inventory {
        let shared = self.shared();
        let blob = |(&id, held): (&BlobId, &Held)| BlobInfo {
            id,
            len: held.bytes.len() as u64,
            modified: held.modified,
            leased: false,
        };
        let aside = |(number, (id, held)): (usize, &(BlobId, Held))| Foreign {
            path: aside(*id, number),
            reason: ForeignReason::Quarantined,
            modified: Some(held.modified),
        };
        let mut foreign: Vec<_> = shared.quarantined.iter().enumerate().map(aside).collect();
        foreign.sort_by(|a, b| a.path.cmp(&b.path));
        Inventory { blobs: shared.blobs.iter().map(blob).collect(), foreign }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // Every change is one map operation, so a panic elsewhere leaves the map whole.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl BlobStore for MemoryStore {
    async fn stage(&self, bytes: Bytes) -> Result<Stored, BlobError> {
        let len = bytes.len() as u64;
        if len > MAX_BLOB_BYTES {
            let kind = BlobErrorKind::TooLarge { len, limit: MAX_BLOB_BYTES };
            return Err(BlobError::new("store", "a blob", kind));
        }
        let id = BlobId::of(&bytes);
        let lease = self.leases.hold(id);
        let modified = SystemTime::now();
        let before = self.shared().blobs.insert(id, Held { bytes, digest: id, modified });
        let new = before.is_none_or(|held| held.digest != id);
        Ok(Stored { id, len, new, lease })
    }

    async fn sync(&self) -> Result<(), BlobError> {
        Ok(())
    }

    async fn get(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        let error = |kind| Err(BlobError::new("read", self.location(id), kind));
        let shared = self.shared();
        let Some(held) = shared.blobs.get(&id) else {
            return error(BlobErrorKind::Missing);
        };
        let found = held.bytes.len() as u64;
        match expected_len {
            Some(expected) if expected != found => error(BlobErrorKind::WrongLength { expected, found }),
            _ if held.digest != id => error(BlobErrorKind::Damaged { expected: id, found: held.digest }),
            _ => Ok(held.bytes.clone()),
        }
    }

    async fn contains(&self, id: BlobId) -> Result<Option<u64>, BlobError> {
        Ok(self.shared().blobs.get(&id).map(|held| held.bytes.len() as u64))
    }

    async fn inventory(&self) -> Result<Inventory, BlobError> {
        // Listed before the leases are asked: a removal locks the leases first and the blobs second.
        let mut inventory = self.list();
        for blob in &mut inventory.blobs {
            blob.leased = self.leases.is_held(blob.id);
        }
        Ok(inventory)
    }

    async fn verify(&self, id: BlobId) -> Result<Verdict, BlobError> {
        let Some(bytes) = self.shared().blobs.get(&id).map(|held| held.bytes.clone()) else {
            return Ok(Verdict::Missing);
        };
        let len = bytes.len() as u64;
        Ok(match BlobId::of(&bytes) {
            found if found == id => Verdict::Good { len },
            found_digest => Verdict::Damaged { found_len: len, found_digest },
        })
    }

    async fn remove_if_older(&self, id: BlobId, cutoff: SystemTime) -> Result<bool, BlobError> {
        let remove = || {
            let mut shared = self.shared();
            let old = shared.blobs.get(&id).is_some_and(|held| held.modified < cutoff);
            old && shared.blobs.remove(&id).is_some()
        };
        Ok(self.leases.unless_held(id, remove).unwrap_or(false))
    }

    async fn quarantine(&self, id: BlobId) -> Result<String, BlobError> {
        let error = |kind| Err(BlobError::new("move aside", self.location(id), kind));
        let mut shared = self.shared();
        match shared.blobs.remove(&id) {
            None => error(BlobErrorKind::Missing),
            Some(held) if held.digest == id => {
                shared.blobs.insert(id, held);
                error(BlobErrorKind::NotDamaged)
            }
            Some(held) => {
                shared.quarantined.push((id, held));
                Ok(aside(id, shared.quarantined.len() - 1))
            }
        }
    }

    fn location(&self, id: BlobId) -> String {
        format!("memory:{id}")
    }
}

fn aside(id: BlobId, number: usize) -> String {
    format!("memory:{id}.damaged-{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn conforms() {
        crate::conformance::all(&MemoryStore::new()).await;
    }

    #[tokio::test]
    async fn damage_is_noticed_healed_and_moved_aside() {
        let store = MemoryStore::new();
        let id = store.put("good".into()).await.unwrap().id;
        store.plant(id, "evil", SystemTime::now());
        let found = BlobId::of(b"evil");
        let error = store.get(id, Some(4)).await.unwrap_err();
        assert_eq!(error.kind(), BlobErrorKind::Damaged { expected: id, found });
        assert_eq!(store.verify(id).await.unwrap(), Verdict::Damaged { found_len: 4, found_digest: found });

        assert!(store.stage("good".into()).await.unwrap().new);
        assert_eq!(store.get(id, None).await.unwrap(), "good");

        store.plant(id, "evil", SystemTime::now());
        let aside = store.quarantine(id).await.unwrap();
        assert!(store.get(id, None).await.unwrap_err().is_missing());
        let foreign = store.inventory().await.unwrap().foreign;
        assert_eq!((foreign.len(), &foreign[0].path, foreign[0].reason), (1, &aside, ForeignReason::Quarantined));
        assert!(!store.lose(id));
    }
}
