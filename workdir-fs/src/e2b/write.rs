//! Writes and edits: look, condition, private file, publication, one writer of a target at a time.

use std::hash::{BuildHasher as _, RandomState};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::entry::Entry;
use super::failure::Failure;
use super::read;
use super::sandbox::{MAX_TRIES, Sandbox, checked, info};
use super::turns;
use crate::blocking::blocking;
use crate::change::{Edit, Operation, WriteIntent, Written};
use crate::edit::{self, MAX_EDIT};
use crate::file_error::{Doing, FileError, FileErrorKind};
use crate::target::{FileKind, Target, Version};
use crate::text::{self, MAX_BASIS};

/// What the names of private files begin with.
const TEMP_PREFIX: &str = ".attache-tmp-";
/// The permissions of a new file: for its owner alone.
const NEW_FILE: u32 = 0o600;

/// Creates `$1`, which must not be there, for its owner alone.
const CREATE: &str = r#"set -C; umask 077; : > "$1""#;
/// Gives `$2` the permissions `$1`, and flushes it.
const FINISH: &str = r#"chmod -- "$1" "$2" && sync -- "$2""#;
/// Gives the file `$1` the name `$2`, if nothing has it, and flushes the folder `$3`.
const PUBLISH: &str = r#"ln -T -- "$1" "$2" && rm -f -- "$1" && sync -- "$3""#;

pub(super) async fn write_text(
    sandbox: &Sandbox,
    target: &Target,
    content: &str,
    intent: &WriteIntent,
) -> Result<Written, FileError> {
    let _turn = turn(sandbox, target).await;
    let bytes = Bytes::copy_from_slice(content.as_bytes());
    let after = text::to_lf(content.strip_prefix(text::BOM).unwrap_or(content)).into_owned();
    for _ in 0..MAX_TRIES {
        match try_write(sandbox, target, &bytes, intent).await {
            Err(Failure::Again) => {}
            outcome => {
                let refused = |failure: Failure| failure.into_error(Doing::Write, target, Some(TEMP_PREFIX));
                let (operation, before, version) = outcome.map_err(refused)?;
                return Ok(Written { operation, version, before, after });
            }
        }
    }
    Err(Failure::Again.into_error(Doing::Write, target, None))
}

async fn try_write(
    sandbox: &Sandbox,
    target: &Target,
    bytes: &Bytes,
    intent: &WriteIntent,
) -> Result<(Operation, Option<String>, Version), Failure> {
    let (key, found) = probe(sandbox, target, Doing::Write).await?;
    match (intent, &found) {
        (WriteIntent::CreateIfAbsent, Some(_)) => return Err(FileError::not_observed(target).into()),
        (WriteIntent::ReplaceIfVersion(known), found) => check(target, Doing::Write, Some(known), found.as_ref())?,
        _ => {}
    }
    let (operation, instead) = match (&found, intent) {
        (None, _) => (Operation::Create, Instead::Nothing),
        (Some(found), WriteIntent::ReplaceIfVersion(_)) => (Operation::Update, Instead::Exactly(found)),
        (Some(found), _) => (Operation::Update, Instead::File(found)),
    };
    let before = match &found {
        Some(found) => basis(sandbox, target, key, found).await,
        None => None,
    };
    let version = publish(sandbox, key, bytes.clone(), instead).await?;
    Ok((operation, before, version))
}

pub(super) async fn edit_text(
    sandbox: &Sandbox,
    target: &Target,
    edit: &Edit,
    guard: Option<&Version>,
) -> Result<Written, FileError> {
    let _turn = turn(sandbox, target).await;
    for _ in 0..MAX_TRIES {
        match try_edit(sandbox, target, edit, guard).await {
            Err(Failure::Again) => {}
            outcome => return outcome.map_err(|failure| failure.into_error(Doing::Edit, target, Some(TEMP_PREFIX))),
        }
    }
    // It changed at every try, so whatever the caller knows of it is out of date.
    Err(FileError::stale(Doing::Edit, target))
}

async fn try_edit(
    sandbox: &Sandbox,
    target: &Target,
    edit: &Edit,
    guard: Option<&Version>,
) -> Result<Written, Failure> {
    let (key, found) = probe(sandbox, target, Doing::Edit).await?;
    check(target, Doing::Edit, guard, found.as_ref())?;
    let found = found.ok_or_else(|| FileError::stale(Doing::Edit, target))?;
    if found.size > MAX_EDIT {
        return Err(FileError::too_large(Doing::Edit, target, found.size, MAX_EDIT).into());
    }
    let bytes = read_exactly(sandbox, target, key, &found, MAX_EDIT).await?;
    let (shown, edit) = (target.clone(), edit.clone());
    let edited = blocking(move || edit::apply(bytes, &edit, &shown)).await?;
    let version = publish(sandbox, key, edited.bytes.into(), Instead::Exactly(&found)).await?;
    Ok(Written { operation: Operation::Update, version, before: edited.before, after: edited.after })
}

async fn turn(sandbox: &Sandbox, target: &Target) -> turns::Turn {
    turns::turn((sandbox.wire.address().to_owned(), sandbox.at(target.key()))).await
}

/// What is there. Anything but a file is refused, and so is a link: it came up since the target was resolved, and
/// nothing is written through it.
async fn probe<'a>(sandbox: &Sandbox, target: &'a Target, doing: Doing) -> Result<(&'a str, Option<Entry>), Failure> {
    let key = checked(doing, target)?;
    match sandbox.look_at(key).await? {
        // The work folder itself has no name that anything could be written to.
        _ if key.is_empty() => Err(FileError::not_regular(doing, target).into()),
        Some(entry) if entry.kind() != FileKind::File => Err(FileError::not_regular(doing, target).into()),
        found => Ok((key, found)),
    }
}

