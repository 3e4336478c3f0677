//! What this process has verified, and the bytes it still holds.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;

use super::identity::Identity;
use crate::BlobId;

/// How many verified files are remembered, at about 100 bytes each; beyond it all are forgotten, which costs one
/// verification each.
const MAX_FILES: usize = 65_536;

/// Shared by all threads of a store. Everything in it was verified; forgetting any of it costs only time.
#[derive(Debug)]
pub(super) struct Known(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    files: HashMap<BlobId, Verified>,
    cache: Cache,
}

#[derive(Clone, Copy, Debug)]
struct Verified {
    identity: Identity,
    /// The file was flushed and its name is before or behind the next barrier.
    durable: bool,
}

impl Known {
    pub(super) fn new(cache_bytes: u64) -> Self {
        Self(Mutex::new(Inner { files: HashMap::new(), cache: Cache::new(cache_bytes) }))
    }

    /// Whether this very file was verified, and since when nothing could have changed unseen.
    pub(super) fn is_verified(&self, id: BlobId, identity: &Identity) -> bool {
        self.inner().files.get(&id).is_some_and(|file| file.identity == *identity)
    }

    /// Whether this very file was verified and flushed.
    pub(super) fn is_durable(&self, id: BlobId, identity: &Identity) -> bool {
        self.inner().files.get(&id).is_some_and(|file| file.identity == *identity && file.durable)
    }

    /// Remembers a verification that began at `began`, or forgets the file if it is not to be relied on.
    pub(super) fn record(&self, id: BlobId, identity: Identity, durable: bool, began: SystemTime) {
        let mut inner = self.inner();
        if !identity.is_settled(began) {
            inner.files.remove(&id);
            return;
        }
        if inner.files.len() >= MAX_FILES {
            inner.files.clear();
        }
        let file = inner.files.entry(id).or_insert(Verified { identity, durable });
        let durable = durable || (file.identity == identity && file.durable);
        *file = Verified { identity, durable };
    }

    /// The bytes of a blob, right whatever became of its file.
    pub(super) fn bytes(&self, id: BlobId) -> Option<Bytes> {
        self.inner().cache.get(id)
    }

    /// Keeps verified bytes as long as there is room.
    pub(super) fn keep(&self, id: BlobId, bytes: Bytes) {
        // What is pushed out is dropped after the lock: freeing a large buffer takes a system call.
        let _evicted = self.inner().cache.insert(id, bytes);
    }

    /// Forgets a blob, bytes and all.
    pub(super) fn forget(&self, id: BlobId) {
        let _bytes = {
            let mut inner = self.inner();
            inner.files.remove(&id);
            inner.cache.remove(id)
        };
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic in here leaves at worst a count of bytes wrong, never bytes under a wrong id.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes by id, the least recently used going first.
#[derive(Debug)]
struct Cache {
    capacity: u64,
    used: u64,
    clock: u64,
    entries: HashMap<BlobId, (u64, Bytes)>,
    /// When an entry was last used, oldest first.
    order: BTreeMap<u64, BlobId>,
}

impl Cache {
    fn new(capacity: u64) -> Self {
        Self { capacity, used: 0, clock: 0, entries: HashMap::new(), order: BTreeMap::new() }
    }

    fn get(&mut self, id: BlobId) -> Option<Bytes> {
        let (tick, bytes) = self.entries.get_mut(&id)?;
        self.order.remove(tick);
        self.clock += 1;
        *tick = self.clock;
        self.order.insert(self.clock, id);
        Some(bytes.clone())
    }

    fn insert(&mut self, id: BlobId, bytes: Bytes) -> Vec<Bytes> {
        let len = bytes.len() as u64;
        let mut evicted = Vec::new();
        if len > self.capacity || self.get(id).is_some() {
            return evicted;
        }
        while self.used + len > self.capacity {
            let Some(oldest) = self.order.first_key_value().map(|(_, &id)| id) else { break };
            evicted.extend(self.remove(oldest));
        }
        self.clock += 1;
        self.used += len;
        self.order.insert(self.clock, id);
        self.entries.insert(id, (self.clock, bytes));
        evicted
    }

    fn remove(&mut self, id: BlobId) -> Option<Bytes> {
        let (tick, bytes) = self.entries.remove(&id)?;
        self.order.remove(&tick);
        self.used -= bytes.len() as u64;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_cache_stays_within_its_bytes_and_keeps_the_newest(
            capacity in 0u64..64,
            steps in proptest::collection::vec((0u8..8, 0usize..24, any::<bool>()), 0..64),
        ) {
            let mut cache = Cache::new(capacity);
            let mut lens = HashMap::new();
            for (name, len, read) in steps {
                let id = BlobId::of(&[name]);
                // One id has one content, hence one length.
                let len = *lens.entry(id).or_insert(len);
                if read {
                    let held = cache.get(id);
                    prop_assert!(held.is_none_or(|bytes| bytes.len() == len));
                } else {
                    cache.insert(id, vec![name; len].into());
                    prop_assert_eq!(cache.get(id).is_some(), len as u64 <= capacity);
                }
                let sum: usize = cache.entries.values().map(|(_, bytes)| bytes.len()).sum();
                prop_assert_eq!(cache.used, sum as u64);
                prop_assert!(cache.used <= capacity);
                prop_assert_eq!(cache.order.len(), cache.entries.len());
            }
        }
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let mut cache = Cache::new(2);
        let ids = [b"a", b"b", b"c"].map(|name| BlobId::of(name));
        cache.insert(ids[0], "a".into());
        cache.insert(ids[1], "b".into());
        cache.get(ids[0]);
        cache.insert(ids[2], "c".into());
        assert_eq!(ids.map(|id| cache.get(id).is_some()), [true, false, true]);
    }
}
