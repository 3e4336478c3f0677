//! The walk in one call, Linux 5.6 and later.

use std::thread;

use cap_std::fs::Dir;
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

/// How often an open that lost a race is tried again. A guess: paths without `..` hardly ever lose one.
const MAX_TRIES: u32 = 16;

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
    let mut tries = 1;
    loop {
        match openat2(start, path, flags, Mode::empty(), RESOLVE) {
            // EAGAIN: something was renamed while the kernel walked (or the file is leased), so ask again.
            Err(Errno::AGAIN | Errno::INTR) if tries < MAX_TRIES => {
                tries += 1;
                thread::yield_now();
            }
            opened => return opened,
        }
    }
}
