use std::sync::mpsc;
use std::thread;

use super::*;

#[test]
fn one_flush_covers_all_and_nothing_pending_costs_none() {
    let faults = Faults::of(&[]);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    for n in 0..10u8 {
        fixture.store.stage_blocking(&[n]).unwrap();
    }
    faults.take_seen();
    fixture.store.sync_blocking().unwrap();
    // The directory and, the first time, its parent.
    assert_eq!(faults.take_seen(), [Step::SyncDir, Step::SyncDir]);
    fixture.store.sync_blocking().unwrap();
    assert_eq!(faults.take_seen(), []);
    fixture.store.stage_blocking(b"another").unwrap();
    faults.take_seen();
    fixture.store.sync_blocking().unwrap();
    assert_eq!(faults.take_seen(), [Step::SyncDir]);
}

#[test]
fn newly_made_parents_are_flushed_too() {
    let faults = Faults::of(&[]);
    let root = tempfile::tempdir().unwrap();
    let store = LocalStore::builder(root.path().join("a/b/blobs")).steps(faults.clone()).build();
    store.stage_blocking(b"x").unwrap();
    faults.take_seen();
    store.sync_blocking().unwrap();
    // blobs itself, and what holds the names of a, b and blobs.
    assert_eq!(faults.take_seen(), [Step::SyncDir; 4]);
}

#[test]
fn os_durability_never_flushes() {
    let faults = Faults::of(&[(Step::SyncFile, Errno::IO), (Step::SyncDir, Errno::IO)]);
    let fixture = Fixture::with(|builder| builder.durability(Durability::Os).steps(faults.clone()));
    for _ in 0..2 {
        fixture.store.stage_blocking(b"x").unwrap();
        fixture.store.sync_blocking().unwrap();
    }
}

#[test]
fn a_failed_flush_is_not_forgotten_by_the_next() {
    let faults = Faults::of(&[]);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    let id = fixture.store.stage_blocking(b"x").unwrap().id;
    faults.set(&[(Step::SyncDir, Errno::IO)]);
    let error = fixture.store.sync_blocking().unwrap_err();
    assert_eq!(error.code(), "io");
    assert!(error.to_string().contains("blobs"));
    assert_eq!(fixture.store.sync_blocking().unwrap_err().code(), "io", "still in doubt");

    // The disk is well again. The system has forgotten the name it could not write, so it is written anew.
    faults.set(&[]);
    faults.take_seen();
    fixture.store.sync_blocking().unwrap();
    let rewrite = [Step::CreateTemp, Step::Write, Step::SyncFile, Step::Rename];
    let mut seen = faults.take_seen();
    assert_eq!(seen.drain(..4).collect::<Vec<_>>(), rewrite);
    assert!(seen.iter().all(|step| *step == Step::SyncDir));
    assert_eq!(fixture.store.get_blocking(id, None).unwrap(), &b"x"[..]);
    assert_eq!(fixture.names(), [id.to_string()]);
}

#[test]
fn a_writer_after_a_failed_flush_writes_again() {
    let faults = Faults::of(&[(Step::SyncDir, Errno::IO)]);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    fixture.store.stage_blocking(b"x").unwrap();
    fixture.store.sync_blocking().unwrap_err();
    faults.set(&[]);
    assert!(fixture.store.stage_blocking(b"x").unwrap().new, "a name in doubt is no hit");
    fixture.store.sync_blocking().unwrap();
    assert!(!fixture.store.stage_blocking(b"x").unwrap().new);
}

#[test]
fn a_blob_lost_with_its_name_is_told_once() {
    let faults = Faults::of(&[(Step::SyncDir, Errno::IO)]);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    let id = fixture.store.stage_blocking(b"x").unwrap().id;
    fixture.store.sync_blocking().unwrap_err();
    faults.set(&[]);
    fs::remove_file(fixture.path(id)).unwrap();
    assert!(fixture.store.sync_blocking().unwrap_err().is_missing());
    fixture.store.sync_blocking().unwrap();
}

#[test]
fn a_directory_that_cannot_be_flushed_is_no_loss() {
    // Not injected at the step, which stands for the system's own error, but judged from it.
    for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP] {
        assert!(super::super::steps::is_unsupported(errno));
    }
    for errno in [Errno::IO, Errno::NOSPC, Errno::DQUOT, Errno::ROFS] {
        assert!(!super::super::steps::is_unsupported(errno));
    }
}

/// Whoever comes while a flush runs may have staged what it covers, and waits for its end.
#[test]
fn a_barrier_waits_for_the_flush_that_covers_it() {
    let events = Arc::new(Mutex::new(Vec::new()));
    let (entered, enter) = mpsc::channel();
    let (come, comes) = mpsc::channel();
    let (log, comes) = (events.clone(), Mutex::new(comes));
    let fixture = Fixture::hooked(move |step| {
        // Without another barrier on its way, nobody answers and the sender is gone.
        if step == Step::SyncDir && entered.send(()).is_ok() && comes.lock().unwrap().recv().is_ok() {
            // Time for a barrier that does not wait to overtake.
            thread::sleep(Duration::from_millis(50));
            log.lock().unwrap().push("flushed");
        }
        Ok(())
    });
    fixture.store.stage_blocking(b"x").unwrap();
    thread::scope(|scope| {
        scope.spawn(|| fixture.store.sync_blocking().unwrap());
        enter.recv().unwrap();
        drop(enter);
        assert!(!fixture.store.0.is_synced());
        come.send(()).unwrap();
        drop(come);
        fixture.store.sync_blocking().unwrap();
        events.lock().unwrap().push("returned");
    });
    assert_eq!(*events.lock().unwrap(), ["flushed", "returned"]);
}
