//! Stands in where the system has no `openat2`.

use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::io::Errno;

pub(super) fn probe(_root: &Dir) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

pub(super) fn open_file(_start: &Dir, _path: &str) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

pub(super) fn open_dir(_start: &Dir, _path: &str) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}
