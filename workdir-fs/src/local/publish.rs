//! From bytes to a file under its name: whole or not at all.

use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid, fchmod, fchown, fstat, unlinkat};
use rustix::io::Errno;

use super::Fault;
use super::place::{self, Place};
use super::steps::{self, Steps};
use crate::target::Version;

/// What the names of private files begin with.
pub(super) const TEMP_PREFIX: &str = ".attache-tmp-";

/// What the new content takes the place of.
#[derive(Clone, Copy)]
pub(super) enum Instead<'a> {
    /// Nothing, and what comes up meanwhile is not replaced.
    Nothing,
    /// A file that looked like this; any state of it.
    File(&'a Stat),
    /// A file in exactly this state.
    Exactly(&'a Stat),
}

impl Instead<'_> {
    /// Whether what is there now is still what may be replaced.
    fn holds(self, now: Option<&Stat>) -> bool {
        match (self, now) {
            (Self::Nothing, now) => now.is_none(),
            (_, None) => false,
            (Self::File(_), Some(now)) => rustix::fs::FileType::from_raw_mode(now.st_mode).is_file(),
            (Self::Exactly(then), Some(now)) => place::version(then) == place::version(now),
        }
    }

    fn replaced(self) -> Option<Stat> {
        match self {
            Self::Nothing => None,
            Self::File(found) | Self::Exactly(found) => Some(*found),
        }
    }
}

/// Writes and publishes, durably. `Again` if something else is at the place than was there. In order of preference:
///
/// 1. private file, then a rename: for a new file one that never replaces;
/// 2. no such rename (`EINVAL` on network mounts): a hard link, and the private file goes;
/// 3. no rename within the directory at all (`EXDEV` in synced folders): written at the name itself, where a crash leaves
///    a part.
///
/// Nothing is ever unlinked to make room. Every name is one in the directory held open, and no link is followed.
pub(super) fn publish(steps: &dyn Steps, place: &Place, bytes: &[u8], instead: Instead<'_>) -> Result<Version, Fault> {
    let mut temp = Temp::create(steps, place)?;
    steps::write(steps, &temp.file, bytes)?;
    dress(&temp.file, instead.replaced())?;
    // After a failed flush the system takes the pages for clean: the file is dropped, and no second flush asked.
    steps::sync_file(steps, &temp.file)?;
    if matches!(instead, Instead::Nothing) {
        match move_new(steps, &mut temp, &place.name) {
            Err(Errno::XDEV) => return write_in_place(steps, place, bytes, instead),
            Err(Errno::EXIST) => return Err(Fault::Again),
            moved => moved?,
        }
    } else {
        if !instead.holds(place.look()?.as_ref()) {
            return Err(Fault::Again);
        }
        match steps::rename(steps, &place.dir, &temp.name, &place.name) {
            Ok(()) => temp.gone = true,
            Err(Errno::XDEV) => return write_in_place(steps, place, bytes, instead),
            // A directory came up.
            Err(Errno::ISDIR | Errno::EXIST | Errno::NOTEMPTY) => return Err(Fault::Again),
            Err(errno) => return Err(errno.into()),
        }
    }
    // A second name changes the times, so it goes before they are taken.
    temp.sweep();
    steps::sync_dir(steps, &place.dir)?;
    Ok(place::version(&fstat(&temp.file)?))
}

fn move_new(steps: &dyn Steps, temp: &mut Temp<'_>, name: &str) -> Result<(), Errno> {
    match steps::rename_new(steps, &temp.place.dir, &temp.name, name) {
        // Sandboxes that do not know the call answer EPERM.
        Err(errno) if steps::is_unsupported(errno) || errno == Errno::PERM => {
            steps::link(steps, &temp.place.dir, &temp.name, name)
        }
        moved => {
            moved?;
            temp.gone = true;
            Ok(())
        }
    }
}

fn write_in_place(steps: &dyn Steps, place: &Place, bytes: &[u8], instead: Instead<'_>) -> Result<Version, Fault> {
    let file = if matches!(instead, Instead::Nothing) {
        match steps::create(steps, &place.dir, &place.name) {
            Err(Errno::EXIST) => return Err(Fault::Again),
            created => created?,
        }
    } else {
        let file = match place.open_file(OFlags::WRONLY) {
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::ISDIR) => return Err(Fault::Again),
            opened => opened?,
        };
        if !instead.holds(Some(&fstat(&file)?)) {
            return Err(Fault::Again);
        }
        file
    };
    steps::overwrite(steps, &file, bytes)?;
    dress(&file, instead.replaced())?;
    steps::sync_file(steps, &file)?;
    steps::sync_dir(steps, &place.dir)?;
    Ok(place::version(&fstat(&file)?))
}

/// Gives a file the mode of the one it replaces, or that of a new one, whatever the process's mask.
fn dress(file: &File, replaced: Option<Stat>) -> Result<(), Errno> {
    let own = fstat(file)?;
    let mut mode = Mode::RUSR | Mode::WUSR;
    if let Some(replaced) = replaced {
        mode = Mode::from_raw_mode(replaced.st_mode);
        if (own.st_uid, own.st_gid) != (replaced.st_uid, replaced.st_gid) {
            let (owner, group) = (Uid::from_raw(replaced.st_uid), Gid::from_raw(replaced.st_gid));
            if fchown(file, Some(owner), Some(group)).is_err() {
                // Not permitted: it is ours now, and must not lend our rights to whoever runs it.
                mode -= Mode::SUID | Mode::SGID;
            }
        }
    }
    // After the owner, whose change takes bits away.
    match fchmod(file, mode) {
        // Some file systems have one mode for all.
        Err(errno) if steps::is_unsupported(errno) || errno == Errno::PERM => Ok(()),
        done => done,
    }
}

/// A private file; its name goes with it.
struct Temp<'a> {
    place: &'a Place,
    name: String,
    file: File,
    gone: bool,
}

impl<'a> Temp<'a> {
    fn create(steps: &dyn Steps, place: &'a Place) -> Result<Self, Errno> {
        loop {
            let name = unique();
            match steps::create(steps, &place.dir, &name) {
                Ok(file) => return Ok(Self { place, name, file, gone: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }

    /// Removes the private name, unless it became the target's.
    fn sweep(&mut self) {
        if !self.gone {
            // There is nobody to tell, and nothing that could be done.
            let _ = unlinkat(&self.place.dir, &self.name, AtFlags::empty());
            self.gone = true;
        }
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        self.sweep();
    }
}

/// A name that no other writer has: the process's id tells whose it is, the rest makes it unique.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = process::id();
    // The standard library's hash keys are random for each process.
    let random = RandomState::new().hash_one((pid, COUNT.fetch_add(1, Ordering::Relaxed)));
    format!("{TEMP_PREFIX}{pid}-{random:016x}")
}
