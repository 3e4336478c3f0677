//! The checks on one attachment, in order; the first that fails is the refusal.
//!
//! | check | what touches the disk |
//! |---|---|
//! | path or media type blank, or no strings at all | nothing |
//! | media type, normalised, allowed | nothing: the file may be absent |
//! | path lowers to a name beneath the work folder | nothing |
//! | every component exists, none is a link, the last is a regular file | metadata, open |
//! | size of what was opened | no content |
//! | size of what was read, in one consistent state | content |
//! | leading bytes, then soundness | nothing |
//!
//! Before them stands the budget of the turn, and after them the store.

use attache_conversation::{Checked, Refusal, RefusalCode};
use attache_media::MediaType;
use attache_workdir_fs::{FsError, FsErrorKind, RelPath, WorkDir};
use bytes::Bytes;

use crate::attachment::Attachment;
use crate::settings::Settings;

/// An attachment that passed every check which needs no disk.
#[derive(Debug)]
pub(crate) struct Planned {
    path: RelPath,
    declared: Option<MediaType>,
}

/// An image that passed every check on its bytes. These very bytes are then stored.
#[derive(Clone, Debug)]
pub(crate) struct Sound {
    pub(crate) checked: Checked,
    pub(crate) bytes: Bytes,
}

/// A refusal, and whether content was read for it.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) refusal: Refusal,
    pub(crate) was_read: bool,
}

/// The checks that need no disk.
pub(crate) fn plan(attachment: &Attachment, work: &WorkDir) -> Result<Planned, Refusal> {
    let declared = attachment.declared()?;
    let path = work.lower(attachment.path()).map_err(|error| refusal(&error))?;
    Ok(Planned { path, declared })
}

/// Opens, reads and checks the file. Blocks.
pub(crate) fn read_and_check(planned: &Planned, work: &WorkDir, settings: &Settings) -> Result<Sound, Failed> {
    let unread = |error: FsError| Failed { refusal: refusal(&error), was_read: false };
    let file = work.open_file(&planned.path).map_err(unread)?;
    let max_bytes = settings.limits.max_bytes();
    let was_read = file.len() <= max_bytes;
    let buffers = settings.buffers();
    let mut buffer = buffers.take();
    if let Err(error) = file.read_snapshot(max_bytes, &mut buffer) {
        buffers.give_back(buffer);
        return Err(Failed { refusal: refusal(&error), was_read });
    }
    let bytes = buffers.freeze(buffer);
    match settings.intake().check(&bytes, planned.declared) {
        Ok(checked) => Ok(Sound { checked, bytes }),
        Err(refusal) => Err(Failed { refusal, was_read }),
    }
}

fn refusal(error: &FsError) -> Refusal {
    let code = match error.kind() {
        FsErrorKind::OutsideRoot => RefusalCode::OutsideRoot,
        FsErrorKind::NotFound => RefusalCode::NotFound,
        FsErrorKind::SymlinkRefused => RefusalCode::SymlinkRefused,
        FsErrorKind::NotARegularFile => RefusalCode::NotARegularFile,
        FsErrorKind::TooLarge => RefusalCode::TooLarge,
        _ => RefusalCode::IoError,
    };
    // In a note only the path itself stands between single quotes; those of the reason would be escaped.
    Refusal::new(code, error.to_string().replace('\'', "\""))
}
