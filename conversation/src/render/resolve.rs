//! From a choice to content: fetches the images that are shown and words the lines of the others.

use std::collections::HashMap;

use attache_blobstore::{BlobId, BlobStore};
use attache_media::{MediaType, sniff};
use bytes::Bytes;

use crate::lines::{aged_line, unavailable_line, withheld_line};
use crate::record::{FileBlock, ImageRecord};
use crate::render::policy::{Chooser, RenderOptions, Slot};

/// An image block on its way to a driver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) block: &'a FileBlock,
    pub(crate) message: usize,
    pub(crate) by_user: bool,
}

/// What takes the block's place.
#[derive(Debug)]
pub(crate) enum Outcome {
    Shown { media_type: MediaType, bytes: Bytes },
    Aged(String),
    Withheld(String),
    Unavailable(String),
}

/// Decides and fetches. The result has one outcome for each candidate, in order; with no store nothing is available.
pub(crate) async fn resolve(
    candidates: &[Candidate<'_>],
    options: RenderOptions,
    last_assistant: Option<usize>,
    withheld: &HashMap<BlobId, String>,
    store: Option<&dyn BlobStore>,
) -> Vec<Outcome> {
    let count = candidates.iter().filter(|candidate| matches!(candidate.block, FileBlock::Record(_))).count();
    let mut chooser = Chooser::new(options, count, last_assistant);
    let mut wanted = Vec::new();
    let mut outcomes: Vec<Option<Outcome>> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        let record = match candidate.block {
            FileBlock::Record(record) => record,
            FileBlock::Malformed { media_type, bytes, sha256 } => {
                outcomes.push(Some(Outcome::Unavailable(unavailable_line(media_type, bytes, sha256))));
                continue;
            }
        };
        let slot = chooser.next(candidate.message, candidate.by_user);
        let reason = record.sha256.id().and_then(|id| withheld.get(&id));
        outcomes.push(match (reason, slot, record.sha256.id()) {
            (Some(reason), ..) => Some(Outcome::Withheld(withheld_text(record, reason))),
            (None, Slot::Aged, _) => Some(Outcome::Aged(aged_text(record, options.ageing.keep()))),
            (None, Slot::Shown, Some(id)) if store.is_some() => {
                wanted.push((outcomes.len(), id, record));
                None
            }
            (None, Slot::Shown, _) => Some(Outcome::Unavailable(unavailable_text(record))),
        });
    }
    if let Some(store) = store {
        fetch(store, &wanted, &mut outcomes).await;
    }
    outcomes.into_iter().map(|outcome| outcome.expect("every wanted image was fetched or found unavailable")).collect()
}

async fn fetch(store: &dyn BlobStore, wanted: &[(usize, BlobId, &ImageRecord)], outcomes: &mut [Option<Outcome>]) {
    let ids: Vec<_> = wanted.iter().map(|(_, id, record)| (*id, Some(record.bytes))).collect();
    let found = store.get_many(&ids).await;
    for ((at, id, record), found) in wanted.iter().zip(found) {
        let outcome = match found {
            Ok(bytes) => match sniff(&bytes).filter(|found| record.media_type.meaning() == Some(*found)) {
                Some(media_type) => Outcome::Shown { media_type, bytes },
                None => Outcome::Unavailable(unavailable_text(record)),
            },
            Err(error) => {
                tracing::warn!(sha256 = %id, %error, "an image is unavailable");
                Outcome::Unavailable(unavailable_text(record))
            }
        };
        outcomes[*at] = Some(outcome);
    }
}

fn aged_text(record: &ImageRecord, keep: usize) -> String {
    aged_line(record.media_type.as_str(), record.bytes, &record.sha256.to_string(), keep)
}

fn unavailable_text(record: &ImageRecord) -> String {
    unavailable_line(record.media_type.as_str(), &record.bytes.to_string(), &record.sha256.to_string())
}

fn withheld_text(record: &ImageRecord, reason: &str) -> String {
    withheld_line(record.media_type.as_str(), record.bytes, &record.sha256.to_string(), reason)
}
