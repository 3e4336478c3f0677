//! The directory: opened late, made private, opened anew if it was deleted.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{Mode, Stat};
use rustix::io::Errno;

use super::steps;

/// Nothing is created before [`ready`](Self::ready).
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    handle: Option<Arc<File>>,
    /// The directory was made, or found and made private, by this store.
    ready: bool,
    /// Directories that hold an entry which may not be on the disk yet.
    unsynced: Vec<PathBuf>,
}

impl Folder {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, state: Mutex::default() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory if it exists.
    pub(super) fn existing(&self) -> Result<Option<Arc<File>>, Errno> {
        let mut state = self.state();
        if let Some(handle) = &state.handle {
            return Ok(Some(handle.clone()));
        }
        match steps::open_dir(&self.path) {
            Ok(dir) => Ok(Some(state.handle.insert(Arc::new(dir)).clone())),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// The directory, made if need be, and open to its owner alone.
    pub(super) fn ready(&self) -> io::Result<Arc<File>> {
        let mut state = self.state();
        if let (true, Some(handle)) = (state.ready, &state.handle) {
            return Ok(handle.clone());
        }
        let mut parents = Vec::new();
        make(&self.path, &mut parents)?;
        // Even a directory that was there may have been made a moment ago by a process that had no time to flush it.
        parents.push(parent_of(&self.path));
        let dir = Arc::new(steps::open_dir(&self.path)?);
        tighten(&dir, &self.path)?;
        for parent in parents {
            if !state.unsynced.contains(&parent) {
                state.unsynced.push(parent);
            }
        }
        state.ready = true;
        Ok(state.handle.insert(dir).clone())
    }

    /// The directory if it exists, looked for anew if it was deleted.
    pub(super) fn current(&self) -> Result<Option<Arc<File>>, Errno> {
        match self.existing()? {
            Some(dir) if self.drop_if_deleted(&dir) => self.existing(),
            dir => Ok(dir),
        }
    }

    /// What stands at `name`, with the directory it is in. A directory that was deleted and made anew is found.
    pub(super) fn look(&self, name: &str) -> Result<Option<(Arc<File>, Stat)>, Errno> {
        for _ in 0..2 {
            let Some(dir) = self.existing()? else { return Ok(None) };
            match steps::stat(&dir, name) {
                Ok(stat) => return Ok(Some((dir, stat))),
                Err(Errno::NOENT) if self.drop_if_deleted(&dir) => {}
                Err(Errno::NOENT) => return Ok(None),
                Err(errno) => return Err(errno),
            }
        }
        Ok(None)
    }

    /// Lets go of the directory if it was deleted; says whether it was.
    pub(super) fn drop_if_deleted(&self, dir: &Arc<File>) -> bool {
        let deleted = rustix::fs::fstat(dir).is_ok_and(|stat| stat.st_nlink == 0);
        if deleted {
            let mut state = self.state();
            if state.handle.as_ref().is_some_and(|handle| Arc::ptr_eq(handle, dir)) {
                state.handle = None;
                state.ready = false;
            }
        }
        deleted
    }

    /// The directories to be flushed before a new name in this one is safe; the caller takes them over.
    pub(super) fn take_unsynced(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.state().unsynced)
    }

    pub(super) fn has_unsynced(&self) -> bool {
        !self.state().unsynced.is_empty()
    }

    /// Gives back what could not be flushed.
    pub(super) fn put_unsynced(&self, parents: Vec<PathBuf>) {
        self.state().unsynced.extend(parents);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in here leaves at worst a directory to be opened again.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a directory and those above it that are missing, and lists the parents that got an entry.
fn make(path: &Path, parents: &mut Vec<PathBuf>) -> io::Result<()> {
    let create = || DirBuilder::new().mode(0o700).create(path);
    let made = match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.parent().is_some() => {
            make(&parent_of(path), parents)?;
            create()
        }
        made => made,
    };
    match made {
        Ok(()) => parents.push(parent_of(path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

fn parent_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_owned(),
        None => path.to_owned(),
    }
}

/// Takes the group's and everybody's access away. A file system without modes cannot, and is used as it is.
fn tighten(dir: &File, path: &Path) -> Result<(), Errno> {
    let mode = Mode::from_raw_mode(rustix::fs::fstat(dir)?.st_mode);
    let others = Mode::RWXG | Mode::RWXO;
    if mode.intersects(others) {
        let private = Mode::RWXU & mode;
        if let Err(error) = rustix::fs::fchmod(dir, private) {
            tracing::warn!(path = %path.display(), %error, "cannot make the blob directory private");
        }
    }
    Ok(())
}
