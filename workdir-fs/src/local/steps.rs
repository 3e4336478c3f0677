//! The system calls that make a change visible, each with a place where tests step in.
//!
//! File systems differ in exactly these: network mounts answer `EINVAL` to rename flags, synced and encrypted folders
//! answer `EXDEV` to a rename within one directory, and some mounts refuse hard links.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, Mode, OFlags, fsync, linkat, openat, renameat};
use rustix::io::{Errno, retry_on_intr};

/// A step of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Step {
    /// The target was looked at and the caller's condition holds.
    Probed,
    /// Exclusive creation of the private file.
    CreateTemp,
    /// Writing the content.
    Write,
    /// Flushing the file.
    SyncFile,
    /// A rename that never replaces.
    RenameNew,
    /// A hard link.
    Link,
    /// A rename that replaces.
    Rename,
    /// Flushing a directory.
    SyncDir,
}

/// What runs before each step; an error stands for the step's own.
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

/// Creates `name` for its owner alone; whatever exists there, link or not, is `EEXIST`.
pub(super) fn create(steps: &dyn Steps, dir: &Dir, name: &str) -> Result<File, Errno> {
    steps.before(Step::CreateTemp)?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    retry_on_intr(|| openat(dir, name, flags, Mode::RUSR | Mode::WUSR)).map(File::from)
}

pub(super) fn write(steps: &dyn Steps, mut file: &File, bytes: &[u8]) -> io::Result<()> {
    steps.before(Step::Write)?;
    file.write_all(bytes)
}

/// Writes over what is there. The length is cut last: truncating first would kill a reader that has the file mapped.
pub(super) fn overwrite(steps: &dyn Steps, file: &File, bytes: &[u8]) -> io::Result<()> {
    steps.before(Step::Write)?;
    file.write_all_at(bytes, 0)?;
    file.set_len(bytes.len() as u64)
}

pub(super) fn sync_file(steps: &dyn Steps, file: &File) -> Result<(), Errno> {
    steps.before(Step::SyncFile)?;
    retry_on_intr(|| fsync(file))
}

/// Flushes a directory. A file system that knows no such thing says so with one of a few errors, which leave nothing to be
/// done and mean no loss. One that may be written to but not read cannot be opened for it, nor flushed.
pub(super) fn sync_dir(steps: &dyn Steps, dir: &Dir) -> Result<(), Errno> {
    steps.before(Step::SyncDir)?;
    // The handles of a walk may be good for look-ups alone.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let synced = retry_on_intr(|| openat(dir, ".", flags, Mode::empty())).and_then(|dir| retry_on_intr(|| fsync(&dir)));
    match synced {
        Err(errno) if is_unsupported(errno) || errno == Errno::ACCESS => Ok(()),
        outcome => outcome,
    }
}

pub(super) fn rename_new(steps: &dyn Steps, dir: &Dir, from: &str, to: &str) -> Result<(), Errno> {
    steps.before(Step::RenameNew)?;
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    return rustix::fs::renameat_with(dir, from, dir, to, rustix::fs::RenameFlags::NOREPLACE);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    return Err(Errno::NOSYS);
}

pub(super) fn link(steps: &dyn Steps, dir: &Dir, from: &str, to: &str) -> Result<(), Errno> {
    steps.before(Step::Link)?;
    linkat(dir, from, dir, to, AtFlags::empty())
}

pub(super) fn rename(steps: &dyn Steps, dir: &Dir, from: &str, to: &str) -> Result<(), Errno> {
    steps.before(Step::Rename)?;
    renameat(dir, from, dir, to)
}

/// Whether the error says that the file system or the kernel does not know the operation.
pub(super) fn is_unsupported(errno: Errno) -> bool {
    [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::NOTSUP].contains(&errno)
}
