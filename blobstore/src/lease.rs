//! Blobs that a sweep must not take.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::BlobId;

/// While any clone of it lives, no sweep in this process deletes the blob.
///
/// A store takes it before it looks whether the blob is already there, so there is no moment at which a caller
/// relies on an old blob that a sweep may still take. Keep it until the record that names the blob is durable.
#[derive(Clone)]
pub struct Lease(Arc<Hold>);

struct Hold {
    id: BlobId,
    leases: Leases,
}

/// The leases of one store: for those who implement [`BlobStore`](crate::BlobStore). Clones share them.
#[derive(Clone, Default)]
pub struct Leases(Arc<Mutex<HashMap<BlobId, usize>>>);

/// Leases that do not keep themselves alive.
#[cfg(unix)]
pub(crate) struct WeakLeases(Weak<Mutex<HashMap<BlobId, usize>>>);

#[cfg(unix)]
impl WeakLeases {
    pub(crate) fn upgrade(&self) -> Option<Leases> {
        self.0.upgrade().map(Leases)
    }
}

impl Lease {
    /// The blob that is held.
    pub fn id(&self) -> BlobId {
        self.0.id
    }
}

impl Leases {
    /// No leases yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Holds a blob, whether it exists or not.
    pub fn hold(&self, id: BlobId) -> Lease {
        *self.counts().entry(id).or_insert(0) += 1;
        Lease(Arc::new(Hold { id, leases: self.clone() }))
    }

    /// Whether a lease on the blob lives at this moment.
    pub fn is_held(&self, id: BlobId) -> bool {
        self.counts().contains_key(&id)
    }

    /// Runs `remove` unless the blob is held. No lease can be taken while it runs, so keep it short: a look and an
    /// unlink.
    pub fn unless_held<T>(&self, id: BlobId, remove: impl FnOnce() -> T) -> Option<T> {
        let counts = self.counts();
        (!counts.contains_key(&id)).then(remove)
    }

    #[cfg(unix)]
    pub(crate) fn downgrade(&self) -> WeakLeases {
        WeakLeases(Arc::downgrade(&self.0))
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<BlobId, usize>> {
        // Every update is one statement, so a panic elsewhere leaves the counts right.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut counts = self.leases.counts();
        if let Some(count) = counts.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.id);
            }
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Lease").field(&self.0.id).finish()
    }
}

impl fmt::Debug for Leases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Leases").field(&self.counts().len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_clone_lets_go() {
        let leases = Leases::new();
        let (a, b) = (BlobId::of(b"a"), BlobId::of(b"b"));
        let first = leases.hold(a);
        let second = leases.hold(a);
        let clone = first.clone();
        for lease in [first, second, clone] {
            assert!(leases.is_held(a));
            assert_eq!(leases.unless_held(a, || ()), None);
            drop(lease);
        }
        assert_eq!(leases.unless_held(a, || ()), Some(()));
        assert!(!leases.is_held(b));
        assert_eq!(leases.counts().len(), 0);
    }
}
