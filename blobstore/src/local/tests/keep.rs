use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use super::*;
use crate::store::ForeignReason;
use crate::{BlobErrorKind, BlobStore, CheckOptions, SweepOptions, check, sweep};

const BYTES: &[u8] = b"some bytes";

fn day_old() -> SystemTime {
    SystemTime::now() - Duration::from_secs(86_400)
}

fn delete() -> SweepOptions {
    SweepOptions::default().with_dry_run(false)
}

#[tokio::test]
async fn foreign_entries_are_named_and_never_touched() {
    let fixture = Fixture::new();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    fixture.age(id);
    let upper = BlobId::of(b"other").to_string().to_uppercase();
    let dir = fixture.store.dir();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe");
    fs::write(dir.join("notes.txt"), b"").unwrap();
    fs::write(dir.join(&upper), b"").unwrap();
    fs::write(dir.join(format!("{id}.png")), b"").unwrap();
    fs::write(dir.join(odd), b"").unwrap();
    fs::create_dir(dir.join("sub")).unwrap();
    symlink("notes.txt", dir.join("link")).unwrap();
    fs::write(dir.join(".tmp-1-0"), b"").unwrap();
    fs::write(dir.join(format!("{id}.damaged-1-0")), b"").unwrap();

    let inventory = fixture.store.inventory().await.unwrap();
    assert_eq!(inventory.blobs.iter().map(|blob| (blob.id, blob.len)).collect::<Vec<_>>(), [(id, 10)]);
    let mut found: Vec<_> = inventory
        .foreign
        .iter()
        .map(|foreign| (foreign.path.strip_prefix(&format!("{}/", dir.display())).unwrap(), foreign.reason.code()))
        .collect();
    found.sort();
    let (aside, png) = (format!("{id}.damaged-1-0"), format!("{id}.png"));
    let mut expected = [
        (".tmp-1-0", "temp"),
        (&aside, "quarantined"),
        (&png, "wrong_name"),
        (&upper, "wrong_name"),
        ("link", "link"),
        ("notes.txt", "wrong_name"),
        ("sub", "directory"),
        ("\u{fffd}\u{fffd}", "wrong_name"),
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);

    let report = sweep(&fixture.store, &HashSet::new(), delete()).await.unwrap();
    assert_eq!((report.deleted, report.temps.len()), (vec![id], 0), "the temporary file is young");
    assert_eq!(fs::read_dir(dir).unwrap().count(), expected.len());
}

impl Fixture {
    fn temp(&self, name: &str, modified: SystemTime) -> PathBuf {
        let path = self.store.dir().join(name);
        fs::write(&path, b"part").unwrap();
        fs::File::open(&path).unwrap().set_modified(modified).unwrap();
        path
    }
}

#[tokio::test]
async fn temporary_files_of_dead_writers_go_once_they_are_old() {
    let fixture = Fixture::new();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    let old = fixture.temp(".tmp-1-0", day_old());
    let young = fixture.temp(".tmp-2-0", SystemTime::now());
    for dry_run in [true, false] {
        let report = sweep(&fixture.store, &HashSet::from([id]), delete().with_dry_run(dry_run)).await.unwrap();
        assert_eq!(report.temps, [old.display().to_string()]);
        assert_eq!((report.deleted.len(), report.kept, report.bytes), (0, 1, 0));
        assert_eq!((old.exists(), young.exists()), (dry_run, true));
    }
}

#[tokio::test]
async fn the_grace_period_counts_from_the_start_of_the_pass() {
    let fixture = Fixture::new();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    fixture.age(id);
    let hour = Duration::from_secs(3600);
    let spared = [(day_old() - hour, Duration::ZERO), (SystemTime::now(), 25 * hour)];
    for (now, grace) in spared {
        let report = sweep(&fixture.store, &HashSet::new(), delete().with_now(now).with_grace(grace)).await.unwrap();
        assert_eq!((report.deleted.len(), report.kept), (0, 1), "{grace:?}");
    }
    let report = sweep(&fixture.store, &HashSet::new(), delete().with_grace(hour)).await.unwrap();
    assert_eq!((report.deleted, report.kept), (vec![id], 0));
}

/// The blob is re-attached between the list and the deletion: by this process, by another, or by nobody.
#[tokio::test(flavor = "multi_thread")]
async fn a_blob_re_attached_during_a_sweep_stays() {
    type Attach = fn(&std::path::Path) -> Option<crate::Lease>;
    let cases: [(&str, Attach, bool); 3] = [
        ("nobody", |_| None, false),
        ("this process", |dir| Some(LocalStore::new(dir).stage_blocking(BYTES).unwrap().lease), true),
        // What another process leaves behind: a fresh mark and no lease.
        (
            "another process",
            |dir| {
                drop(LocalStore::new(dir).stage_blocking(BYTES).unwrap());
                None
            },
            true,
        ),
    ];
    for (who, attach, stays) in cases {
        let dir = Arc::new(Mutex::new(PathBuf::new()));
        let lease = Arc::new(Mutex::new(None));
        let (at, hold) = (dir.clone(), lease.clone());
        let fixture = Fixture::hooked(move |step| {
            if step == Step::Remove {
                *hold.lock().unwrap() = attach(&at.lock().unwrap());
            }
            Ok(())
        });
        *dir.lock().unwrap() = fixture.store.dir().to_owned();
        let id = fixture.store.stage_blocking(BYTES).unwrap().id;
        fixture.age(id);
        let report = sweep(&fixture.store, &HashSet::new(), delete()).await.unwrap();
        assert_eq!((report.deleted.len(), report.kept), (usize::from(!stays), u64::from(stays)), "{who}");
        assert_eq!(fixture.path(id).exists(), stays, "{who}");
    }
}

