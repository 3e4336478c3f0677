//! What every provider of the seam must do, as functions that its own tests call.
//!
//! Each function takes a provider and the folder of this host in which the provider's root really is: a provider far
//! away is tested against a server that keeps its files there. It works in a new folder below it and panics
//! where the provider breaks the contract of [`FileSystem`]. Confinement, faults of the medium and races within
//! an operation need a hand on the provider, and are each one's own to test.

mod changes;
mod edits;
mod reads;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cancel::Cancel;
use crate::change::{Edit, WriteIntent, Written};
use crate::file_error::FileError;
use crate::file_system::FileSystem;
use crate::target::{Info, Target, Version};

pub use changes::{conditions_hold, content_is_published_whole, modes_and_folders, one_of_two_writers_wins};
pub use edits::{edits_are_guarded, edits_are_refused, only_touched_lines_change};
pub use reads::{
    keys_are_stable, listings, looks, reads_are_bounded, reads_are_cancelled, texts, versions_tell,
    versions_tell_what_hides,
};

/// Every function of this module that every provider must pass.
pub async fn all(fs: &dyn FileSystem, root: &Path) {
    keys_are_stable(fs, root).await;
    looks(fs, root).await;
    versions_tell(fs, root).await;
    reads_are_bounded(fs, root).await;
    reads_are_cancelled(fs, root).await;
    texts(fs, root).await;
    listings(fs, root).await;
    content_is_published_whole(fs, root).await;
    conditions_hold(fs, root).await;
    modes_and_folders(fs, root).await;
    one_of_two_writers_wins(fs, root).await;
    only_touched_lines_change(fs, root).await;
    edits_are_refused(fs, root).await;
    edits_are_guarded(fs, root).await;
}

/// A new folder below the root, seen from both sides.
struct Case<'a> {
    fs: &'a dyn FileSystem,
    /// Its path on this host.
    folder: PathBuf,
    /// Its name below the root, the current directory of every path.
    cwd: String,
}

impl<'a> Case<'a> {
    fn new(fs: &'a dyn FileSystem, root: &Path) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let cwd = format!("case-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = root.join(&cwd);
        fs::create_dir(&folder).expect("a new folder");
        Self { fs, folder, cwd }
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("folders");
        fs::write(path, bytes).expect("a file");
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name)).expect("a file")
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.folder.join(name)).expect("a file");
    }

    fn link(&self, name: &str, to: &str) {
        symlink(to, self.folder.join(name)).expect("a link");
    }

    fn fifo(&self, name: &str) {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, self.folder.join(name), kind, mode, 0).expect("a FIFO");
    }

    fn mode(&self, name: &str) -> u32 {
        fs::metadata(self.folder.join(name)).expect("a file").permissions().mode() & 0o7777
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.folder.join(name), fs::Permissions::from_mode(mode)).expect("a mode");
    }

    /// The names in it, to see that no private file is left.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    async fn target(&self, path: &str) -> Target {
        self.fs.resolve(path, Some(&self.cwd)).await.expect(path)
    }

    async fn stat(&self, path: &str) -> Result<Info, FileError> {
        self.fs.stat(&self.target(path).await).await
    }

    async fn version(&self, path: &str) -> Version {
        self.stat(path).await.expect(path).version
    }

    async fn read(&self, path: &str, max_bytes: u64) -> Result<Vec<u8>, FileError> {
        self.fs.read_bytes(&self.target(path).await, max_bytes, &Cancel::new()).await
    }

    async fn write(&self, path: &str, content: &str, intent: &WriteIntent) -> Result<Written, FileError> {
        self.fs.write_text(&self.target(path).await, content, intent).await
    }

    async fn edit(&self, path: &str, edit: &Edit, guard: Option<&Version>) -> Result<Written, FileError> {
        self.fs.edit_text(&self.target(path).await, edit, guard).await
    }
}

/// Checks code and message; `{}` in the message stands for the path as it is shown.
#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, FileError>, target: &Target, code: &str, message: &str) {
    let error = outcome.expect_err(message);
    assert_eq!((error.code(), error.to_string()), (code, message.replace("{}", target.display())));
}

fn replacing(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }
}
