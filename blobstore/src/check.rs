//! Re-hashing everything.

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;

use futures_util::StreamExt;
use futures_util::stream;
use serde::Serialize;

use crate::store::{BlobStore, Foreign, ForeignReason, Verdict};
use crate::{BlobError, BlobId};

/// How a check goes about it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckOptions {
    /// Move damaged blobs aside, so that their bytes can be stored anew. Nothing is ever deleted.
    pub repair: bool,
    /// How many blobs are hashed at a time: as many as there are cores unless set. Each takes a fixed buffer, not
    /// its length, in memory.
    pub parallel: Option<NonZeroUsize>,
}

impl CheckOptions {
    /// Chooses whether damaged blobs are moved aside.
    pub fn with_repair(mut self, repair: bool) -> Self {
        self.repair = repair;
        self
    }

    /// Sets how many blobs are hashed at a time.
    pub fn with_parallel(mut self, parallel: NonZeroUsize) -> Self {
        self.parallel = Some(parallel);
        self
    }
}

/// How far a check has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckProgress {
    /// Blobs looked at.
    pub done: u64,
    /// Blobs to look at.
    pub total: u64,
    /// The length of those looked at, in bytes.
    pub bytes_done: u64,
    /// The length of all, in bytes.
    pub bytes_total: u64,
}

/// What a check found. Every list is sorted, and every entry carries its path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// How many blobs there are.
    pub blobs: u64,
    /// Their length in bytes.
    pub bytes: u64,
    /// Blobs that a root names and that are not there.
    pub missing: Vec<BlobFinding>,
    /// Blobs whose bytes are not those their id names.
    pub damaged: Vec<DamagedBlob>,
    /// Roots that give another length than their whole blob has: the record is wrong.
    pub wrong_length: Vec<WrongLength>,
    /// Blobs that could not be read, which may be whole.
    pub unreadable: Vec<UnreadableBlob>,
    /// Blobs that no root names: a sweep's business, not damage.
    pub orphaned: Vec<BlobFinding>,
    /// What is not a blob.
    pub foreign: Vec<Foreign>,
    /// Damaged blobs that this check moved aside.
    pub quarantined: Vec<QuarantinedBlob>,
}

impl CheckReport {
    /// Whether every root's blob is there and whole, and no blob is damaged or unreadable.
    pub fn is_ok(&self) -> bool {
        self.missing.is_empty() && self.damaged.is_empty() && self.wrong_length.is_empty() && self.unreadable.is_empty()
    }
}

/// A blob worth naming.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct BlobFinding {
    /// Its name.
    #[serde(rename = "sha256")]
    pub id: BlobId,
    /// Its length in bytes: the stored one, or the one the root gives if there is no blob.
    #[serde(rename = "bytes")]
    pub len: u64,
    /// Where it is or would be.
    pub path: String,
}

/// A blob whose bytes are not those its id names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct DamagedBlob {
    /// Its name.
    #[serde(rename = "sha256")]
    pub id: BlobId,
    /// Where it is.
    pub path: String,
    /// The length of the stored bytes.
    pub found_bytes: u64,
    /// What the stored bytes hash to.
    pub found_sha256: BlobId,
    /// Whether a root names it.
    pub named: bool,
}

/// A root that gives another length than its whole blob has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct WrongLength {
    /// The blob's name.
    #[serde(rename = "sha256")]
    pub id: BlobId,
    /// Where it is.
    pub path: String,
    /// The length the root gives.
    pub expected_bytes: u64,
    /// The blob's length.
    pub found_bytes: u64,
}

/// A blob that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnreadableBlob {
    /// Its name.
    #[serde(rename = "sha256")]
    pub id: BlobId,
    /// Where it is.
    pub path: String,
    /// What the system said.
    pub error: String,
}

/// A damaged blob that was moved aside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct QuarantinedBlob {
    /// Its name.
    #[serde(rename = "sha256")]
    pub id: BlobId,
    /// Where it was.
    pub path: String,
    /// Where it is now.
    pub moved_to: String,
}

