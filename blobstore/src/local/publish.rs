//! From bytes to a file under its name: whole or not at all.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::fs::OFlags;
use rustix::io::Errno;

use super::identity::why_foreign;
use super::steps::{self, Step, Steps};
use crate::Durability;

/// What the names of writers' private files begin with.
pub(super) const TEMP_PREFIX: &str = ".tmp-";

/// What stands at the name before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing: whatever comes up meanwhile is not replaced.
    Absent,
    /// A damaged blob, to be replaced in one step.
    Damaged,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The bytes are under their name.
    Published,
    /// Something came up at the name meanwhile.
    Taken,
}

/// Writes and publishes. In order of preference:
///
/// 1. private file, then a rename that never replaces;
/// 2. no such rename (`EINVAL` on network mounts): a hard link, and the private file goes;
/// 3. no hard links either: a plain rename, if nothing is at the name. Two writers may then replace each other, with
///    equal bytes;
/// 4. no rename within the directory at all (`EXDEV` in synced folders): written at the name itself. Readers may then
///    meet a part of it, which they notice as they verify.
///
/// A damaged blob is replaced by a plain rename, or in the last case overwritten. Nothing is ever unlinked to make room.
/// An error publishes nothing, save in the last case, where a damaged blob may stay.
pub(super) fn publish(
    steps: &dyn Steps,
    durability: Durability,
    dir: &File,
    name: &str,
    bytes: &[u8],
    before: Before,
) -> io::Result<Outcome> {
    let mut temp = Temp::create(steps, dir)?;
    fill(steps, durability, &temp.file, bytes)?;
    match move_in(steps, dir, &temp.name, name, before) {
        Ok(Moved::Renamed) => {
            temp.gone = true;
            Ok(Outcome::Published)
        }
        Ok(Moved::Linked) => Ok(Outcome::Published),
        Ok(Moved::Taken) => Ok(Outcome::Taken),
        Err(Errno::XDEV) => write_in_place(steps, durability, dir, name, bytes, before),
        Err(errno) => Err(errno.into()),
    }
}

/// A name that no other writer has: the process's id tells whose it is, the rest makes it unique.
pub(super) fn unique(prefix: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = process::id();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The standard library's hash keys are random for each process.
    let random = RandomState::new().hash_one((pid, count, SystemTime::now()));
    format!("{prefix}{pid}-{random:016x}")
}

fn fill(steps: &dyn Steps, durability: Durability, file: &File, bytes: &[u8]) -> io::Result<()> {
    steps::claim_room(file, bytes.len());
    steps::write(steps, file, bytes)?;
    match durability {
        // After a failed flush the system takes the pages for clean: the file is dropped, and no second flush asked.
        Durability::Full => steps::sync_file(steps, file),
        Durability::Os => Ok(()),
    }
}

/// What became of the private file.
enum Moved {
    Renamed,
    /// It has a second name now.
    Linked,
    Taken,
}

fn move_in(steps: &dyn Steps, dir: &File, temp: &str, name: &str, before: Before) -> Result<Moved, Errno> {
    if before == Before::Damaged {
        return steps::rename(steps, dir, temp, name).map(|()| Moved::Renamed);
    }
    match steps::rename_new(steps, dir, temp, name) {
        Ok(()) => return Ok(Moved::Renamed),
        Err(Errno::EXIST) => return Ok(Moved::Taken),
        // Sandboxes that do not know the call answer EPERM.
        Err(errno) if steps::is_unsupported(errno) || errno == Errno::PERM => {}
        Err(errno) => return Err(errno),
    }
    match steps::link(steps, dir, temp, name) {
        Ok(()) => return Ok(Moved::Linked),
        Err(Errno::EXIST) => return Ok(Moved::Taken),
        // Mounts without hard links answer with a wide choice of errors; only these are about something else.
        Err(errno @ (Errno::XDEV | Errno::NOENT | Errno::NOSPC | Errno::DQUOT | Errno::IO | Errno::ROFS)) => {
            return Err(errno);
        }
        Err(_) => {}
    }
    match steps::stat(dir, name) {
        Err(Errno::NOENT) => steps::rename(steps, dir, temp, name).map(|()| Moved::Renamed),
        Ok(_) => Ok(Moved::Taken),
        Err(errno) => Err(errno),
    }
}

fn write_in_place(
    steps: &dyn Steps,
    durability: Durability,
    dir: &File,
    name: &str,
    bytes: &[u8],
    before: Before,
) -> io::Result<Outcome> {
    let file = match before {
        Before::Absent => match steps::create(steps, Step::CreateNamed, dir, name) {
            Err(Errno::EXIST) => return Ok(Outcome::Taken),
            created => created?,
        },
        Before::Damaged => {
            let file = match steps::open(dir, name, OFlags::WRONLY) {
                // A link, or what nobody reads from: swapped in since the blob was judged.
                Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Ok(Outcome::Taken),
                opened => opened?,
            };
            if why_foreign(&rustix::fs::fstat(&file)?).is_some() {
                return Ok(Outcome::Taken);
            }
            file
        }
    };
    // The length is cut last: truncating first would kill a reader that has the file mapped. A part that stays here
    // after an error is left alone, as another writer of equal bytes may be completing it this moment.
    steps::write(steps, &file, bytes)?;
    file.set_len(bytes.len() as u64)?;
    if durability == Durability::Full {
        steps::sync_file(steps, &file)?;
    }
    Ok(Outcome::Published)
}

/// A private file; its name goes with it.
struct Temp<'a> {
    dir: &'a File,
    name: String,
    file: File,
    gone: bool,
}

impl<'a> Temp<'a> {
    fn create(steps: &dyn Steps, dir: &'a File) -> Result<Self, Errno> {
        loop {
            let name = unique(TEMP_PREFIX);
            match steps::create(steps, Step::CreateTemp, dir, &name) {
                Ok(file) => return Ok(Self { dir, name, file, gone: false }),
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.gone
            && let Err(error) = steps::unlink(self.dir, &self.name)
        {
            // It is swept once it is old.
            tracing::debug!(name = %self.name, %error, "cannot remove a temporary file");
        }
    }
}
