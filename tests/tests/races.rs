//! A work folder that changes under our hands.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use attache_runtime::{Attachment, BlobStore, MemoryStore, Settings, Turn, Verify, WorkDir};
use attache_tests::{pictures, sha256};
use rustix::fs::{CWD, RenameFlags, renameat_with};

/// Attaches a path so many times while another thread does mischief, and counts the outcomes: the sha256 of what was
/// taken, or the code of the refusal.
fn attach_under(mischief: impl Fn() + Sync, work: &Path, path: &str, times: usize) -> BTreeMap<String, usize> {
    let settings = Settings::default().with_verify(Verify::Decode);
    let (folder, store) = (WorkDir::open(work).unwrap(), MemoryStore::new());
    let store: &dyn BlobStore = &store;
    let over = AtomicBool::new(false);
    let mut outcomes = BTreeMap::new();
    let attachments = [Attachment::new(path, "image/png")];
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                mischief();
            }
        });
        runtime.block_on(async {
            for _ in 0..times {
                let accepted = Turn::new(&settings).accept(&folder, store, &attachments).await;
                let trace = serde_json::to_value(&accepted.trace).unwrap();
                let outcome = trace[0]["sha256"].as_str().or(trace[0]["refused"].as_str()).unwrap();
                *outcomes.entry(outcome.to_owned()).or_insert(0) += 1;
            }
        });
        over.store(true, Ordering::Relaxed);
    });
    outcomes
}

#[test]
fn a_parent_that_is_swapped_for_a_link_never_leads_outside() {
    let dir = tempfile::tempdir().unwrap();
    let [work, canary] = ["work", "canary"].map(|name| dir.path().join(name));
    let (inside, outside) = (pictures::png(4, 4, 0), pictures::png(4, 4, 1));
    fs::create_dir_all(work.join("shots")).unwrap();
    fs::create_dir(&canary).unwrap();
    fs::write(work.join("shots/a.png"), &inside).unwrap();
    fs::write(canary.join("a.png"), &outside).unwrap();
    symlink("../canary", work.join("link")).unwrap();
    let swap = || {
        renameat_with(CWD, work.join("shots"), CWD, work.join("link"), RenameFlags::EXCHANGE).unwrap();
    };
    let outcomes = attach_under(swap, &work, "shots/a.png", 5000);
    println!("{outcomes:?}");
    // The attack works: both sides of it were met, and a plain read falls for it.
    let met = ["symlink_refused", &sha256(&inside)].map(|outcome| outcomes.contains_key(outcome));
    assert_eq!(met, [true, true], "{outcomes:?}");
    assert!(!outcomes.contains_key(&sha256(&outside)), "the canary was attached: {outcomes:?}");
    let odd: Vec<_> = outcomes.keys().filter(|outcome| outcome.len() != 64 && *outcome != "symlink_refused").collect();
    assert!(odd.is_empty(), "the refusal is one stable code: {outcomes:?}");
    swap();
    swap();
    let plain: Vec<_> = (0..2).map(|_| (swap(), fs::read(work.join("shots/a.png")).unwrap()).1).collect();
    assert!(plain.contains(&outside), "the canary is no bait");
}

#[test]
fn a_file_that_is_rewritten_meanwhile_is_taken_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let versions = [pictures::png(64, 64, 0), pictures::png(200, 90, 1)];
    let path = dir.path().join("a.png");
    fs::write(&path, &versions[0]).unwrap();
    let turn = AtomicBool::new(false);
    let rewrite = || {
        // In place, as careless programs do it: the file is empty for a moment, and half there for another.
        let version = usize::from(turn.fetch_xor(true, Ordering::Relaxed));
        fs::write(&path, &versions[version]).unwrap();
        std::thread::sleep(std::time::Duration::from_micros(300));
    };
    let outcomes = attach_under(rewrite, dir.path(), "a.png", 1000);
    println!("{outcomes:?}");
    let whole = versions.each_ref().map(|bytes| sha256(bytes));
    for (outcome, _) in outcomes.iter().filter(|(outcome, _)| outcome.len() == 64) {
        assert!(whole.contains(outcome), "a mixture was taken: {outcomes:?}");
    }
    assert!(whole.iter().all(|sha| outcomes.contains_key(sha)), "{outcomes:?}");
}
