//! One flush of the directory for everything staged before it.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Store, steps};
use crate::{BlobError, BlobId, Durability};

/// Which names may not be on the disk yet.
#[derive(Debug, Default)]
pub(super) struct Barrier {
    pending: Mutex<Pending>,
    /// Held while flushing, so that whoever comes meanwhile waits for the flush that covers it.
    flushing: Mutex<()>,
}

#[derive(Debug, Default)]
struct Pending {
    /// Published since the last flush began.
    staged: Vec<BlobId>,
    /// Covered by a flush that failed. The system forgets what it could not write, and a second flush succeeds over
    /// nothing, so these count only once they have been written again.
    lost: BTreeSet<BlobId>,
    running: bool,
}

impl Barrier {
    /// A blob was published, or found and flushed.
    pub(super) fn staged(&self, id: BlobId) {
        let mut pending = self.pending();
        pending.lost.remove(&id);
        pending.staged.push(id);
    }

    /// Whether a flush that covered the blob's name failed.
    pub(super) fn is_lost(&self, id: BlobId) -> bool {
        self.pending().lost.contains(&id)
    }

    fn is_idle(&self) -> bool {
        let pending = self.pending();
        pending.staged.is_empty() && pending.lost.is_empty() && !pending.running
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        // Each change is a single one of its collections'.
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store {
    /// Whether [`sync`](Self::sync) has nothing to do and nobody to wait for.
    pub(super) fn is_synced(&self) -> bool {
        self.durability == Durability::Os || (self.barrier.is_idle() && !self.folder.has_unsynced())
    }

    /// Flushes every name staged before the call.
    pub(super) fn sync(&self) -> Result<(), BlobError> {
        if self.is_synced() {
            return Ok(());
        }
        let _flushing = self.barrier.flushing.lock().unwrap_or_else(PoisonError::into_inner);
        self.recover_lost()?;
        let staged = {
            let mut pending = self.barrier.pending();
            pending.running = true;
            std::mem::take(&mut pending.staged)
        };
        let flushed = self.flush(!staged.is_empty());
        let mut pending = self.barrier.pending();
        pending.running = false;
        if flushed.is_err() {
            pending.lost.extend(staged);
        }
        flushed
    }

    fn flush(&self, names: bool) -> Result<(), BlobError> {
        let failed = |path: &std::path::Path, error| BlobError::io("flush", path.display().to_string(), error);
        if names {
            let dir = self.folder.path();
            let gone = || std::io::Error::from(std::io::ErrorKind::NotFound);
            let handle = self.folder.current().map_err(|errno| failed(dir, errno.into()))?;
            let handle = handle.ok_or_else(|| failed(dir, gone()))?;
            steps::sync_dir(&*self.steps, &handle).map_err(|error| failed(dir, error))?;
        }
        let mut parents = self.folder.take_unsynced();
        while let Some(parent) = parents.last() {
            let handle = steps::open_dir(parent).map_err(std::io::Error::from);
            if let Err(error) = handle.and_then(|handle| steps::sync_dir(&*self.steps, &handle)) {
                let error = failed(parent, error);
                self.folder.put_unsynced(parents);
                return Err(error);
            }
            parents.pop();
        }
        Ok(())
    }

    /// Writes again what a failed flush left in doubt.
    fn recover_lost(&self) -> Result<(), BlobError> {
        let lost: Vec<BlobId> = self.barrier.pending().lost.iter().copied().collect();
        for id in lost {
            match self.get(id, None).and_then(|bytes| self.rewrite(id, &bytes)) {
                Ok(()) => self.barrier.staged(id),
                Err(error) => {
                    // Said once: a blob that is gone cannot be flushed by anyone, and whoever staged it was told.
                    if error.is_missing() {
                        self.barrier.pending().lost.remove(&id);
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}
