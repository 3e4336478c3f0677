//! The last check: a store that fails.

use std::sync::atomic::Ordering;

use attache_runtime::{Attachment, Settings, Turn};

use crate::support::{FakeStore, Folder, limits, outcomes, png};

fn three(folder: &Folder) -> Vec<Attachment> {
    folder.write("0.png", png(0)).write("1.png", png(1)).write("2.png", png(2));
    (0..3).map(|n| Attachment::new(format!("{n}.png"), "image/png")).collect()
}

#[tokio::test]
async fn an_image_that_cannot_be_staged_is_refused_and_later_ones_go_on() {
    let folder = Folder::new();
    let entries = three(&folder);
    let store = FakeStore::default();
    store.fail_for(&png(1));
    let mut turn = Turn::new(&limits(10_000, 2));
    let accepted = turn.accept(&folder.work, &store, &entries).await;
    assert_eq!(outcomes(&accepted.trace), ["image/png", "store_failed", "image/png"]);
    assert_eq!(
        accepted.notes[0].as_str(),
        "attachment '1.png' was not attached: the image could not be stored: the disk is full (store_failed)",
        "the host's paths are nothing for a model"
    );
    assert_eq!((turn.accepted(), accepted.blocks.len()), (2, 2));
}

#[tokio::test]
async fn all_images_of_a_call_share_one_barrier() {
    let folder = Folder::new();
    let mut entries = three(&folder);
    entries.push(Attachment::new("absent.png", "image/png"));
    let store = FakeStore::default();
    let mut turn = Turn::new(&Settings::default());
    let _ = turn.accept(&folder.work, &store, &entries).await;
    assert_eq!((store.staged.load(Ordering::SeqCst), store.synced.load(Ordering::SeqCst)), (3, 1));
    let _ = turn.accept(&folder.work, &store, &entries[3..]).await;
    assert_eq!(store.synced.load(Ordering::SeqCst), 1, "nothing was staged");
}

#[tokio::test]
async fn if_the_barrier_fails_no_image_of_the_call_is_accepted_and_the_budget_is_given_back() {
    let folder = Folder::new();
    let entries = three(&folder);
    let store = FakeStore::default();
    let mut turn = Turn::new(&limits(10_000, 3));
    store.sync_fails.store(true, Ordering::SeqCst);
    let lost = turn.accept(&folder.work, &store, &entries).await;
    assert_eq!(outcomes(&lost.trace), ["store_failed"; 3]);
    assert_eq!((lost.blocks.len(), lost.notes.len(), turn.accepted()), (0, 3, 0));
    store.sync_fails.store(false, Ordering::SeqCst);
    let accepted = turn.accept(&folder.work, &store, &entries).await;
    assert_eq!(accepted.blocks.len(), 3);
}

#[tokio::test]
async fn blobs_are_leased_until_the_outcome_is_dropped() {
    let folder = Folder::new();
    let entries = three(&folder);
    let store = FakeStore::default();
    let accepted = folder.accept_into(&store, &Settings::default(), &entries).await;
    let leased = async || {
        let inventory = attache_runtime::BlobStore::inventory(&store).await.unwrap();
        inventory.blobs.iter().filter(|blob| blob.leased).count()
    };
    assert_eq!(leased().await, 3);
    drop(accepted);
    assert_eq!(leased().await, 0);
}
