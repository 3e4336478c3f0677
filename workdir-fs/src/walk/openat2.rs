//! The walk in one call, Linux 5.6 and later.

use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::insist;

/// No link of any kind, and nothing that is not beneath the start.
const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);

/// Whether the call exists and is allowed: it opens `root` itself.
pub(super) fn probe(root: &Dir) -> Result<(), Errno> {
    open(root, ".", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC).map(drop)
}

pub(super) fn open_file(start: &Dir, path: &str) -> Result<OwnedFd, Errno> {
    // Without O_NONBLOCK a FIFO would hold us until somebody writes to it; without O_NOCTTY a terminal could become ours.
    open(start, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC)
}

pub(super) fn open_dir(start: &Dir, path: &str) -> Result<OwnedFd, Errno> {
    open(start, path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC)
}

fn open(start: &Dir, path: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
    let lost_race = |errno: &Errno| matches!(*errno, Errno::AGAIN | Errno::XDEV | Errno::INTR);
    insist(|| openat2(start, path, flags, Mode::empty(), RESOLVE), lost_race)
}
