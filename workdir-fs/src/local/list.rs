//! Listings.

use rustix::fs::{Dir as Listing, Mode, OFlags, openat};

use super::place::{self, Place};
use super::{Fault, read, resolve, settle};
use crate::file_error::{Doing, FileError};
use crate::target::{DirEntry, Info, Target};
use crate::work_dir::WorkDir;

pub(super) fn list_dir(work: &WorkDir, target: &Target) -> Result<Vec<DirEntry>, FileError> {
    settle(work, target, Doing::List, |key| {
        let dir = work.open_dir(key)?;
        // The handles of a walk cannot be read from, so the directory is opened once more, by itself.
        let listing = openat(&dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut place = Place { dir, name: String::new() };
        let mut entries = Vec::new();
        for entry in Listing::new(listing)? {
            let entry = entry?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            let (name, info) = match entry.file_name().to_str() {
                Ok(name) => {
                    name.clone_into(&mut place.name);
                    (name.to_owned(), child(work, key, &place))
                }
                Err(_) => (entry.file_name().to_string_lossy().into_owned(), None),
            };
            entries.push(DirEntry { name, info });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok::<_, Fault>(entries)
    })
}

/// `None` for whatever cannot be reached.
fn child(work: &WorkDir, parent: &str, place: &Place) -> Option<Info> {
    let found = place.look().ok()??;
    if !place::is_link(&found) {
        return Some(place::info(work, &found));
    }
    let asked = if parent.is_empty() { place.name.clone() } else { format!("{parent}/{}", place.name) };
    let key = resolve::follow(work, &asked).ok()?;
    read::stat(work, &Target::new(key, asked)).ok()
}
