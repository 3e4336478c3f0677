//! What every store must do, as functions that its own tests call.
//!
//! Each function takes a store that may hold other blobs, brings bytes that nobody else has, and panics where the store
//! breaks the contract of [`BlobStore`]. Faults of the medium, which need a hand on it, are each store's own to test.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::future::join_all;

use crate::store::{BlobStore, MAX_BLOB_BYTES, Stored, Verdict};
use crate::{BlobErrorKind, BlobId, CheckOptions, CheckProgress, SweepOptions, check, sweep};

/// Every function of this module.
pub async fn all(store: &dyn BlobStore) {
    round_trip(store).await;
    equal_content_is_stored_once(store).await;
    racing_writers_all_succeed(store).await;
    missing_is_missing(store).await;
    lengths_are_checked(store).await;
    many_are_staged_in_order(store).await;
    many_are_answered_in_order(store).await;
    too_large_is_refused(store).await;
    inventory_lists(store).await;
    removal_respects_age_and_leases(store).await;
    whole_blobs_are_not_moved_aside(store).await;
    sweep_takes_what_nobody_names(store).await;
    sweep_refuses_without_a_root(store).await;
    check_finds_what_is_missing_and_orphaned(store).await;
}

/// What is put comes back, the empty blob and sizes around the usual buffers included.
pub async fn round_trip(store: &dyn BlobStore) {
    let mut lengths = vec![0, 1, 63, 64, 65, 4096];
    lengths.extend([64, 128, 256, 1024].map(|kib| kib * 1024).into_iter().flat_map(|len| [len - 1, len, len + 1]));
    for len in lengths {
        let bytes = fresh(len);
        let stored = store.put(bytes.clone()).await.expect("put");
        assert_eq!((stored.id, stored.len), (BlobId::of(&bytes), len as u64));
        for _ in 0..2 {
            assert_eq!(store.get(stored.id, None).await.expect("get"), bytes);
            assert_eq!(store.get(stored.id, Some(len as u64)).await.expect("get with its length"), bytes);
        }
        assert_eq!(store.contains(stored.id).await.expect("contains"), Some(len as u64));
        assert_eq!(store.verify(stored.id).await.expect("verify"), Verdict::Good { len: len as u64 });
        assert!(store.location(stored.id).contains(&stored.id.to_string()));
    }
}

/// The second writer of equal bytes brings nothing new, whether or not a barrier lies between.
pub async fn equal_content_is_stored_once(store: &dyn BlobStore) {
    for barrier in [false, true] {
        let bytes = fresh(1000);
        let first = store.stage(bytes.clone()).await.expect("stage");
        if barrier {
            store.sync().await.expect("sync");
        }
        let second = store.stage(bytes.clone()).await.expect("stage again");
        store.sync().await.expect("sync");
        assert_eq!((first.new, second.new, first.id == second.id), (true, false, true));
        assert_eq!(listed(store, first.id).await, 1);
    }
}

/// Twenty at once: one blob, one of them brought it, nothing left over.
pub async fn racing_writers_all_succeed(store: &dyn BlobStore) {
    let bytes = fresh(100_000);
    let before = store.inventory().await.expect("inventory").foreign;
    let stored: Vec<Stored> = join_all((0..20).map(|_| store.put(bytes.clone())))
        .await
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("every writer succeeds");
    assert_eq!(stored.iter().filter(|stored| stored.new).count(), 1);
    assert_eq!(listed(store, stored[0].id).await, 1);
    assert_eq!(store.inventory().await.expect("inventory").foreign, before);
    assert_eq!(store.get(stored[0].id, None).await.expect("get"), bytes);
}

