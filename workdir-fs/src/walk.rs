//! From a name beneath the folder to a descriptor, through no link and without blocking.
//!
//! Two ways, one result:
//!
//! 1. [`openat2`]: the kernel walks, and refuses links and escapes itself.
//! 2. [`handles`]: one directory handle after another, each opened without following.
//!
//! Neither looks first and opens later. Neither judges what it opened: that is
//! [`open_file`](crate::open_file)'s part.

mod handles;
#[cfg_attr(not(target_os = "linux"), path = "walk/no_openat2.rs")]
mod openat2;

use std::thread;

use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

use crate::options::Walk;
use crate::{FsError, OpenRootError};

/// The longest path that is walked, in bytes. Linux takes 4096 with the final NUL; the handle walk keeps to the same.
const MAX_PATH: usize = 4095;

/// How often an open that lost a race is tried again. A guess: one swap in the way is common, two in a row are rare.
const MAX_TRIES: u32 = 16;

/// Settles on a walk for the folder `root`: `Auto` stays only where `openat2` works.
pub(crate) fn settle(walk: Walk, root: &Dir, given: &std::path::Path) -> Result<Walk, OpenRootError> {
    if walk == Walk::Handles {
        return Ok(walk);
    }
    match (walk, openat2::probe(root)) {
        (_, Ok(())) => Ok(walk),
        (Walk::Openat2, Err(errno)) => Err(OpenRootError::new(given, errno)),
        // Whatever keeps openat2 from opening the very folder we hold, the other walk does not need it.
        (_, Err(_)) => Ok(Walk::Handles),
    }
}

/// Opens `path`, beneath `start`, for reading.
pub(crate) fn open_file(walk: Walk, start: &Dir, path: &str) -> Result<OwnedFd, FsError> {
    check_length(path)?;
    match walk {
        Walk::Handles => handles::open_file(start, path),
        _ => match openat2::open_file(start, path) {
            Err(errno) if falls_back(walk, errno) => handles::open_file(start, path),
            opened => opened.map_err(FsError::from_open),
        },
    }
}

/// Opens the directory `path`, beneath `start`, as a place to look things up in.
pub(crate) fn open_dir(walk: Walk, start: &Dir, path: &str) -> Result<Dir, FsError> {
    check_length(path)?;
    match walk {
        Walk::Handles => handles::open_dir(start, path),
        _ => match openat2::open_dir(start, path) {
            Err(errno) if falls_back(walk, errno) => handles::open_dir(start, path),
            opened => opened.map(|fd| Dir::from_std_file(fd.into())).map_err(FsError::from_open),
        },
    }
}

/// Seccomp filters answer `EPERM` or `ENOSYS` for calls they do not know, and may be put on a thread at any time.
fn falls_back(walk: Walk, errno: Errno) -> bool {
    walk == Walk::Auto && matches!(errno, Errno::NOSYS | Errno::PERM)
}

/// Tries an open again for as long as it says that it lost a race, a bounded number of times. Every try is as confined as the
/// first.
///
/// `EAGAIN` says so outright (and also that a file is leased). An escape is reported as well when what was found was moved
/// out of the directory it was found in before the kernel was done; a real one is reported every time.
fn insist<T, E>(mut open: impl FnMut() -> Result<T, E>, lost_race: impl Fn(&E) -> bool) -> Result<T, E> {
    for _ in 1..MAX_TRIES {
        match open() {
            Err(error) if lost_race(&error) => thread::yield_now(),
            opened => return opened,
        }
    }
    open()
}

fn check_length(path: &str) -> Result<(), FsError> {
    if path.len() > MAX_PATH {
        return Err(FsError::path_too_long(path.len(), MAX_PATH));
    }
    Ok(())
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
