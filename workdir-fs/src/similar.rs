//! The one look for a similar name: screenshot names carry spaces that nobody types (U+202F before PM), and accents come
//! composed or decomposed.

use cap_std::fs::Dir;
use rustix::fs::{Dir as Listing, Mode, OFlags, openat};
use rustix::io::Errno;
use unicode_normalization::UnicodeNormalization as _;

use crate::FsError;

/// The most entries of a directory that are looked at.
const MAX_SCANNED: usize = 100_000;

/// The most names that an ambiguous match lists.
const MAX_LISTED: usize = 5;

/// The one entry of `dir` whose folded name is that of `asked`.
///
/// Any entry counts, a link or directory too: which of two to take is not ours to guess, and what the one match is
/// will be judged when it is opened.
///
/// # Errors
///
/// `not_found`: no entry folds to the same name, several do, or the directory cannot be listed or is too big to be sure.
pub(crate) fn find(dir: &Dir, asked: &str) -> Result<String, FsError> {
    find_within(dir, asked, MAX_SCANNED)
}

fn find_within(dir: &Dir, asked: &str, max_scanned: usize) -> Result<String, FsError> {
    let folded: String = fold(asked).collect();
    let listing = list(dir).map_err(not_listed)?;
    let mut matches = Vec::new();
    for (scanned, entry) in listing.enumerate() {
        if scanned == max_scanned + 2 {
            // `.` and `..` are not counted.
            return Err(FsError::folder_too_big(max_scanned));
        }
        let entry = entry.map_err(not_listed)?;
        // A name that is not UTF-8 cannot be asked for, so it is no match either.
        let Ok(name) = entry.file_name().to_str() else { continue };
        if fold(name).eq(folded.chars()) {
            matches.push(name.to_owned());
        }
    }
    match matches.len() {
        0 => Err(FsError::missing()),
        1 => Ok(matches.swap_remove(0)),
        found => {
            matches.sort_unstable();
            matches.truncate(MAX_LISTED);
            Err(FsError::ambiguous(matches, found > MAX_LISTED))
        }
    }
}

/// The entries of `dir`. The handles of a walk cannot be read from, so the directory is opened once more, by itself.
fn list(dir: &Dir) -> Result<Listing, Errno> {
    Listing::new(openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn not_listed(errno: Errno) -> FsError {
    match errno {
        // It was removed, or may be entered but not listed. Either way the exact name is known to be absent.
        Errno::NOENT | Errno::ACCESS => FsError::missing(),
        _ => FsError::os("looked for", errno),
    }
}

/// A name as it is compared: composed (NFC), every space a plain one. Spaces are not merged, and case counts.
fn fold(name: &str) -> impl Iterator<Item = char> {
    name.nfc().map(|c| if is_space(c) { ' ' } else { c })
}

/// Unicode's space separators (category Zs).
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}')
}

#[cfg(test)]
#[path = "similar_tests.rs"]
mod tests;
