//! A name in a directory that is held open.

use std::fs::File;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, mkdirat, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use super::steps::{self, Steps};
use crate::options::HardLinks;
use crate::snapshot::FileVersion;
use crate::target::{FileKind, Info, Version};
use crate::work_dir::WorkDir;

/// Mode of the folders that a write makes, before the process's mask: like the files in them, for their owner alone.
const NEW_FOLDER: Mode = Mode::RWXU;

/// Where something is or will be.
pub(super) struct Place {
    pub(super) dir: Dir,
    pub(super) name: String,
}

impl Place {
    /// The place `key`, whose directory exists. `LOOP` if a link is on the way to it.
    pub(super) fn open(work: &WorkDir, key: &str) -> Result<Self, Errno> {
        let (parent, name) = split(key)?;
        Ok(Self { dir: work.open_dir(parent)?, name: name.to_owned() })
    }

    /// As [`open`](Self::open), with its directory made if need be, and durable.
    pub(super) fn make(steps: &dyn Steps, work: &WorkDir, key: &str) -> Result<Self, Errno> {
        let (parent, name) = split(key)?;
        let dir = match work.open_dir(parent) {
            Err(Errno::NOENT) => make_dirs(steps, work, parent)?,
            opened => opened?,
        };
        Ok(Self { dir, name: name.to_owned() })
    }

    /// What is there, if anything; a link is itself.
    pub(super) fn look(&self) -> Result<Option<Stat>, Errno> {
        match statat(&self.dir, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Opens what is there. `LOOP` if it is a link.
    pub(super) fn open_file(&self, access: OFlags) -> Result<File, Errno> {
        // Without O_NONBLOCK a FIFO would hold us until somebody takes its other end.
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        retry_on_intr(|| openat(&self.dir, &self.name, flags, Mode::empty())).map(File::from)
    }
}

/// The folder itself has no name that anything could be written to.
fn split(key: &str) -> Result<(&str, &str), Errno> {
    if key.is_empty() {
        return Err(Errno::ISDIR);
    }
    Ok(key.rsplit_once('/').unwrap_or(("", key)))
}

fn make_dirs(steps: &dyn Steps, work: &WorkDir, path: &str) -> Result<Dir, Errno> {
    let mut parent = work.open_dir("")?;
    for (end, _) in path.match_indices('/').chain([(path.len(), "")]) {
        let path = &path[..end];
        let dir = match work.open_dir(path) {
            Err(Errno::NOENT) => {
                match mkdirat(&parent, split(path)?.1, NEW_FOLDER) {
                    Ok(()) => steps::sync_dir(steps, &parent)?,
                    // Somebody else made it, or something else, which the open will tell.
                    Err(Errno::EXIST) => {}
                    Err(errno) => return Err(errno),
                }
                work.open_dir(path)?
            }
            opened => opened?,
        };
        parent = dir;
    }
    Ok(parent)
}

/// What `found` is to the tools.
pub(super) fn info(work: &WorkDir, found: &Stat) -> Info {
    let kind = kind(work, found);
    Info { version: version(found), kind, size: (kind == FileKind::File).then_some(size(found)) }
}

pub(super) fn kind(work: &WorkDir, found: &Stat) -> FileKind {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile if found.st_nlink > 1 && work.options().hard_links == HardLinks::Refuse => {
            FileKind::Other
        }
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        _ => FileKind::Other,
    }
}

pub(super) fn version(found: &Stat) -> Version {
    FileVersion::of_stat(found).into()
}

pub(super) fn size(found: &Stat) -> u64 {
    FileVersion::of_stat(found).size()
}

pub(super) fn is_link(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::Symlink
}
