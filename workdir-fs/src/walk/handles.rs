//! The walk by hand: a handle per component. Each step opens one plain name in a directory that is already open, so a swap
//! elsewhere cannot redirect it, and refuses a link at that name.

use std::io;

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fd::OwnedFd;
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::insist;
use crate::FsError;

pub(super) fn open_file(start: &Dir, path: &str) -> Result<OwnedFd, FsError> {
    match path.rsplit_once('/') {
        Some((parent, name)) => open_last(&open_dir(start, parent)?, name),
        None => open_last(start, path),
    }
}

pub(super) fn open_dir(start: &Dir, path: &str) -> Result<Dir, FsError> {
    let (first, rest) = match path.split_once('/') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let mut dir = step(start, first)?;
    for name in rest.into_iter().flat_map(|rest| rest.split('/')) {
        dir = step(&dir, name)?;
    }
    Ok(dir)
}

/// Opens the directory `name` of `dir`.
fn step(dir: &Dir, name: &str) -> Result<Dir, FsError> {
    let open = || {
        dir.open_dir_nofollow(name).map_err(|cause| match Errno::from_io_error(&cause) {
            Some(Errno::NOTDIR) => no_directory(dir, name).into(),
            _ => cause,
        })
    };
    insist(open, lost_race).map_err(classify)
}

/// What `name` is instead. Systems report "not a directory" for a link as well; this second look picks the words, and nothing is
/// opened after it.
fn no_directory(dir: &Dir, name: &str) -> Errno {
    match dir.symlink_metadata(name) {
        Ok(found) if found.is_symlink() => Errno::LOOP,
        // It became one since.
        Ok(found) if found.is_dir() => Errno::AGAIN,
        _ => Errno::NOTDIR,
    }
}

fn open_last(dir: &Dir, name: &str) -> Result<OwnedFd, FsError> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).nonblock(true);
    options.custom_flags(OFlags::NOCTTY.bits() as i32);
    insist(|| dir.open_with(name, &options), lost_race).map(|file| file.into_std().into()).map_err(classify)
}

fn lost_race(cause: &io::Error) -> bool {
    // No number: cap-std's report of an escape, as in `classify`.
    matches!(Errno::from_io_error(cause), None | Some(Errno::AGAIN | Errno::XDEV | Errno::INTR))
}

fn classify(cause: io::Error) -> FsError {
    match Errno::from_io_error(&cause) {
        Some(errno) => FsError::from_open(errno),
        // cap-std's own errors carry no number. The one it has for a plain name is the escape.
        None => FsError::escape_attempt(cause),
    }
}