/// A lease counts however old the blob looks, through every store of this process and every spelling of the path.
#[test]
fn stores_of_one_directory_share_leases() {
    let fixture = Fixture::new();
    let spelled = fixture.root.path().join("alias");
    symlink(fixture.root.path(), &spelled).unwrap();
    let other = LocalStore::new(spelled.join("./blobs"));
    let stored = fixture.store.stage_blocking(BYTES).unwrap();
    fixture.age(stored.id);
    assert!(!other.0.remove_if_older(stored.id, SystemTime::now()).unwrap());
    let unrelated = Fixture::new();
    unrelated.store.stage_blocking(BYTES).unwrap();
    unrelated.age(stored.id);
    assert!(unrelated.store.0.remove_if_older(stored.id, SystemTime::now()).unwrap(), "another directory's blob");
    drop(stored);
    assert!(other.0.remove_if_older(BlobId::of(BYTES), SystemTime::now()).unwrap());
}

#[test]
fn writers_and_a_greedy_sweep_never_lose_an_attached_blob() {
    let fixture = Fixture::os();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for n in 0..300u32 {
                        let bytes = (n % 7).to_le_bytes();
                        let stored = fixture.store.stage_blocking(&bytes).unwrap();
                        assert_eq!(fixture.store.get_blocking(stored.id, Some(4)).unwrap(), bytes[..]);
                    }
                })
            })
            .collect();
        let future = SystemTime::now() + Duration::from_secs(3600);
        while !writers.iter().all(|writer| writer.is_finished()) {
            for n in 0..7u32 {
                fixture.store.0.remove_if_older(BlobId::of(&n.to_le_bytes()), future).unwrap();
            }
        }
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_reports_and_repairs() {
    for failing in [&[][..], &[(Step::RenameNew, Errno::INVAL)]] {
        let fixture = Fixture::with(|builder| builder.steps(Faults::of(failing)));
        let good = fixture.store.stage_blocking(b"good").unwrap().id;
        let [bad, unnamed, empty] = [&b"bad"[..], b"unnamed", b"cut off"].map(BlobId::of);
        fixture.plant(bad, b"evil");
        fixture.plant(unnamed, b"evil too");
        fixture.plant(empty, b"");
        let linked = BlobId::of(b"linked");
        symlink("nowhere", fixture.path(linked)).unwrap();
        let roots = [(good, 4), (bad, 3), (empty, 7), (linked, 6)];

        let options = CheckOptions::default().with_parallel(NonZeroUsize::new(3).unwrap());
        let found = check(&fixture.store, roots, |_| (), options.clone()).await.unwrap();
        assert_eq!((found.blobs, found.is_ok()), (4, false));
        let mut damaged = [
            (bad, BlobId::of(b"evil"), 4, true),
            (unnamed, BlobId::of(b"evil too"), 8, false),
            (empty, BlobId::of(b""), 0, true),
        ];
        damaged.sort_unstable();
        let told: Vec<_> = found.damaged.iter().map(|d| (d.id, d.found_sha256, d.found_bytes, d.named)).collect();
        assert_eq!(told, damaged);
        assert_eq!(found.damaged[0].path, fixture.store.location(found.damaged[0].id));
        assert_eq!(found.missing.iter().map(|blob| blob.id).collect::<Vec<_>>(), [linked]);
        assert_eq!((found.foreign.len(), found.foreign[0].reason), (1, ForeignReason::Link));
        assert!(found.orphaned.is_empty() && found.quarantined.is_empty());
        assert_eq!(fixture.names().len(), 5);

        let repaired = check(&fixture.store, roots, |_| (), options.with_repair(true)).await.unwrap();
        assert_eq!((&repaired.damaged, repaired.quarantined.len()), (&found.damaged, 3));
        assert_eq!(fixture.names().len(), 5, "nothing is deleted");
        for aside in &repaired.quarantined {
            assert!(PathBuf::from(&aside.moved_to).exists() && !fixture.path(aside.id).exists());
        }
        assert!(fixture.store.get_blocking(bad, None).unwrap_err().is_missing());
        assert!(fixture.store.stage_blocking(b"bad").unwrap().new);

        let after = check(&fixture.store, [(good, 4), (bad, 3)], |_| (), CheckOptions::default()).await.unwrap();
        assert!(after.is_ok());
        let quarantined = after.foreign.iter().filter(|foreign| foreign.reason == ForeignReason::Quarantined);
        assert_eq!(quarantined.count(), 3);
        let json = serde_json::to_value(&found).unwrap();
        assert_eq!(json["missing"][0]["sha256"], linked.to_string());
        assert_eq!(json["foreign"][0]["reason"], "link");
    }
}

#[test]
fn a_blob_healed_while_it_is_moved_aside_stays() {
    let dir = Arc::new(Mutex::new(None::<PathBuf>));
    let at = dir.clone();
    let fixture = Fixture::hooked(move |step| {
        if step == Step::RenameNew
            && let Some(dir) = at.lock().unwrap().take()
        {
            assert!(LocalStore::new(dir).stage_blocking(BYTES).unwrap().new);
        }
        Ok(())
    });
    let id = BlobId::of(BYTES);
    fixture.plant(id, b"damaged");
    *dir.lock().unwrap() = Some(fixture.store.dir().to_owned());
    assert_eq!(fixture.store.0.quarantine(id).unwrap_err().kind(), BlobErrorKind::NotDamaged);
    assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
    assert_eq!(fixture.names(), [id.to_string()]);
}
