//! The limits of a turn, and that what is past them is never opened.

use std::sync::atomic::Ordering;

use attache_runtime::{Attachment, LocalStore, MemoryStore, Settings, Turn};

#[cfg(target_os = "linux")]
use crate::support::Opens;
use crate::support::{FakeStore, Folder, limits, names, outcomes, png, texts};

fn entries(names: impl IntoIterator<Item = String>) -> Vec<Attachment> {
    names.into_iter().map(|name| Attachment::new(name, "image/png")).collect()
}

fn pngs(folder: &Folder, count: u64) -> Vec<Attachment> {
    for n in 0..count {
        folder.write(&format!("{n}.png"), png(n));
    }
    entries((0..count).map(|n| format!("{n}.png")))
}

#[tokio::test]
async fn seven_images_in_calls_of_three_and_four() {
    let folder = Folder::new();
    let entries = pngs(&folder, 7);
    let context = tempfile::tempdir().unwrap();
    let store = LocalStore::new(context.path().join("blobs"));
    let mut turn = Turn::new(&Settings::default());
    let first = turn.accept(&folder.work, &store, &entries[..3]).await;
    let second = turn.accept(&folder.work, &store, &entries[3..]).await;
    assert_eq!((first.blocks.len(), second.blocks.len(), turn.accepted()), (3, 2, 5));
    assert_eq!(texts(&first), [""; 0]);
    assert_eq!(
        texts(&second),
        [5, 6].map(|n| format!(
            "attachment '{n}.png' was not attached: the limit of 5 images in one turn (max_per_turn) was reached \
             (turn_limit)"
        ))
    );
    assert_eq!(names(store.dir()).len(), 5);
    let next = Turn::new(&Settings::default()).accept(&folder.work, &store, &entries[5..]).await;
    assert_eq!(next.blocks.len(), 2, "another turn begins anew");
}

#[tokio::test]
async fn refusals_do_not_use_the_budget_up() {
    let folder = Folder::new();
    let mut entries = pngs(&folder, 2);
    folder.write("text.png", "no image");
    let bad = Attachment::new("text.png", "image/png");
    for at in [0, 2, 3] {
        entries.insert(at, bad.clone());
    }
    let accepted = folder.accept(&limits(10_000, 2), &entries).await;
    let mismatch = "content_mismatch";
    assert_eq!(outcomes(&accepted.trace), [mismatch, "image/png", mismatch, mismatch, "image/png"]);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_past_the_limit_are_never_opened() {
    let folder = Folder::new();
    let entries = pngs(&folder, 8);
    let opens = Opens::of(&folder.path());
    for concurrency in 1..=4 {
        let settings = limits(10_000, 3).with_concurrency(concurrency.try_into().unwrap());
        let store = MemoryStore::new();
        let mut turn = Turn::new(&settings);
        let first = turn.accept(&folder.work, &store, &entries[..2]).await;
        let second = turn.accept(&folder.work, &store, &entries[2..]).await;
        assert_eq!((first.blocks.len(), second.blocks.len()), (2, 1));
        assert_eq!(opens.take(), ["0.png", "1.png", "2.png"]);
    }
    let none = folder.accept(&limits(10_000, 0), &entries).await;
    assert_eq!(outcomes(&none.trace), ["turn_limit"; 8]);
    assert_eq!(opens.take(), [""; 0]);
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_reads_of_a_turn_are_bounded() {
    let folder = Folder::new();
    for n in 0..12 {
        folder.write(&format!("{n}.png"), "no image");
    }
    folder.write("good.png", png(1));
    let bad = entries((0..12).map(|n| format!("{n}.png")));
    let good = entries(["good.png".to_owned()]);
    let opens = Opens::of(&folder.path());
    for concurrency in 1..=4 {
        let settings = limits(10_000, 2).with_concurrency(concurrency.try_into().unwrap());
        let store = MemoryStore::new();
        let mut turn = Turn::new(&settings);
        // Not found and too large are refused without a read, and do not count.
        let unread = turn.accept(&folder.work, &store, &entries((0..20).map(|n| format!("absent-{n}")))).await;
        assert_eq!(outcomes(&unread.trace), ["not_found"; 20]);
        let first = turn.accept(&folder.work, &store, &bad[..6]).await;
        assert_eq!(outcomes(&first.trace), ["content_mismatch"; 6]);
        let second = turn.accept(&folder.work, &store, &bad[6..]).await;
        let (mismatch, limit) = ("content_mismatch", "turn_limit");
        assert_eq!(outcomes(&second.trace), [mismatch, mismatch, limit, limit, limit, limit]);
        assert!(second.notes[2].contains("8 files were read and refused"), "{}", second.notes[2]);
        let third = turn.accept(&folder.work, &store, &good).await;
        assert_eq!(outcomes(&third.trace), ["turn_limit"], "the rest of the turn is refused unread");
        assert_eq!(opens.take(), ["0.png", "1.png", "2.png", "3.png", "4.png", "5.png", "6.png", "7.png"]);
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_midway_leaves_the_turn_as_it_was() {
    let folder = Folder::new();
    let entries = pngs(&folder, 3);
    let store = FakeStore::default();
    store.sync_hangs.store(true, Ordering::SeqCst);
    let mut turn = Turn::new(&limits(10_000, 3));
    {
        let call = turn.accept(&folder.work, &store, &entries);
        let mut call = std::pin::pin!(call);
        while store.synced.load(Ordering::SeqCst) == 0 {
            let once = futures_util::poll!(&mut call);
            assert!(once.is_pending());
            tokio::task::yield_now().await;
        }
    }
    store.sync_hangs.store(false, Ordering::SeqCst);
    assert_eq!(turn.accepted(), 0);
    assert_eq!(turn.accept(&folder.work, &store, &entries).await.blocks.len(), 3);
}
