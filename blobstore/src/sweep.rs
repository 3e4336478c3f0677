//! Deleting what no record names.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use serde::Serialize;

use crate::store::{BlobStore, ForeignReason, Inventory};
use crate::{BlobError, BlobErrorKind, BlobId};

/// How a sweep goes about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SweepOptions {
    /// Blobs and temporary files modified within this time before the start of the pass are spared: one hour unless
    /// set. Where other processes write to the store, keep it above the minute within which they freshen an old blob.
    pub grace: Duration,
    /// Only say what would go: the default, so that deleting is always asked for.
    pub dry_run: bool,
    /// The start of the pass, from which the grace period counts back; the moment of the call unless set. Set it to a
    /// moment before the roots were collected.
    pub now: Option<SystemTime>,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self { grace: Duration::from_secs(3600), dry_run: true, now: None }
    }
}

impl SweepOptions {
    /// Sets the grace period.
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Chooses between deleting and saying what would be deleted.
    pub fn with_dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets the start of the pass.
    pub fn with_now(mut self, now: SystemTime) -> Self {
        self.now = Some(now);
        self
    }
}

/// What a sweep did, or would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SweepReport {
    /// The blobs that went, sorted.
    pub deleted: Vec<BlobId>,
    /// How many blobs stay.
    pub kept: u64,
    /// What went, in bytes of blobs.
    pub bytes: u64,
    /// Temporary files of dead writers that went: their paths.
    pub temps: Vec<String>,
    /// Whether nothing was touched.
    pub dry_run: bool,
}

/// Deletes the blobs that no root names, that no lease protects and that are older than the grace period; leaves
/// everything that is not a blob alone, save for writers' old temporary files.
///
/// Call it while no other process writes records (under the log's lock), with every record's blob among `roots`:
/// a blob that is named only by a log that could not be read is lost.
///
/// # Errors
/// `Missing` if the blob of a root is not there: then the roots or the store are not what they seem, and nothing is
/// deleted. Otherwise as the store's own operations; what was deleted until then stays deleted.
pub async fn sweep(
    store: &dyn BlobStore,
    roots: &HashSet<BlobId>,
    options: SweepOptions,
) -> Result<SweepReport, BlobError> {
    let start = options.now.unwrap_or_else(SystemTime::now);
    // A grace period from before the epoch spares everything.
    let cutoff = start.checked_sub(options.grace).unwrap_or(SystemTime::UNIX_EPOCH);
    let inventory = store.inventory().await?;
    refuse_missing_roots(store, roots, &inventory)?;

    let mut report = SweepReport { dry_run: options.dry_run, ..SweepReport::default() };
    for blob in &inventory.blobs {
        let goes = !roots.contains(&blob.id) && blob.modified < cutoff && !blob.leased;
        if goes && (options.dry_run || store.remove_if_older(blob.id, cutoff).await?) {
            report.deleted.push(blob.id);
            report.bytes += blob.len;
        } else {
            report.kept += 1;
        }
    }
    report.temps =
        if options.dry_run { stale_temps(&inventory, cutoff) } else { store.remove_stale_temps(cutoff).await? };
    Ok(report)
}

fn refuse_missing_roots(
    store: &dyn BlobStore,
    roots: &HashSet<BlobId>,
    inventory: &Inventory,
) -> Result<(), BlobError> {
    let present: HashSet<BlobId> = inventory.blobs.iter().map(|blob| blob.id).collect();
    match roots.iter().filter(|root| !present.contains(root)).min() {
        None => Ok(()),
        Some(&root) => Err(BlobError::new("sweep without", store.location(root), BlobErrorKind::Missing)),
    }
}

fn stale_temps(inventory: &Inventory, cutoff: SystemTime) -> Vec<String> {
    let stale = inventory.foreign.iter().filter(|foreign| {
        foreign.reason == ForeignReason::Temp && foreign.modified.is_some_and(|modified| modified < cutoff)
    });
    stale.map(|foreign| foreign.path.clone()).collect()
}
