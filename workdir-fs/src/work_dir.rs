//! The capability itself.

use std::fmt;
use std::path::{self, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::options::{Walk, WorkDirOptions};
use crate::{FsError, FsErrorKind, OpenFile, OpenRootError, RelPath, Snapshot, rel_path, similar, walk};

/// The one directory a tool may name files in, held open.
///
/// Clones share the same open directory. It stays the same directory when it is renamed, and is usable from any thread. All
/// methods block; none takes a lock.
#[derive(Clone)]
pub struct WorkDir {
    inner: Arc<Inner>,
}

struct Inner {
    dir: Dir,
    given: PathBuf,
    canonical: PathBuf,
    options: WorkDirOptions,
    /// `options.walk`, settled for this kernel.
    walk: Walk,
}

impl WorkDir {
    /// Opens the folder at `path` with the default options.
    ///
    /// # Ambient Authority
    ///
    /// `path` is any path of the host, relative to the current directory unless absolute, and links on the way
    /// to the folder are followed. It must not come from a tool. Nothing else in this crate reaches outside.
    ///
    /// # Errors
    ///
    /// If there is no directory at `path`, or it may not be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenRootError> {
        Self::with_options(path, WorkDirOptions::default())
    }

    /// Opens the folder at `path`.
    ///
    /// # Ambient Authority
    ///
    /// As for [`open`](Self::open).
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open), and if `options` force a walk that the system does not have.
    pub fn with_options(path: impl AsRef<Path>, options: WorkDirOptions) -> Result<Self, OpenRootError> {
        let path = path.as_ref();
        let fail = |cause| OpenRootError::new(path, cause);
        let given = path::absolute(path).map_err(fail)?;
        let dir = Dir::open_ambient_dir(&given, ambient_authority()).map_err(fail)?;
        let canonical = given.canonicalize().map_err(fail)?;
        let walk = walk::settle(options.walk, &dir, path)?;
        Ok(Self { inner: Arc::new(Inner { dir, given, canonical, options, walk }) })
    }

    /// Takes a directory that the host has opened by itself, with the default options. `path` is what it is called; it must be
    /// absolute and is not looked at.
    ///
    /// # Errors
    ///
    /// If what is open is no directory.
    pub fn adopt(directory: std::fs::File, path: impl AsRef<Path>) -> Result<Self, OpenRootError> {
        let path = path.as_ref();
        let fail = |cause| OpenRootError::new(path, cause);
        if !directory.metadata().map_err(fail)?.is_dir() {
            return Err(OpenRootError::new(path, Errno::NOTDIR));
        }
        let dir = Dir::from_std_file(directory);
        let options = WorkDirOptions::default();
        let walk = walk::settle(options.walk, &dir, path)?;
        let (given, canonical) = (path.to_owned(), path.to_owned());
        Ok(Self { inner: Arc::new(Inner { dir, given, canonical, options, walk }) })
    }

    /// The folder as it was given, made absolute without looking at the disk.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.given
    }

    /// The folder with every link resolved, as it was when it was opened.
    #[must_use]
    pub fn canonical_path(&self) -> &Path {
        &self.inner.canonical
    }

    /// Turns what a tool wrote into a name beneath the folder. Purely lexical: the disk is not touched.
    ///
    /// Accepted are relative paths, with `.` segments and doubled slashes dropped, and absolute ones that lie
    /// beneath the folder as given or canonical, compared by whole components. Nothing is decoded or unescaped.
    ///
    /// # Errors
    ///
    /// `outside_root`: an empty path, a `..` segment, a NUL, any other absolute path, or the folder itself.
    pub fn lower(&self, spelling: &str) -> Result<RelPath, FsError> {
        rel_path::lower(spelling, [&self.inner.given, &self.inner.canonical])
    }

    /// Opens the regular file at `path` without following a link at any component and without blocking.
    ///
    /// If exactly the last component is absent, that one directory is searched for a name that differs only in Unicode
    /// composition or kind of space; a unique match is opened instead, and [`OpenFile::name`] tells.
    ///
    /// # Errors
    ///
    /// `not_found`, `symlink_refused`, `not_a_regular_file`, and `io_error` for what the system refuses.
    pub fn open_file(&self, path: &RelPath) -> Result<OpenFile, FsError> {
        match self.open_exact_or_similar(path) {
            // Some things refuse to be opened at all. They are no folder either, if that was asked for.
            Err(error) if path.asks_for_folder() && error.kind() == FsErrorKind::NotARegularFile => {
                Err(FsError::no_such_folder())
            }
            opened => {
                let (fd, name) = opened?;
                OpenFile::judge(fd, name, self.inner.options.hard_links)
            }
        }
    }

    /// Opens and reads the file at `path`: [`open_file`](Self::open_file), then [`OpenFile::read_snapshot`].
    ///
    /// # Errors
    ///
    /// Those of the two. The buffer is then empty or holds part of the file.
    pub fn read(&self, path: &RelPath, max_bytes: u64, buffer: &mut Vec<u8>) -> Result<Snapshot, FsError> {
        buffer.clear();
        self.open_file(path)?.read_snapshot(max_bytes, buffer)
    }

    pub(crate) fn options(&self) -> WorkDirOptions {
        self.inner.options
    }

    /// The directory `path`, components joined by `/`, or the folder itself where that is empty. Through no link.
    pub(crate) fn open_dir(&self, path: &str) -> Result<Dir, Errno> {
        let Inner { dir, walk, .. } = &*self.inner;
        if path.is_empty() {
            return dir.try_clone().map_err(|cause| Errno::from_io_error(&cause).unwrap_or(Errno::IO));
        }
        walk::open_dir(*walk, dir, path).map_err(|error| error.errno())
    }

    /// Whatever is at `path`, for reading. Through no link, and without waiting for the other end of a FIFO.
    pub(crate) fn open_any(&self, path: &str) -> Result<OwnedFd, Errno> {
        let Inner { dir, walk, .. } = &*self.inner;
        walk::open_file(*walk, dir, path).map_err(|error| error.errno())
    }

    /// Opens whatever is at `path`, or at the one similar name in the same directory, which is reached by
    /// its own walk and then searched and opened through one handle.
    fn open_exact_or_similar(&self, path: &RelPath) -> Result<(OwnedFd, RelPath), FsError> {
        let Inner { dir, walk, .. } = &*self.inner;
        match walk::open_file(*walk, dir, path.as_str()) {
            Ok(fd) => return Ok((fd, path.clone())),
            Err(error) if error.is_missing() => {}
            Err(error) => return Err(error),
        }
        let (parent, name) = path.split();
        let parent = match parent {
            Some(parent) => &walk::open_dir(*walk, dir, parent)?,
            None => dir,
        };
        let similar = similar::find(parent, name)?;
        let fd = walk::open_file(*walk, parent, &similar)?;
        Ok((fd, path.with_file_name(&similar)))
    }
}

impl fmt::Debug for WorkDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { given, options, walk, .. } = &*self.inner;
        f.debug_struct("WorkDir")
            .field("path", given)
            .field("options", options)
            .field("walk", walk)
            .finish_non_exhaustive()
    }
}