/// What was never stored is missing, which is not damaged.
pub async fn missing_is_missing(store: &dyn BlobStore) {
    let id = BlobId::of(&fresh(10));
    assert!(store.get(id, None).await.expect_err("nothing to get").is_missing());
    assert!(store.get(id, Some(10)).await.expect_err("nothing to get").is_missing());
    assert_eq!(store.contains(id).await.expect("contains"), None);
    let there = store.put(fresh(11)).await.expect("put");
    let found = store.contains_many(&[id, there.id, id]).await;
    let found: Vec<_> = found.into_iter().map(|found| found.expect("contains")).collect();
    assert_eq!(found, [None, Some(there.len), None], "in the order asked");
    assert_eq!(store.verify(id).await.expect("verify"), Verdict::Missing);
    assert!(!store.remove_if_older(id, SystemTime::now()).await.expect("remove"));
    assert!(store.quarantine(id).await.expect_err("nothing to move").is_missing());
}

/// A wrong expectation is told with both lengths, and the blob is none the worse.
pub async fn lengths_are_checked(store: &dyn BlobStore) {
    let bytes = fresh(10);
    let id = store.put(bytes.clone()).await.expect("put").id;
    for expected in [0, 9, 11, u64::MAX] {
        let error = store.get(id, Some(expected)).await.expect_err("another length");
        assert_eq!(error.kind(), BlobErrorKind::WrongLength { expected, found: 10 });
    }
    assert_eq!(store.get(id, Some(10)).await.expect("get"), bytes);
}

/// Each of many is stored under its own name, whatever stands beside it; equal ones once.
pub async fn many_are_staged_in_order(store: &dyn BlobStore) {
    for count in 0..6 {
        let mut blobs: Vec<Bytes> = (0..count).map(|n| fresh(n * 70_001)).collect();
        blobs.extend(blobs.last().cloned());
        let staged = store.stage_many(blobs.clone()).await;
        store.sync().await.expect("sync");
        assert_eq!(staged.len(), blobs.len());
        let mut seen = HashSet::new();
        for (staged, bytes) in staged.into_iter().zip(blobs) {
            let staged = staged.expect("staged");
            assert_eq!((staged.id, staged.len), (BlobId::of(&bytes), bytes.len() as u64));
            // The empty blob is not fresh.
            assert!(staged.new == seen.insert(staged.id) || bytes.is_empty());
            assert_eq!(store.get(staged.id, None).await.expect("get"), bytes);
        }
    }
}

/// Each of many gets its own answer, in its own place.
pub async fn many_are_answered_in_order(store: &dyn BlobStore) {
    let blobs: Vec<Bytes> = (0..6).map(|n| fresh(n * 150_000)).collect();
    let mut wanted = Vec::new();
    for bytes in &blobs {
        wanted.push((store.put(bytes.clone()).await.expect("put").id, Some(bytes.len() as u64)));
    }
    wanted.insert(3, (BlobId::of(&fresh(40)), None));
    wanted.push((wanted[1].0, Some(1)));
    wanted.push(wanted[5]);
    for _ in 0..2 {
        let found = store.get_many(&wanted).await;
        assert_eq!(found.len(), wanted.len());
        for (found, &(id, _)) in found.iter().zip(&wanted).filter(|(found, _)| found.is_ok()) {
            assert_eq!(BlobId::of(found.as_ref().expect("filtered")), id);
        }
        let codes: Vec<&str> = found.iter().map(|found| found.as_ref().map_or_else(|e| e.code(), |_| "ok")).collect();
        assert_eq!(codes, ["ok", "ok", "ok", "missing", "ok", "ok", "ok", "wrong_length", "ok"]);
    }
    assert!(store.get_many(&[]).await.is_empty());
}

/// One byte above the limit is refused, and nothing is stored.
pub async fn too_large_is_refused(store: &dyn BlobStore) {
    let limit = MAX_BLOB_BYTES;
    let bytes = Bytes::from(vec![0; usize::try_from(limit).expect("the limit is an ordinary size") + 1]);
    let before = store.inventory().await.expect("inventory");
    let error = store.stage(bytes.clone()).await.expect_err("too large");
    assert_eq!(error.kind(), BlobErrorKind::TooLarge { len: limit + 1, limit });
    for staged in store.stage_many(vec![bytes.clone(), bytes]).await {
        assert_eq!(staged.expect_err("too large").kind(), BlobErrorKind::TooLarge { len: limit + 1, limit });
    }
    assert_eq!(store.inventory().await.expect("inventory"), before);
}

