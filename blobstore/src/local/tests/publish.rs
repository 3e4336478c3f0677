use std::sync::Barrier;
use std::thread;

use super::*;
use crate::BlobErrorKind;

use Step::*;

type Failing<'a> = &'a [(Step, Errno)];

const BYTES: &[u8] = b"some bytes";

/// A file system that fails as told: what the writer did, step by step, and that the blob is there, alone and whole.
fn check_fallback(failing: Failing, steps: &[Step]) {
    let faults = Faults::of(failing);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    let stored = fixture.store.stage_blocking(BYTES).unwrap();
    fixture.store.sync_blocking().unwrap();
    assert_eq!(faults.take_seen(), steps, "{failing:?}");
    assert!(stored.new);
    assert_eq!(fixture.names(), [stored.id.to_string()]);
    assert_eq!(fixture.store.get_blocking(stored.id, Some(10)).unwrap(), BYTES);
}

#[test]
fn falls_back_step_by_step() {
    let begin = [CreateTemp, Write, SyncFile];
    // The directory, then its parent, which holds its name.
    let end = [SyncDir, SyncDir];
    let steps = |middle: &[Step]| [&begin[..], middle, &end[..]].concat();
    check_fallback(&[], &steps(&[RenameNew]));
    for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::PERM] {
        check_fallback(&[(RenameNew, errno)], &steps(&[RenameNew, Link]));
        for refusal in [Errno::PERM, Errno::OPNOTSUPP, Errno::NOSYS, Errno::MLINK, Errno::ACCESS, Errno::INVAL] {
            check_fallback(&[(RenameNew, errno), (Link, refusal)], &steps(&[RenameNew, Link, Rename]));
        }
    }
    let in_place = [CreateNamed, Write, SyncFile];
    let xdev: [(Failing, &[Step]); 3] = [
        (&[(RenameNew, Errno::XDEV)], &[RenameNew]),
        (&[(RenameNew, Errno::INVAL), (Link, Errno::XDEV)], &[RenameNew, Link]),
        (&[(RenameNew, Errno::INVAL), (Link, Errno::PERM), (Rename, Errno::XDEV)], &[RenameNew, Link, Rename]),
    ];
    for (failing, tried) in xdev {
        check_fallback(failing, &steps(&[tried, &in_place].concat()));
    }
}

#[test]
fn a_damaged_blob_is_replaced_without_a_gap() {
    let cases: [(Failing, &[Step]); 2] = [
        (&[], &[CreateTemp, Write, SyncFile, Rename]),
        (&[(Rename, Errno::XDEV)], &[CreateTemp, Write, SyncFile, Rename, Write, SyncFile]),
    ];
    let id = BlobId::of(BYTES);
    for (failing, steps) in cases {
        for damage in [&b""[..], b"some bytez", b"some bytes and more", b"some"] {
            let faults = Faults::of(failing);
            let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
            fixture.plant(id, damage);
            assert!(fixture.store.stage_blocking(BYTES).unwrap().new);
            let mut seen = faults.take_seen();
            seen.retain(|step| *step != SyncDir);
            assert_eq!(seen, steps, "{damage:?}");
            assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
            assert_eq!(fixture.names(), [id.to_string()]);
        }
    }
}

#[test]
fn a_failure_publishes_nothing_and_leaves_nothing() {
    let full = (Errno::NOSPC, "storage_full");
    let cases = [
        (CreateTemp, full),
        (CreateTemp, (Errno::ROFS, "read_only")),
        (CreateTemp, (Errno::ACCESS, "permission_denied")),
        (Write, full),
        (Write, (Errno::IO, "io")),
        (SyncFile, (Errno::IO, "io")),
        (SyncFile, (Errno::DQUOT, "storage_full")),
        (RenameNew, full),
        (RenameNew, (Errno::IO, "io")),
    ];
    for (step, (errno, code)) in cases {
        let faults = Faults::of(&[(step, errno)]);
        let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
        let error = fixture.store.stage_blocking(BYTES).unwrap_err();
        assert_eq!(error.code(), code, "{step:?} {error}");
        assert!(error.to_string().contains(&BlobId::of(BYTES).to_string()));
        assert_eq!(fixture.names(), [""; 0], "{step:?}");
        assert_eq!(faults.take_seen().iter().filter(|seen| **seen == step).count(), 1, "never retried");

        // The next attempt starts over.
        faults.set(&[]);
        assert!(fixture.store.stage_blocking(BYTES).unwrap().new);
        assert_eq!(fixture.store.get_blocking(BlobId::of(BYTES), None).unwrap(), BYTES);
    }
}

#[test]
fn a_failed_replacement_leaves_the_damaged_blob_in_place() {
    let id = BlobId::of(BYTES);
    for step in [CreateTemp, Write, SyncFile, Rename] {
        let fixture = Fixture::with(|builder| builder.steps(Faults::of(&[(step, Errno::IO)])));
        fixture.plant(id, b"damaged");
        assert_eq!(fixture.store.stage_blocking(BYTES).unwrap_err().code(), "io");
        assert_eq!(fixture.names(), [id.to_string()]);
        assert_eq!(fs::read(fixture.path(id)).unwrap(), b"damaged");
    }
}

#[test]
fn a_part_left_by_a_fallback_is_noticed_and_healed() {
    // The first write fills the private file, the second the blob's own name, and that one fails.
    let writes = Mutex::new(0);
    let fixture = Fixture::hooked(move |step| match step {
        RenameNew | Rename => Err(Errno::XDEV),
        Write => {
            let mut writes = writes.lock().unwrap();
            *writes += 1;
            if *writes == 2 { Err(Errno::NOSPC) } else { Ok(()) }
        }
        _ => Ok(()),
    });
    let id = BlobId::of(BYTES);
    assert_eq!(fixture.store.stage_blocking(BYTES).unwrap_err().code(), "storage_full");
    let found = BlobId::of(b"");
    let error = fixture.store.get_blocking(id, None).unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::Damaged { expected: id, found });
    assert!(fixture.store.stage_blocking(BYTES).unwrap().new);
    assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
}

