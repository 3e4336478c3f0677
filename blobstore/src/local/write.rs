//! Staging: the bytes under their name, once.

use std::io;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use rustix::fs::{AtFlags, Mode, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use super::identity::Identity;
use super::publish::{Before, Outcome, publish};
use super::read::{Opened, holds};
use super::{Store, steps};
use crate::store::{Durability, MAX_BLOB_BYTES, Stored};
use crate::{BlobError, BlobErrorKind, BlobId};

/// A blob found at its name is marked as used if it was not within this time, so that a sweep by another process
/// spares it.
const FRESH: Duration = Duration::from_secs(60);

/// How often the name may change hands under a writer before it gives up: racing writers of equal bytes change it
/// once, a sweep once more.
const ATTEMPTS: usize = 16;

/// What stands at the name.
enum Existing {
    Absent,
    Damaged,
    Good,
    /// It changed while it was looked at.
    Changed,
}

impl Store {
    /// Publishes the bytes; `shared` are the same bytes, for the cache.
    pub(super) fn stage(&self, bytes: &[u8], shared: Option<Bytes>) -> Result<Stored, BlobError> {
        self.judge_new(bytes)?;
        self.stage_as(BlobId::of(bytes), bytes, shared)
    }

    /// Publishes each, two hashed at a time.
    pub(super) fn stage_many(&self, blobs: &[Bytes]) -> Vec<Result<Stored, BlobError>> {
        let mut staged = Vec::with_capacity(blobs.len());
        for pair in blobs.chunks(2) {
            match pair {
                [first, second] if pair.iter().all(|bytes| self.judge_new(bytes).is_ok()) => {
                    let ids = BlobId::of_two(first, second);
                    let each = ids.into_iter().zip(pair);
                    staged.extend(each.map(|(id, bytes)| self.stage_as(id, bytes, Some(bytes.clone()))));
                }
                _ => staged.extend(pair.iter().map(|bytes| self.stage(bytes, Some(bytes.clone())))),
            }
        }
        staged
    }

    /// Publishes the bytes, whose id is known already.
    fn stage_as(&self, id: BlobId, bytes: &[u8], shared: Option<Bytes>) -> Result<Stored, BlobError> {
        // Before the first look: whatever is found from here on cannot be swept by this process.
        let lease = self.leases.hold(id);
        let new = self.publish_once(id, bytes)?;
        if let Some(shared) = shared {
            self.known.keep(id, shared);
        }
        Ok(Stored { id, len: bytes.len() as u64, new, lease })
    }

    fn judge_new(&self, bytes: &[u8]) -> Result<(), BlobError> {
        let len = bytes.len() as u64;
        if len <= MAX_BLOB_BYTES {
            return Ok(());
        }
        let kind = BlobErrorKind::TooLarge { len, limit: MAX_BLOB_BYTES };
        Err(BlobError::new("store a blob in", self.folder.path().display().to_string(), kind))
    }

    /// Writes the bytes of a blob again, over what is there, so that its name is flushed anew.
    pub(super) fn rewrite(&self, id: BlobId, bytes: &[u8]) -> Result<(), BlobError> {
        let outcome = self.write(id, bytes, Before::Damaged).map_err(|error| self.io_error("store", id, error));
        outcome.map(|_| self.known.forget(id))
    }

    /// Whether the blob had to be written.
    fn publish_once(&self, id: BlobId, bytes: &[u8]) -> Result<bool, BlobError> {
        let mut last = io::Error::from(io::ErrorKind::ResourceBusy);
        for _ in 0..ATTEMPTS {
            // A blob that is already there needs a private and durable directory no less than a new one.
            self.folder.ready().map_err(|error| self.io_error("store", id, error))?;
            let before = match self.existing(id, bytes)? {
                Existing::Good => return Ok(false),
                Existing::Absent => Before::Absent,
                Existing::Damaged => Before::Damaged,
                Existing::Changed => continue,
            };
            match self.write(id, bytes, before) {
                Ok(Outcome::Published) => {
                    self.barrier.staged(id);
                    return Ok(true);
                }
                Ok(Outcome::Taken) => {}
                // The directory or the private file went away under our hands.
                Err(error) if error.kind() == io::ErrorKind::NotFound => last = error,
                Err(error) => return Err(self.io_error("store", id, error)),
            }
        }
        Err(self.io_error("store", id, last))
    }

    fn write(&self, id: BlobId, bytes: &[u8], before: Before) -> io::Result<Outcome> {
        let dir = self.folder.ready()?;
        let outcome = id.with_hex(|name| publish(&*self.steps, self.durability, &dir, name, bytes, before));
        if outcome.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            self.folder.drop_if_deleted(&dir);
        }
        outcome
    }

    /// Whether the name already holds these bytes, to the durability this store promises.
    fn existing(&self, id: BlobId, bytes: &[u8]) -> Result<Existing, BlobError> {
        let Some(identity) = self.look("store", id)? else { return Ok(Existing::Absent) };
        if self.barrier.is_lost(id) {
            // Its name may never reach the disk, however often it is flushed: it has to be written again.
            return Ok(Existing::Damaged);
        }
        let full = self.durability == Durability::Full;
        let trusted = if full { self.known.is_durable(id, &identity) } else { self.known.is_verified(id, &identity) };
        if trusted {
            return self.freshen(id, &identity);
        }
        let began = SystemTime::now();
        let Some(opened) = self.open_blob("store", id)? else { return Ok(Existing::Absent) };
        if opened.identity.len != bytes.len() as u64 {
            return Ok(Existing::Damaged);
        }
        let good = holds(&opened.file, bytes).map_err(|error| self.io_error("store", id, error))?;
        if !good {
            return Ok(Existing::Damaged);
        }
        if full {
            // Who wrote it may not have flushed it.
            steps::sync_file(&*self.steps, &opened.file).map_err(|error| self.io_error("store", id, error))?;
            self.barrier.staged(id);
        }
        self.settle(id, &opened, full, began)
    }

    /// Makes a blob that was found whole private and fresh, and remembers it.
    fn settle(&self, id: BlobId, opened: &Opened, durable: bool, began: SystemTime) -> Result<Existing, BlobError> {
        let failed = |errno: Errno| self.io_error("store", id, errno);
        if opened.mode.intersects(Mode::RWXG | Mode::RWXO)
            && let Err(error) = rustix::fs::fchmod(&opened.file, Mode::from_raw_mode(0o600))
        {
            tracing::debug!(%id, %error, "cannot make a blob private");
        }
        let identity = Identity::of(&rustix::fs::fstat(&opened.file).map_err(failed)?);
        if !identity.same_content(&opened.identity) {
            return Ok(Existing::Changed);
        }
        self.known.record(id, identity, durable, began);
        self.freshen(id, &identity)
    }

    /// Marks a whole blob as used, and makes sure that it is still there afterwards.
    fn freshen(&self, id: BlobId, identity: &Identity) -> Result<Existing, BlobError> {
        let stale = SystemTime::now().duration_since(identity.modified()).is_ok_and(|age| age > FRESH);
        if !stale {
            return Ok(Existing::Good);
        }
        self.touch(id);
        // A sweep by another process may have taken it between the look and the mark. The mark also changed the
        // identity, which is verified again when it is next met.
        match self.look("store", id)? {
            Some(now) if now.same_file(identity) => Ok(Existing::Good),
            Some(_) => Ok(Existing::Changed),
            None => Ok(Existing::Absent),
        }
    }

    fn touch(&self, id: BlobId) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        let Ok(Some(dir)) = self.folder.existing() else { return };
        let touched = id.with_hex(|name| rustix::fs::utimensat(&dir, name, &times, AtFlags::SYMLINK_NOFOLLOW));
        if let Err(error) = touched {
            // Somebody else's file, or a read-only mount, which nobody sweeps.
            tracing::debug!(%id, %error, "cannot freshen a blob");
        }
    }
}
