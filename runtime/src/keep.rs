//! The last check: the bytes are durably stored.

use attache_blobstore::{BlobError, BlobStore, LocalStore, Stored};
use attache_conversation::{Checked, Refusal, RefusalCode};
use bytes::Bytes;

use crate::check::Sound;

/// An image that is stored: durable once the store is synced.
#[derive(Debug)]
pub(crate) struct Kept {
    pub(crate) checked: Checked,
    pub(crate) stored: Stored,
}

/// Stores an image, without waiting for the disk to hold its name.
pub(crate) async fn stage(store: &dyn BlobStore, sound: Sound) -> Result<Kept, Refusal> {
    let stored = store.stage(sound.bytes).await.map_err(|error| store_failed(&error))?;
    Ok(Kept { checked: sound.checked, stored })
}

/// As [`stage`], several at once; the outcomes come in the order of the images.
pub(crate) async fn stage_many(store: &dyn BlobStore, images: Vec<Sound>) -> Vec<Result<Kept, Refusal>> {
    let (checked, bytes) = apart(images);
    kept(checked, store.stage_many(bytes).await)
}

/// As [`stage_many`], on this thread, which may block.
pub(crate) fn stage_many_at_once(store: &LocalStore, images: Vec<Sound>) -> Vec<Result<Kept, Refusal>> {
    let (checked, bytes) = apart(images);
    kept(checked, store.stage_many_blocking(&bytes))
}

fn apart(images: Vec<Sound>) -> (Vec<Checked>, Vec<Bytes>) {
    images.into_iter().map(|sound| (sound.checked, sound.bytes)).unzip()
}

fn kept(checked: Vec<Checked>, staged: Vec<Result<Stored, BlobError>>) -> Vec<Result<Kept, Refusal>> {
    let mut staged = staged.into_iter();
    let keep = |checked| match staged.next() {
        Some(Ok(stored)) => Ok(Kept { checked, stored }),
        Some(Err(error)) => Err(store_failed(&error)),
        None => Err(Refusal::new(RefusalCode::StoreFailed, "the blob store did not answer")),
    };
    checked.into_iter().map(keep).collect()
}

/// One barrier for everything staged. If it fails, every staged image becomes a refusal; returns how many did.
pub(crate) async fn sync(store: &dyn BlobStore, outcomes: &mut [Result<Kept, Refusal>]) -> usize {
    if outcomes.iter().all(Result::is_err) {
        return 0;
    }
    let Err(error) = store.sync().await else { return 0 };
    let refusal = store_failed(&error);
    let lost = outcomes.iter_mut().filter(|outcome| outcome.is_ok());
    lost.map(|outcome| *outcome = Err(refusal.clone())).count()
}

/// The note goes to a model, which has no business with the host's paths; the log has them.
fn store_failed(error: &BlobError) -> Refusal {
    tracing::warn!(%error, "an image could not be stored");
    Refusal::new(RefusalCode::StoreFailed, format!("the image could not be stored: {}", in_words(error)))
}

fn in_words(error: &BlobError) -> &'static str {
    match error.code() {
        "storage_full" => "the disk is full",
        "permission_denied" => "the blob store may not be written to",
        "read_only" => "the blob store is on a read-only file system",
        "not_a_blob" => "something else stands at its place in the blob store",
        "too_large" => "it is larger than the blob store takes",
        _ => "the blob store failed",
    }
}