/// Re-hashes every blob, on all cores and with bounded memory, and compares the store with the roots: the id and
/// length of every blob that a record names. An id may come several times.
///
/// `on_progress` is called once before the first blob and again after each.
///
/// # Errors
/// As [`BlobStore::inventory`] and [`BlobStore::quarantine`]; a blob that cannot be read is a finding, not an error.
pub async fn check(
    store: &dyn BlobStore,
    roots: impl IntoIterator<Item = (BlobId, u64)>,
    mut on_progress: impl FnMut(CheckProgress) + Send,
    options: CheckOptions,
) -> Result<CheckReport, BlobError> {
    let mut lengths: BTreeMap<BlobId, Vec<u64>> = BTreeMap::new();
    for (id, len) in roots {
        let known = lengths.entry(id).or_default();
        if !known.contains(&len) {
            known.push(len);
        }
    }
    let inventory = store.inventory().await?;
    let listed: HashSet<BlobId> = inventory.blobs.iter().map(|blob| blob.id).collect();
    let mut wanted: Vec<(BlobId, u64)> = inventory.blobs.iter().map(|blob| (blob.id, blob.len)).collect();
    // A root that is not listed is looked up too: it may have come while the list was made.
    wanted.extend(lengths.keys().filter(|id| !listed.contains(id)).map(|&id| (id, 0)));

    let mut progress = CheckProgress {
        total: wanted.len() as u64,
        bytes_total: wanted.iter().map(|(_, len)| len).sum(),
        ..CheckProgress::default()
    };
    on_progress(progress);
    let mut report = CheckReport { foreign: inventory.foreign, ..CheckReport::default() };
    let verdicts = wanted.into_iter().map(|(id, len)| async move { (id, len, store.verify(id).await) });
    let mut verdicts = stream::iter(verdicts).buffer_unordered(width(&options));
    while let Some((id, len, verdict)) = verdicts.next().await {
        progress.done += 1;
        progress.bytes_done += len;
        on_progress(progress);
        let named = lengths.get(&id).map(Vec::as_slice);
        report.note(store, id, named, verdict);
    }
    drop(verdicts);
    report.sort();
    if options.repair {
        report.repair(store).await?;
    }
    Ok(report)
}

fn width(options: &CheckOptions) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    options.parallel.map_or_else(cores, NonZeroUsize::get)
}

impl CheckReport {
    /// Files one verdict; `named` holds the lengths the roots give.
    fn note(&mut self, store: &dyn BlobStore, id: BlobId, named: Option<&[u64]>, verdict: Result<Verdict, BlobError>) {
        let path = store.location(id);
        match verdict {
            Ok(Verdict::Good { len }) => {
                self.count(len);
                let Some(lengths) = named else {
                    return self.orphaned.push(BlobFinding { id, len, path });
                };
                for &expected_bytes in lengths.iter().filter(|&&expected| expected != len) {
                    let path = path.clone();
                    self.wrong_length.push(WrongLength { id, path, expected_bytes, found_bytes: len });
                }
            }
            Ok(Verdict::Damaged { found_len, found_digest }) => {
                self.count(found_len);
                let named = named.is_some();
                let damaged = DamagedBlob { id, path, found_bytes: found_len, found_sha256: found_digest, named };
                self.damaged.push(damaged);
            }
            Ok(Verdict::Missing) => self.note_missing(id, path, named),
            Ok(Verdict::NotABlob(reason)) => {
                self.note_foreign(&path, reason);
                self.note_missing(id, path, named);
            }
            Err(error) => self.unreadable.push(UnreadableBlob { id, path, error: error.to_string() }),
        }
    }

    fn count(&mut self, len: u64) {
        self.blobs += 1;
        self.bytes += len;
    }

    fn note_missing(&mut self, id: BlobId, path: String, named: Option<&[u64]>) {
        // An unnamed blob that is gone since the list was made was swept: nobody misses it.
        if let Some(lengths) = named {
            self.missing.push(BlobFinding { id, len: lengths.first().copied().unwrap_or(0), path });
        }
    }

    fn note_foreign(&mut self, path: &str, reason: ForeignReason) {
        if !self.foreign.iter().any(|foreign| foreign.path == path) {
            self.foreign.push(Foreign { path: path.to_owned(), reason, modified: None });
        }
    }

    fn sort(&mut self) {
        self.missing.sort();
        self.damaged.sort();
        self.wrong_length.sort();
        self.unreadable.sort();
        self.orphaned.sort();
        self.foreign.sort_by(|a, b| a.path.cmp(&b.path));
    }

    async fn repair(&mut self, store: &dyn BlobStore) -> Result<(), BlobError> {
        for DamagedBlob { id, path, .. } in &self.damaged {
            match store.quarantine(*id).await {
                Ok(moved_to) => {
                    self.quarantined.push(QuarantinedBlob { id: *id, path: path.clone(), moved_to });
                }
                // A writer healed or a sweep took it meanwhile: nothing is left to move.
                Err(error) if matches!(error.code(), "not_damaged" | "missing") => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
