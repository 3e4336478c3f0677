//! The local store against the disk, and against system calls that fail.

mod barrier;
mod keep;
mod model;
mod publish;
mod read;
mod write;

use std::fmt;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rustix::io::Errno;
use tempfile::TempDir;

use super::steps::{Step, Steps};
use super::{LocalStore, LocalStoreBuilder};
use crate::{BlobId, Durability};

/// A directory that goes with the test, and a store in it that is not made yet.
struct Fixture {
    root: TempDir,
    store: LocalStore,
}

impl Fixture {
    fn new() -> Self {
        Self::with(|builder| builder)
    }

    fn os() -> Self {
        Self::with(|builder| builder.durability(Durability::Os))
    }

    fn with(set: impl FnOnce(LocalStoreBuilder) -> LocalStoreBuilder) -> Self {
        let root = tempfile::tempdir().unwrap();
        let store = set(LocalStore::builder(root.path().join("blobs"))).build();
        Self { root, store }
    }

    /// With `hook` before every primitive operation.
    fn hooked(hook: impl Fn(Step) -> Result<(), Errno> + Send + Sync + 'static) -> Self {
        Self::with(|builder| builder.steps(Arc::new(Hook(hook))))
    }

    fn path(&self, id: BlobId) -> PathBuf {
        self.store.dir().join(id.to_string())
    }

    /// A blob written before the store was, a day old, so that nothing is known of it.
    fn plant(&self, id: BlobId, bytes: &[u8]) {
        fs::create_dir_all(self.store.dir()).unwrap();
        fs::write(self.path(id), bytes).unwrap();
        self.age(id);
    }

    /// Dates a blob back by a day.
    fn age(&self, id: BlobId) {
        let file = fs::File::options().write(true).open(self.path(id)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(86_400)).unwrap();
    }

    /// The names in the directory, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.store.dir()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl LocalStoreBuilder {
    fn steps(mut self, steps: Arc<dyn Steps>) -> Self {
        self.steps = steps;
        self
    }
}

struct Hook<F>(F);

impl<F> fmt::Debug for Hook<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

impl<F: Fn(Step) -> Result<(), Errno> + Send + Sync> Steps for Hook<F> {
    fn before(&self, step: Step) -> Result<(), Errno> {
        (self.0)(step)
    }
}

/// Steps that fail as told, each time they come, and a record of all that came.
#[derive(Debug, Default)]
struct Faults {
    failing: Mutex<Vec<(Step, Errno)>>,
    seen: Mutex<Vec<Step>>,
}

impl Faults {
    fn of(failing: &[(Step, Errno)]) -> Arc<Self> {
        Arc::new(Self { failing: Mutex::new(failing.to_vec()), seen: Mutex::default() })
    }

    fn set(&self, failing: &[(Step, Errno)]) {
        *self.failing.lock().unwrap() = failing.to_vec();
    }

    fn take_seen(&self) -> Vec<Step> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

impl Steps for Faults {
    fn before(&self, step: Step) -> Result<(), Errno> {
        self.seen.lock().unwrap().push(step);
        let failing = self.failing.lock().unwrap();
        failing.iter().find(|(failing, _)| *failing == step).map_or(Ok(()), |&(_, errno)| Err(errno))
    }
}

/// Waits until what is verified from here on is trusted: longer than a tick of the file system's clock.
fn settle() {
    std::thread::sleep(Duration::from_millis(40));
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms() {
    for fixture in [Fixture::new(), Fixture::os(), Fixture::with(|builder| builder.cache_bytes(0))] {
        crate::conformance::all(&fixture.store).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms_on_awkward_file_systems() {
    let cases: [&[(Step, Errno)]; 3] = [
        &[(Step::RenameNew, Errno::INVAL)],
        &[(Step::RenameNew, Errno::NOSYS), (Step::Link, Errno::PERM)],
        &[(Step::RenameNew, Errno::XDEV), (Step::Rename, Errno::XDEV), (Step::Link, Errno::XDEV)],
    ];
    for failing in cases {
        let fixture = Fixture::with(|builder| builder.steps(Faults::of(failing)));
        let store = &fixture.store;
        // All but the races, where these fall-backs may let more than one writer believe it was first.
        crate::conformance::round_trip(store).await;
        crate::conformance::equal_content_is_stored_once(store).await;
        crate::conformance::missing_is_missing(store).await;
        crate::conformance::inventory_lists(store).await;
        crate::conformance::removal_respects_age_and_leases(store).await;
        crate::conformance::sweep_takes_what_nobody_names(store).await;
        crate::conformance::check_finds_what_is_missing_and_orphaned(store).await;
    }
}