fn check(target: &Target, doing: Doing, known: Option<&Version>, found: Option<&Entry>) -> Result<(), FileError> {
    match known {
        Some(known) if found.and_then(Entry::version).as_ref() != Some(known) => Err(FileError::stale(doing, target)),
        _ => Ok(()),
    }
}

/// The text that is about to be replaced, if it can be had. That it cannot blocks nothing.
async fn basis(sandbox: &Sandbox, target: &Target, key: &str, found: &Entry) -> Option<String> {
    if found.size > MAX_BASIS {
        return None;
    }
    let bytes = read_exactly(sandbox, target, key, found, MAX_BASIS).await.ok()?;
    let text = text::decode(bytes, target).ok()?;
    Some(text::to_lf(&text).into_owned())
}

/// The content of a file that was looked at. That it stayed the same meanwhile shows in the last look before publication.
async fn read_exactly(
    sandbox: &Sandbox,
    target: &Target,
    key: &str,
    found: &Entry,
    limit: u64,
) -> Result<Vec<u8>, Failure> {
    match read::content(sandbox, target, key, limit).await {
        Ok(bytes) if bytes.len() as u64 == found.size => Ok(bytes),
        // It grew, shrank or went after it was looked at.
        Ok(_) | Err(Failure::Said(_) | Failure::Known(FileErrorKind::NotFound)) => Err(Failure::Again),
        Err(failure) => Err(failure),
    }
}

/// What the new content takes the place of.
#[derive(Clone, Copy)]
enum Instead<'a> {
    /// Nothing, and what comes up meanwhile is not replaced.
    Nothing,
    /// A file that looked like this; any state of it.
    File(&'a Entry),
    /// A file in exactly this state.
    Exactly(&'a Entry),
}

impl Instead<'_> {
    /// Whether what is there now is still what may be replaced.
    fn holds(self, now: Option<&Entry>) -> bool {
        match (self, now) {
            (Self::Nothing, now) => now.is_none(),
            (_, None) => false,
            (Self::File(_), Some(now)) => now.kind() == FileKind::File,
            (Self::Exactly(then), Some(now)) => now.kind() == FileKind::File && then.version() == now.version(),
        }
    }
}

/// Writes a private file beside the target and gives it the target's name. `Again` if something else is there than was.
async fn publish(sandbox: &Sandbox, key: &str, bytes: Bytes, instead: Instead<'_>) -> Result<Version, Failure> {
    let (parent, _) = key.rsplit_once('/').unwrap_or(("", key));
    let (folder, path) = (sandbox.at(parent), sandbox.at(key));
    if matches!(instead, Instead::Nothing) && !parent.is_empty() {
        match sandbox.wire.make_dir(&folder).await {
            Err(Failure::Exists) => {}
            made => made?,
        }
    }
    let staged = format!("{}/{}", folder.trim_end_matches('/'), unique());
    let outcome = publish_as(sandbox, &staged, (key, &path, &folder), bytes, instead).await;
    if !matches!(outcome, Ok((_, true))) {
        // There is nobody to tell, and nothing that could be done.
        let _ = sandbox.wire.remove(&staged).await;
    }
    Ok(outcome?.0)
}

/// The version that is published, and whether the private name is gone.
async fn publish_as(
    sandbox: &Sandbox,
    staged: &str,
    (key, path, folder): (&str, &str, &str),
    bytes: Bytes,
    instead: Instead<'_>,
) -> Result<(Version, bool), Failure> {
    let version = stage(sandbox, staged, bytes, instead).await?;
    let is_new = matches!(instead, Instead::Nothing);
    let published = if is_new {
        sandbox.wire.run("/bin/sh", &["-c", PUBLISH, "sh", staged, path, folder]).await.map(|_| ())
    } else if instead.holds(sandbox.look_at(key).await?.as_ref()) {
        sandbox.wire.rename(staged, path).await
    } else {
        return Err(Failure::Again);
    };
    let is_told = published.is_ok();
    if let Err(failure) = published {
        // The words of a command differ between systems, and an answer may be lost on its way; what is there tells.
        match sandbox.look_at(key).await?.map(|found| found.version()) {
            Some(found) if found.as_ref() == Some(&version) => {}
            Some(_) if is_new => return Err(Failure::Again),
            _ => return Err(failure),
        }
    }
    if !(is_new && is_told) {
        sandbox.wire.run("sync", &["--", folder]).await?;
    }
    Ok((version, is_told))
}

/// Makes the private file: nobody else's from its first byte on, and with the permissions of what it takes the place of at its last.
async fn stage(sandbox: &Sandbox, staged: &str, bytes: Bytes, instead: Instead<'_>) -> Result<Version, Failure> {
    let length = bytes.len() as u64;
    let wire = &sandbox.wire;
    wire.run("/bin/sh", &["-c", CREATE, "sh", staged]).await?;
    wire.upload(staged, bytes).await?;
    let mode = match instead {
        Instead::Nothing => NEW_FILE,
        Instead::File(found) | Instead::Exactly(found) => found.mode,
    };
    wire.run("/bin/sh", &["-c", FINISH, "sh", &format!("{mode:o}"), staged]).await?;
    let stored = wire.stat(staged).await?;
    if stored.size != length {
        return Err(Failure::other(format!("the sandbox stored {} of {length} bytes", stored.size)));
    }
    Ok(info(&stored)?.version)
}

/// A name that no other writer has.
fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    // The standard library's hash keys are random for each process, and each time.
    let random = |seed: u64| RandomState::new().hash_one((process::id(), COUNT.fetch_add(1, Ordering::Relaxed), seed));
    format!("{TEMP_PREFIX}{:016x}{:016x}", random(0), random(1))
}
