//! Attachments of a call that is answered in another process: a harness there holds the conversation, and only the
//! checks happen here.

use attache_blobstore::BlobId;
use attache_conversation::Refusal;
use attache_media::MediaType;
use attache_workdir_fs::WorkDir;
use bytes::Bytes;

use crate::accepted::{Note, Taken, TraceEntry, notes};
use crate::attachment::Attachment;
use crate::check::Sound;
use crate::schedule::{self, Budget};
use crate::settings::Settings;

/// What a bridged call hands over.
#[derive(Clone, Debug, Default)]
pub struct Bridged {
    /// For each attachment, in order, the line that announces it or its refusal; a new label gets a line of its own
    /// after the first.
    pub lines: Vec<Note>,
    /// The accepted images, in order.
    pub images: Vec<CheckedImage>,
    /// One entry for each attachment, in order.
    pub trace: Vec<TraceEntry>,
}

/// An image that passed every check.
#[derive(Clone, Debug)]
pub struct CheckedImage {
    /// The path as the tool wrote it.
    pub path: String,
    /// The type of the bytes.
    pub media_type: MediaType,
    /// The very bytes that were checked.
    pub bytes: Bytes,
}

/// Checks the attachments of one call as [`Turn::accept`](crate::Turn::accept) does, but stores nothing: each file is
/// read once, and the checked bytes are handed over. The limits of a turn apply to the call.
pub async fn check_bridged(work: &WorkDir, settings: &Settings, attachments: &[Attachment]) -> Bridged {
    let mut budget = Budget::new(settings.limits.max_per_turn());
    let outcomes = schedule::run_at_once(attachments, work, settings, &mut budget, hash).await;
    let mut bridged = Bridged::default();
    for (attachment, outcome) in attachments.iter().zip(outcomes) {
        let path = attachment.path();
        let outcome = outcome.map(|(taken, bytes)| {
            let media_type = taken.checked.media_type;
            bridged.images.push(CheckedImage { path: path.to_owned(), media_type, bytes });
            taken
        });
        bridged.lines.extend(notes(path, &outcome, true));
        bridged.trace.push(TraceEntry::new(path, attachment.media_type(), &outcome));
    }
    bridged
}

/// No store does it here, and the trace needs it.
fn hash(images: Vec<Sound>) -> Vec<Result<(Taken, Bytes), Refusal>> {
    let ids: Vec<_> = match &images[..] {
        [first, second] => BlobId::of_two(&first.bytes, &second.bytes).into(),
        _ => images.iter().map(|sound| BlobId::of(&sound.bytes)).collect(),
    };
    let each = ids.into_iter().zip(images);
    each.map(|(id, Sound { checked, bytes })| Ok((Taken { id, checked, bytes: bytes.len() as u64 }, bytes))).collect()
}
