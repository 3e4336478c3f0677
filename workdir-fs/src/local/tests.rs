mod confinement;
mod faults;
mod paths;
mod races;
mod reads;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Mutex;

use tempfile::TempDir;

use super::steps::Step;
use super::*;
use crate::conformance;
use crate::{Walk, WorkDirOptions};

/// `root/`, the work folder, beside `outside/`.
struct Tree {
    root: PathBuf,
    outside: PathBuf,
    _tmp: TempDir,
}

impl Tree {
    fn new() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let base = tmp.path().canonicalize().unwrap();
        let (root, outside) = (base.join("root"), base.join("outside"));
        fs::create_dir(&root).unwrap();
        fs::create_dir(&outside).unwrap();
        Self { root, outside, _tmp: tmp }
    }

    fn fs(&self) -> LocalFs {
        self.walked_by(Walk::Auto)
    }

    fn walked_by(&self, walk: Walk) -> LocalFs {
        self.with_options(WorkDirOptions::default().with_walk(walk))
    }

    fn with_options(&self, options: WorkDirOptions) -> LocalFs {
        LocalFs::new(WorkDir::with_options(&self.root, options).unwrap())
    }

    /// Something happens at the first `step` of each operation: `act` runs, and its error stands for the step's own.
    fn stepping(&self, step: Step, act: impl FnMut() -> Result<(), Errno> + Send + 'static) -> LocalFs {
        LocalFs { steps: Arc::new(At { step, act: Mutex::new(act) }), ..self.fs() }
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    fn link(&self, name: &str, to: impl AsRef<std::path::Path>) {
        symlink(to, self.root.join(name)).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(&self.root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }
}

struct At<F> {
    step: Step,
    act: Mutex<F>,
}

impl<F> fmt::Debug for At<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.step.fmt(f)
    }
}

impl<F: FnMut() -> Result<(), Errno> + Send> Steps for At<F> {
    fn before(&self, step: Step) -> Result<(), Errno> {
        if step == self.step { (self.act.lock().unwrap())() } else { Ok(()) }
    }
}

async fn write(fs: &LocalFs, path: &str, content: &str, intent: &WriteIntent) -> Result<Written, FileError> {
    fs.write_text(&fs.resolve(path, None).await?, content, intent).await
}

async fn edit(fs: &LocalFs, path: &str, old: &str, new: &str) -> Result<Written, FileError> {
    let edit = Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false };
    fs.edit_text(&fs.resolve(path, None).await?, &edit, None).await
}

async fn read(fs: &LocalFs, path: &str) -> Result<String, FileError> {
    fs.read_text(&fs.resolve(path, None).await?, 1 << 20, &Cancel::new()).await
}

/// Code and message of a refusal.
#[track_caller]
fn refusal<T: fmt::Debug>(outcome: Result<T, FileError>) -> (&'static str, String) {
    let error = outcome.unwrap_err();
    assert!(!error.to_string().contains(publish::TEMP_PREFIX), "{error}");
    (error.code(), error.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms() {
    for walk in [Walk::Auto, Walk::Handles] {
        let tree = Tree::new();
        conformance::all(&tree.walked_by(walk), &tree.root).await;
        conformance::versions_tell_what_hides(&tree.walked_by(walk), &tree.root).await;
    }
}

#[tokio::test]
async fn it_is_object_safe_and_shows_its_folder() {
    let tree = Tree::new();
    let fs: Arc<dyn FileSystem> = Arc::new(tree.fs());
    assert!(format!("{fs:?}").starts_with("LocalFs(WorkDir"), "{fs:?}");
}
