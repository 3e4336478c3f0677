//! Writes and edits: probe, condition, publication, one writer of a target at a time.

use std::fs::File;
use std::io::Read as _;

use rustix::fs::{OFlags, Stat, fstat};
use rustix::io::Errno;

use super::place::{self, Place};
use super::publish::{Instead, publish};
use super::steps::Step;
use super::{Fault, LocalFs, locks, settle};
use crate::change::{Edit, Operation, WriteIntent, Written};
use crate::edit::{self, MAX_EDIT};
use crate::file_error::{Doing, FileError};
use crate::target::{FileKind, Target, Version};
use crate::text::{self, MAX_BASIS};
use crate::work_dir::WorkDir;

pub(super) fn write_text(
    fs: &LocalFs,
    target: &Target,
    content: &str,
    intent: &WriteIntent,
) -> Result<Written, FileError> {
    let (operation, before, version) = in_turn(fs, target, Doing::Write, || {
        settle(&fs.work, target, Doing::Write, |key| {
            let place = match intent {
                WriteIntent::ReplaceIfVersion(_) => existing(&fs.work, target, Doing::Write, key)?,
                _ => Place::make(&*fs.steps, &fs.work, key)?,
            };
            let found = probe(&fs.work, target, Doing::Write, &place)?;
            match (intent, &found) {
                (WriteIntent::CreateIfAbsent, Some(_)) => return Err(FileError::not_observed(target).into()),
                (WriteIntent::ReplaceIfVersion(known), found) => {
                    check(target, Doing::Write, Some(known), found.as_ref())?;
                }
                _ => {}
            }
            fs.steps.before(Step::Probed)?;
            let before = found.as_ref().and_then(|found| basis(target, &place, found));
            let (operation, instead) = match (&found, intent) {
                (None, _) => (Operation::Create, Instead::Nothing),
                (Some(found), WriteIntent::ReplaceIfVersion(_)) => (Operation::Update, Instead::Exactly(found)),
                (Some(found), _) => (Operation::Update, Instead::File(found)),
            };
            let version = publish(&*fs.steps, &place, content.as_bytes(), instead)?;
            Ok((operation, before, version))
        })
    })?;
    let after = content.strip_prefix(text::BOM).unwrap_or(content);
    Ok(Written { operation, version, before, after: text::to_lf(after).into_owned() })
}

pub(super) fn edit_text(
    fs: &LocalFs,
    target: &Target,
    edit: &Edit,
    guard: Option<&Version>,
) -> Result<Written, FileError> {
    in_turn(fs, target, Doing::Edit, || {
        settle(&fs.work, target, Doing::Edit, |key| {
            let place = existing(&fs.work, target, Doing::Edit, key)?;
            let found = probe(&fs.work, target, Doing::Edit, &place)?;
            check(target, Doing::Edit, guard, found.as_ref())?;
            let found = found.ok_or_else(|| FileError::stale(Doing::Edit, target))?;
            fs.steps.before(Step::Probed)?;
            let size = place::size(&found);
            if size > MAX_EDIT {
                return Err(FileError::too_large(Doing::Edit, target, size, MAX_EDIT).into());
            }
            let bytes = read_exactly(&place, &found, MAX_EDIT)?;
            let edited = edit::apply(bytes, edit, target)?;
            let version = publish(&*fs.steps, &place, &edited.bytes, Instead::Exactly(&found))?;
            Ok(Written { operation: Operation::Update, version, before: edited.before, after: edited.after })
        })
    })
}

fn in_turn<T>(
    fs: &LocalFs,
    target: &Target,
    doing: Doing,
    work: impl FnOnce() -> Result<T, FileError>,
) -> Result<T, FileError> {
    let root = fs.work.open_dir("").and_then(fstat).map_err(|errno| FileError::os(doing, target.display(), errno))?;
    #[allow(
        clippy::unnecessary_cast,
        clippy::allow_attributes,
        reason = "the types of these fields differ by platform"
    )]
    let root = (root.st_dev as u64, root.st_ino as u64);
    locks::in_turn(root, target.key(), work)
}

/// The place of a file that must be there: without its folder it is gone as well.
fn existing(work: &WorkDir, target: &Target, doing: Doing, key: &str) -> Result<Place, Fault> {
    match Place::open(work, key) {
        Err(Errno::NOENT | Errno::NOTDIR) => Err(FileError::stale(doing, target).into()),
        opened => Ok(opened?),
    }
}

/// What is there. Anything but a file is refused, and so is a link: it came up since the target was resolved, and
/// nothing is written through it.
fn probe(work: &WorkDir, target: &Target, doing: Doing, place: &Place) -> Result<Option<Stat>, Fault> {
    match place.look()? {
        Some(found) if place::kind(work, &found) != FileKind::File => Err(FileError::not_regular(doing, target).into()),
        found => Ok(found),
    }
}

fn check(target: &Target, doing: Doing, known: Option<&Version>, found: Option<&Stat>) -> Result<(), FileError> {
    match (known, found) {
        (None, _) => Ok(()),
        (Some(known), Some(found)) if *known == place::version(found) => Ok(()),
        (Some(_), _) => Err(FileError::stale(doing, target)),
    }
}

/// The text that is about to be replaced, if it can be had. That it cannot blocks nothing.
fn basis(target: &Target, place: &Place, found: &Stat) -> Option<String> {
    if place::size(found) > MAX_BASIS {
        return None;
    }
    let bytes = read_exactly(place, found, MAX_BASIS).ok()?;
    let text = text::decode(bytes, target).ok()?;
    Some(text::to_lf(&text).into_owned())
}

/// The content of the file in the state `found`, of at most `limit` bytes.
fn read_exactly(place: &Place, found: &Stat, limit: u64) -> Result<Vec<u8>, Fault> {
    let file: File = match place.open_file(OFlags::RDONLY) {
        // It went or became something else after it was looked at.
        Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => return Err(Fault::Again),
        opened => opened?,
    };
    let is_same = |file| Ok::<_, Fault>(place::version(&fstat(file)?) == place::version(found));
    if !is_same(&file)? {
        return Err(Fault::Again);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(place::size(found)).unwrap_or(0));
    (&file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit || !is_same(&file)? {
        return Err(Fault::Again);
    }
    Ok(bytes)
}