/// Blobs are listed with length and time, sorted.
pub async fn inventory_lists(store: &dyn BlobStore) {
    // File systems may round a time down to two seconds.
    let before = SystemTime::now() - Duration::from_secs(2);
    let lens: BTreeMap<BlobId, u64> = {
        let mut lens = BTreeMap::new();
        for len in [33u16, 31, 32] {
            lens.insert(store.put(fresh(usize::from(len))).await.expect("put").id, u64::from(len));
        }
        lens
    };
    let inventory = store.inventory().await.expect("inventory");
    assert!(inventory.blobs.is_sorted_by_key(|blob| blob.id));
    let ours: BTreeMap<BlobId, u64> =
        inventory.blobs.iter().filter(|blob| lens.contains_key(&blob.id)).map(|blob| (blob.id, blob.len)).collect();
    assert_eq!(ours, lens);
    let modified = |blob: &&crate::BlobInfo| lens.contains_key(&blob.id) && blob.modified < before;
    assert_eq!(inventory.blobs.iter().find(modified), None);
}

/// A blob goes if it is older than the cutoff and nobody holds it, and only then.
pub async fn removal_respects_age_and_leases(store: &dyn BlobStore) {
    let bytes = fresh(100);
    let stored = store.put(bytes.clone()).await.expect("put");
    let (id, clone) = (stored.id, stored.lease.clone());
    drop(stored);
    assert!(is_leased(store, id).await);
    assert!(!store.remove_if_older(id, later()).await.expect("held"));
    drop(clone);
    assert!(!is_leased(store, id).await);
    assert!(!store.remove_if_older(id, SystemTime::UNIX_EPOCH).await.expect("too young"));
    assert_eq!(store.get(id, None).await.expect("still there"), bytes);

    // Found again by a writer of equal bytes, it is held again.
    let again = store.stage(bytes.clone()).await.expect("stage");
    assert!(!again.new && !store.remove_if_older(id, later()).await.expect("held again"));
    drop(again);

    assert!(store.remove_if_older(id, later()).await.expect("old enough"));
    assert!(store.get(id, None).await.expect_err("it is gone").is_missing());
    assert!(store.put(bytes).await.expect("put").new);
}

/// A whole blob stays where it is.
pub async fn whole_blobs_are_not_moved_aside(store: &dyn BlobStore) {
    let bytes = fresh(100);
    let id = store.put(bytes.clone()).await.expect("put").id;
    assert_eq!(store.quarantine(id).await.expect_err("it is whole").kind(), BlobErrorKind::NotDamaged);
    assert_eq!(store.get(id, None).await.expect("get"), bytes);
}

/// The unnamed go, the named, the held and the young stay; a dry run says the same and touches nothing.
pub async fn sweep_takes_what_nobody_names(store: &dyn BlobStore) {
    let mut roots = everything(store).await;
    let named = store.put(fresh(10)).await.expect("put").id;
    let held = store.put(fresh(20)).await.expect("put");
    let unnamed = store.put(fresh(30)).await.expect("put").id;
    roots.insert(named);
    let kept = roots.len() as u64 + 1;

    let young = sweep(store, &roots, SweepOptions::default().with_dry_run(false)).await.expect("sweep");
    assert_eq!((young.deleted.len(), young.kept), (0, kept + 1));

    let options = SweepOptions::default().with_now(later()).with_grace(Duration::ZERO);
    for dry_run in [true, false] {
        let report = sweep(store, &roots, options.clone().with_dry_run(dry_run)).await.expect("sweep");
        assert_eq!((&report.deleted[..], report.kept, report.bytes), (&[unnamed][..], kept, 30));
        assert_eq!(report.dry_run, dry_run);
        assert_eq!(store.contains(unnamed).await.expect("contains"), dry_run.then_some(30));
    }
    for id in [named, held.id] {
        assert!(store.contains(id).await.expect("contains").is_some());
    }
}

