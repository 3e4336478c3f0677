//! The folder that a bundle goes to, held open.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use attache_workdir_fs::WorkDir;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, linkat, mkdirat, open, openat, unlinkat};

use crate::EvidenceError;
use crate::input::{expand_home, words};

/// A folder that everything is written beneath.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) dir: File,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Place {
    /// Makes the folder with its parents, or takes one that is empty. A new temporary one if no path is given.
    pub(crate) fn make(path: Option<&Path>) -> Result<Self, EvidenceError> {
        let failed = |cause: io::Error| EvidenceError::operation(format!("workdir creation failed: {}", words(&cause)));
        let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) else {
            let folder = tempfile::Builder::new().prefix("attache-images-").tempdir().map_err(failed)?;
            let path = folder.keep().canonicalize().map_err(failed)?;
            return Self::open(path).map_err(failed);
        };
        let path: PathBuf = expand_home(path).components().collect();
        let failed = |cause: io::Error| {
            EvidenceError::operation(format!("workdir creation failed: {}: {}", path.display(), words(&cause)))
        };
        let refused = |why: &str| EvidenceError::input(format!("{why}: {}", path.display()));
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_symlink() => return Err(refused("workdir cannot be a symlink")),
            Ok(found) if !found.is_dir() => return Err(refused("workdir already exists and is not empty")),
            Ok(_) => {}
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&path).map_err(failed)?,
            Err(cause) => return Err(failed(cause)),
        }
        let place = path.canonicalize().and_then(Self::open).map_err(failed)?;
        // Judged on what is open, whatever has happened to the path.
        match place.is_empty() {
            Ok(true) => Ok(place),
            Ok(false) => Err(refused("workdir already exists and is not empty")),
            Err(cause) => Err(failed(cause)),
        }
    }

    fn open(path: PathBuf) -> io::Result<Self> {
        let dir = File::from(open(&path, FOLDER, Mode::empty())?);
        // The folder's own name should outlast a power cut too, as far as its parent lets us ask for it.
        if let Some(parent) = path.parent().and_then(|parent| File::open(parent).ok()) {
            let _ = parent.sync_all();
        }
        Ok(Self { path, dir })
    }

    fn is_empty(&self) -> io::Result<bool> {
        let mut buffer = Vec::with_capacity(8192);
        let listing = openat(&self.dir, ".", FOLDER, Mode::empty())?;
        let mut entries = RawDir::new(listing, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            if !matches!(entry?.file_name().to_bytes(), b"." | b"..") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes a folder in this one; it is an error if anything has that name.
    pub(crate) fn make_folder(&self, name: &str) -> io::Result<Self> {
        mkdirat(&self.dir, name, Mode::from_raw_mode(0o777))?;
        self.dir.sync_all()?;
        let dir = File::from(openat(&self.dir, name, FOLDER, Mode::empty())?);
        Ok(Self { path: self.path.join(name), dir })
    }

    /// The same folder for reading, whatever has taken its place by path.
    pub(crate) fn reader(&self) -> io::Result<WorkDir> {
        WorkDir::adopt(self.dir.try_clone()?, &self.path).map_err(io::Error::other)
    }

    /// Makes a file that was not there.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.dir, name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Writes a file that is there whole or not at all, durably, and never in place of another.
    pub(crate) fn publish(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = format!(".{name}.tmp");
        let mut file = self.create(&temporary)?;
        let published = file
            .write_all(bytes)
            .and_then(|()| file.sync_all())
            .and_then(|()| Ok(linkat(&self.dir, &temporary, &self.dir, name, AtFlags::empty())?));
        let removed = self.remove(&temporary);
        published.and(removed)?;
        self.dir.sync_all()
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.dir, name, AtFlags::empty())?)
    }
}