#[test]
fn twenty_threads_store_once_on_every_file_system() {
    let cases: [(Failing, bool); 4] = [
        (&[], true),
        (&[(RenameNew, Errno::INVAL)], true),
        (&[(RenameNew, Errno::INVAL), (Link, Errno::PERM)], false),
        (&[(RenameNew, Errno::XDEV), (Rename, Errno::XDEV)], false),
    ];
    for (failing, exactly_one) in cases {
        for durability in [Durability::Full, Durability::Os] {
            let set = |builder: LocalStoreBuilder| builder.durability(durability).steps(Faults::of(failing));
            let fixture = Fixture::with(set);
            let bytes: Vec<u8> = (0..300_000u32).map(|n| n as u8).collect();
            let gate = Barrier::new(20);
            let new: usize = thread::scope(|scope| {
                let writer = || {
                    gate.wait();
                    // A store of its own: what another process would know.
                    let own = set(LocalStore::builder(fixture.store.dir())).build();
                    let stored = own.stage_blocking(&bytes).unwrap();
                    own.sync_blocking().unwrap();
                    assert_eq!(own.get_blocking(stored.id, None).unwrap(), bytes);
                    usize::from(stored.new)
                };
                let writers: Vec<_> = (0..20).map(|_| scope.spawn(writer)).collect();
                writers.into_iter().map(|writer| writer.join().unwrap()).sum()
            });
            assert!(if exactly_one { new == 1 } else { new >= 1 }, "{new} of 20 with {failing:?}");
            assert_eq!(fixture.names(), [BlobId::of(&bytes).to_string()]);
        }
    }
}

#[test]
fn readers_never_see_a_part() {
    let fixture = Fixture::os();
    let blobs: Vec<Vec<u8>> = (0..20u8).map(|n| vec![n; 200_000]).collect();
    thread::scope(|scope| {
        scope.spawn(|| blobs.iter().for_each(|bytes| drop(fixture.store.stage_blocking(bytes).unwrap())));
        for bytes in &blobs {
            let (id, other) = (BlobId::of(bytes), LocalStore::new(fixture.store.dir()));
            loop {
                match other.get_blocking(id, Some(200_000)) {
                    Ok(found) => break assert_eq!(found, bytes),
                    Err(error) => assert!(error.is_missing(), "{error}"),
                }
            }
        }
    });
}

#[test]
fn a_temporary_file_that_is_taken_away_is_written_again() {
    // A sweep without a grace period, right before the rename.
    let root = Arc::new(Mutex::new(None::<PathBuf>));
    let dir = root.clone();
    let fixture = Fixture::hooked(move |step| {
        if step == RenameNew
            && let Some(dir) = dir.lock().unwrap().take()
        {
            let temp = fs::read_dir(dir).unwrap().next().unwrap().unwrap();
            fs::remove_file(temp.path()).unwrap();
        }
        Ok(())
    });
    *root.lock().unwrap() = Some(fixture.store.dir().to_owned());
    assert!(fixture.store.stage_blocking(BYTES).unwrap().new);
    assert_eq!(root.lock().unwrap().clone(), None);
    assert_eq!(fixture.names(), [BlobId::of(BYTES).to_string()]);
}

/// What comes up at the name while the writer is on its way there.
#[test]
fn what_comes_up_meanwhile_is_not_replaced() {
    for refused in [&[][..], &[RenameNew], &[RenameNew, Link]] {
        let dir = Arc::new(Mutex::new(None::<PathBuf>));
        let at = dir.clone();
        let last = refused.last().copied().unwrap_or(RenameNew);
        let fixture = Fixture::hooked(move |step| {
            if step == last
                && let Some(dir) = at.lock().unwrap().take()
            {
                assert!(LocalStore::new(dir).stage_blocking(BYTES).unwrap().new);
            }
            if refused.contains(&step) { Err(Errno::OPNOTSUPP) } else { Ok(()) }
        });
        *dir.lock().unwrap() = Some(fixture.store.dir().to_owned());
        assert!(!fixture.store.stage_blocking(BYTES).unwrap().new, "{refused:?}");
        assert_eq!(fixture.names(), [BlobId::of(BYTES).to_string()]);
    }
}

/// A link swapped in for a damaged blob, right before that is overwritten in place.
#[test]
fn a_link_is_not_written_through() {
    let paths = Arc::new(Mutex::new(None::<(PathBuf, PathBuf)>));
    let at = paths.clone();
    let fixture = Fixture::hooked(move |step| match step {
        Rename => {
            if let Some((name, target)) = at.lock().unwrap().take() {
                fs::remove_file(&name).unwrap();
                std::os::unix::fs::symlink(target, name).unwrap();
            }
            Err(Errno::XDEV)
        }
        _ => Ok(()),
    });
    let id = BlobId::of(BYTES);
    fixture.plant(id, b"damaged");
    let target = fixture.root.path().join("target");
    fs::write(&target, b"precious").unwrap();
    *paths.lock().unwrap() = Some((fixture.path(id), target.clone()));
    assert_eq!(fixture.store.stage_blocking(BYTES).unwrap_err().kind(), BlobErrorKind::NotABlob);
    assert_eq!(fs::read(target).unwrap(), b"precious");
}