/// A root whose blob is not there stops the sweep before anything is deleted.
pub async fn sweep_refuses_without_a_root(store: &dyn BlobStore) {
    let mut roots = everything(store).await;
    let unnamed = store.put(fresh(30)).await.expect("put").id;
    roots.insert(BlobId::of(&fresh(40)));
    let options = SweepOptions::default().with_now(later()).with_grace(Duration::ZERO).with_dry_run(false);
    assert!(sweep(store, &roots, options).await.expect_err("a root is missing").is_missing());
    assert_eq!(store.contains(unnamed).await.expect("contains"), Some(30));
}

/// Roots without a blob are missing, blobs without a root orphaned, and a root with another length is told apart.
pub async fn check_finds_what_is_missing_and_orphaned(store: &dyn BlobStore) {
    let named = store.put(fresh(10)).await.expect("put").id;
    let mistold = store.put(fresh(20)).await.expect("put").id;
    let orphaned = store.put(fresh(30)).await.expect("put").id;
    let missing = BlobId::of(&fresh(40));
    let blobs = store.inventory().await.expect("inventory").blobs;
    let bytes = blobs.iter().map(|blob| blob.len).sum::<u64>();

    let mut seen = Vec::new();
    let roots = [(named, 10), (mistold, 21), (missing, 40), (named, 10)];
    let report = check(store, roots, |progress: CheckProgress| seen.push(progress), CheckOptions::default())
        .await
        .expect("check");
    assert_eq!((report.blobs, report.bytes), (blobs.len() as u64, bytes));
    assert!(!report.is_ok());
    assert_eq!(report.missing.iter().map(|blob| (blob.id, blob.len)).collect::<Vec<_>>(), [(missing, 40)]);
    assert!(report.missing[0].path.contains(&missing.to_string()));
    let mistaken: Vec<_> = report.wrong_length.iter().map(|w| (w.id, w.expected_bytes, w.found_bytes)).collect();
    assert_eq!(mistaken, [(mistold, 21, 20)]);
    assert!(report.orphaned.iter().any(|blob| (blob.id, blob.len) == (orphaned, 30)));
    assert!(!report.orphaned.iter().any(|blob| [named, mistold].contains(&blob.id)));
    assert!(report.damaged.is_empty() && report.unreadable.is_empty() && report.quarantined.is_empty());

    assert_eq!(seen.len() as u64, report.blobs + 2, "once before the first, then after each, the missing one included");
    assert!(seen.is_sorted_by_key(|progress| (progress.done, progress.bytes_done)));
    let last = seen.last().expect("it was called");
    assert_eq!((last.done, last.bytes_done), (last.total, last.bytes_total));
    assert_eq!(last.bytes_total, bytes);
}

/// Bytes that no other call in any process brought, from some ten bytes up.
fn fresh(len: usize) -> Bytes {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let seed = format!("{} {count} {:?} ", std::process::id(), SystemTime::now());
    let mut state = BlobId::of(seed.as_bytes());
    let mut bytes = Vec::with_capacity(len + 32);
    while bytes.len() < len {
        bytes.extend_from_slice(state.as_bytes());
        state = BlobId::of(state.as_bytes());
    }
    bytes.truncate(len);
    bytes.into()
}

/// A moment after which everything stored now is old, whatever the medium's clock says.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(24 * 3600)
}

async fn everything(store: &dyn BlobStore) -> HashSet<BlobId> {
    store.inventory().await.expect("inventory").blobs.into_iter().map(|blob| blob.id).collect()
}

async fn listed(store: &dyn BlobStore, id: BlobId) -> usize {
    store.inventory().await.expect("inventory").blobs.iter().filter(|blob| blob.id == id).count()
}

async fn is_leased(store: &dyn BlobStore, id: BlobId) -> bool {
    store.inventory().await.expect("inventory").blobs.iter().any(|blob| blob.id == id && blob.leased)
}
