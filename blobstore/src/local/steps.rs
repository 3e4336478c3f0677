//! The system calls that make a blob visible, each with a place where tests step in.
//!
//! File systems differ in exactly these: network mounts answer `EINVAL` to rename flags, synced and encrypted folders
//! answer `EXDEV` to a rename within one directory, and some mounts refuse hard links.

use std::fmt::Debug;
use std::fs::File;
use std::io::Write;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};

/// A primitive operation of the store's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// Exclusive creation of a private file.
    CreateTemp,
    /// Writing a file's bytes.
    Write,
    /// Flushing a file.
    SyncFile,
    /// A rename that never replaces.
    RenameNew,
    /// A hard link.
    Link,
    /// A rename that replaces.
    Rename,
    /// Exclusive creation at a blob's own name.
    CreateNamed,
    /// Flushing a directory.
    SyncDir,
    /// The deletion of an old blob, before anything about it is looked at.
    Remove,
}

/// What runs before each primitive operation; an error stands for the operation's own.
pub(super) trait Steps: Send + Sync + Debug {
    /// About to do `step`.
    fn before(&self, step: Step) -> Result<(), Errno>;
}

/// Nothing steps in.
#[derive(Debug)]
pub(super) struct Straight;

impl Steps for Straight {
    fn before(&self, _: Step) -> Result<(), Errno> {
        Ok(())
    }
}

/// Creates `name` for writing, readable by its owner alone; an existing one, link or not, is `EEXIST`.
pub(super) fn create(steps: &dyn Steps, step: Step, dir: &File, name: &str) -> Result<File, Errno> {
    steps.before(step)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = retry_on_intr(|| rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600)))?;
    Ok(fd.into())
}

/// Opens `name` without following a link and without waiting for the other end of a FIFO.
pub(super) fn open(dir: &File, name: &str, access: OFlags) -> Result<File, Errno> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = retry_on_intr(|| rustix::fs::openat(dir, name, flags, Mode::empty()))?;
    Ok(fd.into())
}

/// What stands at `name`, a link being itself.
pub(super) fn stat(dir: &File, name: &str) -> Result<Stat, Errno> {
    rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Opens a directory by its path; links on the way are followed.
pub(super) fn open_dir(path: &std::path::Path) -> Result<File, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = retry_on_intr(|| rustix::fs::openat(CWD, path, flags, Mode::empty()))?;
    Ok(fd.into())
}

/// Smallest file whose room is claimed before it is written.
const WORTH_CLAIMING: usize = 64 * 1024;

/// Claims room for a file at once, which makes writing it a third cheaper on file systems that would else look for room
/// block by block. Where this fails, for want of room or because the file system cannot, the write tells.
pub(super) fn claim_room(file: &File, len: usize) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if len >= WORTH_CLAIMING {
        let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len as u64);
    }
}

pub(super) fn write(steps: &dyn Steps, mut file: &File, bytes: &[u8]) -> std::io::Result<()> {
    steps.before(Step::Write)?;
    file.write_all(bytes)
}

pub(super) fn sync_file(steps: &dyn Steps, file: &File) -> std::io::Result<()> {
    steps.before(Step::SyncFile)?;
    file.sync_all()
}

/// Flushes a directory. A file system that knows no such thing says so with one of a few errors, which leave nothing
/// to be done and mean no loss.
pub(super) fn sync_dir(steps: &dyn Steps, dir: &File) -> std::io::Result<()> {
    steps.before(Step::SyncDir)?;
    match dir.sync_all() {
        Err(error) if Errno::from_io_error(&error).is_some_and(is_unsupported) => {
            tracing::debug!(%error, "this file system cannot flush a directory");
            Ok(())
        }
        outcome => outcome,
    }
}

pub(super) fn rename_new(steps: &dyn Steps, dir: &File, from: &str, to: &str) -> Result<(), Errno> {
    steps.before(Step::RenameNew)?;
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    return rustix::fs::renameat_with(dir, from, dir, to, rustix::fs::RenameFlags::NOREPLACE);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    return Err(Errno::NOSYS);
}

pub(super) fn link(steps: &dyn Steps, dir: &File, from: &str, to: &str) -> Result<(), Errno> {
    steps.before(Step::Link)?;
    rustix::fs::linkat(dir, from, dir, to, AtFlags::empty())
}

pub(super) fn rename(steps: &dyn Steps, dir: &File, from: &str, to: &str) -> Result<(), Errno> {
    steps.before(Step::Rename)?;
    rustix::fs::renameat(dir, from, dir, to)
}

pub(super) fn unlink(dir: &File, name: &str) -> Result<(), Errno> {
    rustix::fs::unlinkat(dir, name, AtFlags::empty())
}

/// Whether the error says that the file system or the kernel does not know the operation.
pub(super) fn is_unsupported(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&errno)
}
