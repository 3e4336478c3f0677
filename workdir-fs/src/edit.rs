//! A literal replacement in a text, on bytes alone.

mod endings;

use memchr::memmem;

use crate::change::Edit;
use crate::file_error::{Doing, FileError};
use crate::target::Target;
use crate::text::{self, BOM, MAX_BASIS};
use endings::{Endings, NewEndings};

/// The largest file that is edited, and the largest that an edit may make, in bytes. A few copies of it are held in memory.
pub(crate) const MAX_EDIT: u64 = 256 << 20;

/// What an edit makes of a file.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) bytes: Vec<u8>,
    /// Both texts as in [`Written`](crate::Written).
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// Replaces in the content of `target`.
///
/// Matching is on the text with `\n` endings; what is put together is the original bytes, of which only the matches are left out.
pub(crate) fn apply(bytes: Vec<u8>, edit: &Edit, target: &Target) -> Result<Edited, FileError> {
    let size = bytes.len();
    let raw = text::decode_raw(bytes, target)?;
    let (bom, body) = raw.split_at(if raw.starts_with(BOM) { BOM.len() } else { 0 });
    let (old, new) = (text::to_lf(&edit.old), text::to_lf(&edit.new));
    let lf = text::to_lf(body);
    let matches = count(&lf, &old);
    match matches {
        0 => return Err(FileError::edit_not_found(target)),
        1 => {}
        _ if edit.replace_all => {}
        _ => return Err(FileError::ambiguous_edit(target, matches)),
    }
    let endings = Endings::of(body);
    // Every line of the new text may need two bytes to end.
    let each = new.len() + memchr::memchr_iter(b'\n', new.as_bytes()).count();
    let most = each.saturating_mul(matches).saturating_add(size - matches * old.len()) as u64;
    if most > MAX_EDIT {
        return Err(FileError::too_large(Doing::Edit, target, most, MAX_EDIT));
    }
    let mut edited = String::with_capacity(most as usize);
    edited.push_str(bom);
    let mut new_endings = NewEndings::new(&endings, &lf, &old, &new);
    let mut done = 0;
    for start in memmem::find_iter(lf.as_bytes(), old.as_bytes()) {
        edited.push_str(&body[done..endings.original(start)]);
        new_endings.push(start, &mut edited);
        done = endings.original(start + old.len());
    }
    edited.push_str(&body[done..]);
    let after = text::to_lf(&edited[bom.len()..]).into_owned();
    let before = (size as u64 <= MAX_BASIS).then(|| lf.into_owned());
    Ok(Edited { bytes: edited.into_bytes(), before, after })
}

/// How often `old` is in `lf`, from left to right and without overlaps. Nothing is never there.
fn count(lf: &str, old: &str) -> usize {
    if old.is_empty() { 0 } else { memmem::find_iter(lf.as_bytes(), old.as_bytes()).count() }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
