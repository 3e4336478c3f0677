//! A work folder with an outside to escape to.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;
use std::{fs, thread};

use attache_workdir_fs::{FsError, HardLinks, Snapshot, Walk, WorkDir, WorkDirOptions};
use tempfile::TempDir;

/// What must never be read.
pub(crate) const CANARY: &[u8] = b"CANARY: these bytes are outside the work folder";

/// `root/`, the work folder, beside `outside/`, which holds `secret`.
pub(crate) struct Tree {
    pub(crate) root: PathBuf,
    pub(crate) outside: PathBuf,
    _tmp: TempDir,
}

impl Tree {
    pub(crate) fn new() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        // Canonical, so that a temporary folder that is itself an alias does not matter to the tests.
        let base = tmp.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("secret"), CANARY).unwrap();
        Self { root, outside, _tmp: tmp }
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: impl AsRef<std::path::Path>) {
        std::os::unix::fs::symlink(target, self.root.join(name)).unwrap();
    }
}

/// Runs one test body on every walk that the system has.
pub(crate) fn on_each_walk(root: impl AsRef<std::path::Path>, test: impl Fn(&WorkDir)) {
    on_each_walk_with(root, HardLinks::Accept, test);
}

pub(crate) fn on_each_walk_with(root: impl AsRef<std::path::Path>, hard_links: HardLinks, test: impl Fn(&WorkDir)) {
    for walk in [Walk::Auto, Walk::Openat2, Walk::Handles] {
        let options = WorkDirOptions::default().with_walk(walk).with_hard_links(hard_links);
        match WorkDir::with_options(&root, options) {
            Ok(work) => test(&work),
            Err(error) if walk == Walk::Openat2 => eprintln!("skipped: {error} with openat2"),
            Err(error) => panic!("{walk:?}: {error}"),
        }
    }
}

/// Lowers and reads, as a caller would.
pub(crate) fn read(work: &WorkDir, spelling: &str, max_bytes: u64) -> Result<(Snapshot, Vec<u8>), FsError> {
    let mut bytes = Vec::new();
    let path = work.lower(spelling)?;
    let snapshot = work.read(&path, max_bytes, &mut bytes)?;
    assert_eq!(snapshot.len, bytes.len() as u64);
    Ok((snapshot, bytes))
}

/// What reading `spelling` should end in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect {
    Bytes(&'static [u8]),
    Code(&'static str),
}

/// Checks each row on each walk.
pub(crate) fn check(tree: &Tree, rows: &[(&str, Expect)]) {
    on_each_walk(&tree.root, |work| {
        for (spelling, expect) in rows {
            check_one(tree, work, spelling, *expect);
        }
    });
}

fn check_one(tree: &Tree, work: &WorkDir, spelling: &str, expect: Expect) {
    let shown = format!("{work:?} {:?}", spelling.chars().take(60).collect::<String>());
    match (read(work, spelling, 1 << 20), expect) {
        (Ok((_, bytes)), Expect::Bytes(want)) => assert_eq!(bytes, want, "{shown}"),
        (Err(error), Expect::Code(code)) => {
            assert_eq!(error.code(), code, "{shown}: {error}");
            let reason = error.to_string();
            assert!(!reason.contains(tree.outside.to_str().unwrap()) && !reason.contains('\n'), "{reason}");
        }
        (got, want) => panic!("{shown}: wanted {want:?}, got {got:?}"),
    }
}

/// Runs `test` in a thread of its own and fails if it hangs. The time is a watchdog's: no result depends on it.
pub(crate) fn without_hanging(test: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    let worker = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match finished.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("the read blocks"),
        _ => worker.join().unwrap(),
    }
}

/// Runs `meanwhile` over and over in another thread for as long as `test` runs.
pub(crate) fn while_running(mut meanwhile: impl FnMut() + Send, test: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    /// Stops the other thread also when the test fails, since the scope waits for it.
    struct StopOnDrop<'a>(&'a AtomicBool);
    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(Relaxed) {
                meanwhile();
            }
        });
        let _stop = StopOnDrop(stop);
        test();
    });
}
