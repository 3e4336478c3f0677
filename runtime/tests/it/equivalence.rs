//! Whatever the cores do, the result is that of one attachment after the other.

use std::collections::HashSet;
use std::os::unix::fs::symlink;
use std::sync::atomic::Ordering;

use attache_media::fixtures;
use attache_runtime::{Attachment, BlobId, Turn};
use proptest::prelude::*;

#[cfg(target_os = "linux")]
use crate::support::Opens;
use crate::support::{FakeStore, Folder, limits, outcomes, png};

const MAX_BYTES: u64 = 1000;

/// What an attachment is, and so what becomes of it once it is looked at.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Good,
    StoreFails,
    Text,
    Mislabelled,
    TooLarge,
    Missing,
    Link,
    Directory,
    Outside,
    Blank,
    WrongType,
}

use Kind::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Disk {
    Untouched,
    Opened,
    Read,
}

impl Kind {
    fn any() -> impl Strategy<Value = Kind> {
        prop_oneof![
            6 => Just(Good),
            2 => Just(StoreFails),
            4 => Just(Text),
            2 => Just(Mislabelled),
            10 => prop::sample::select(vec![TooLarge, Missing, Link, Directory, Outside, Blank, WrongType]),
        ]
    }

    /// The outcome, and what had to be done to the file to know it.
    fn judged(self) -> (&'static str, Disk) {
        match self {
            Good => ("image/png", Disk::Read),
            StoreFails => ("store_failed", Disk::Read),
            Text | Mislabelled => ("content_mismatch", Disk::Read),
            TooLarge => ("too_large", Disk::Opened),
            Directory => ("not_a_regular_file", Disk::Opened),
            Missing => ("not_found", Disk::Untouched),
            Link => ("symlink_refused", Disk::Untouched),
            Outside => ("outside_root", Disk::Untouched),
            Blank => ("malformed", Disk::Untouched),
            WrongType => ("media_type_not_allowed", Disk::Untouched),
        }
    }

    /// Puts the file in place.
    fn make(self, number: usize, folder: &Folder, store: &FakeStore) -> Attachment {
        let name = format!("{number:02}.png");
        let image = png(number as u64);
        match self {
            Missing | Outside | Blank | WrongType => {}
            Link => symlink("00.png", folder.path().join(&name)).unwrap(),
            Directory => std::fs::create_dir(folder.path().join(&name)).unwrap(),
            Text => drop(folder.write(&name, format!("text {number}"))),
            TooLarge => drop(folder.write(&name, fixtures::png_of_len(MAX_BYTES as usize + 1, number as u64))),
            Good | StoreFails | Mislabelled => drop(folder.write(&name, &image)),
        }
        match self {
            StoreFails => {
                store.fail_for(&image);
                Attachment::new(name, "image/png")
            }
            Mislabelled => Attachment::new(name, "image/gif"),
            Outside => Attachment::new(format!("../{name}"), "image/png"),
            Blank => Attachment::new(name, ""),
            WrongType => Attachment::new(name, "image/svg+xml"),
            _ => Attachment::new(name, "image/png"),
        }
    }
}

#[derive(Clone, Debug)]
struct Call {
    kinds: Vec<Kind>,
    sync_fails: bool,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let mixed = prop::collection::vec(Kind::any(), 0..12);
    // Enough files that are read and refused to use up the reads of a small turn.
    let bad = prop::collection::vec(prop::sample::select(vec![Text, Text, Text, Mislabelled, Good]), 8..12);
    let call = (prop_oneof![2 => mixed, 1 => bad], prop::bool::weighted(0.15))
        .prop_map(|(kinds, sync_fails)| Call { kinds, sync_fails });
    prop::collection::vec(call, 1..4)
}

/// What must come out, found without any concurrency.
#[derive(Debug, Default, PartialEq)]
struct Expected {
    outcomes: Vec<Vec<&'static str>>,
    opened: Vec<String>,
}

fn one_after_the_other(calls: &[Call], max_per_turn: usize) -> Expected {
    let (mut accepted, mut refused_reads, mut number) = (0, 0, 0);
    let mut expected = Expected::default();
    for call in calls {
        let mut outcomes = Vec::new();
        for kind in &call.kinds {
            let name = format!("{number:02}.png");
            number += 1;
            if accepted >= max_per_turn || refused_reads >= 4 * max_per_turn {
                outcomes.push("turn_limit");
                continue;
            }
            let (outcome, disk) = kind.judged();
            if disk != Disk::Untouched {
                expected.opened.push(name);
            }
            match outcome {
                "image/png" => accepted += 1,
                _ if disk == Disk::Read => refused_reads += 1,
                _ => {}
            }
            outcomes.push(outcome);
        }
        if call.sync_fails {
            for outcome in outcomes.iter_mut().filter(|outcome| **outcome == "image/png") {
                *outcome = "store_failed";
                accepted -= 1;
                refused_reads += 1;
            }
        }
        expected.outcomes.push(outcomes);
    }
    expected.opened.sort();
    expected
}

/// What came out: outcomes, files opened, and everything that was said.
async fn run(calls: &[Call], max_per_turn: usize, concurrency: usize) -> (Expected, String) {
    let (folder, store) = (Folder::new(), FakeStore::default());
    let mut number = 0;
    let entries: Vec<Vec<_>> = calls
        .iter()
        .map(|call| {
            let made = call.kinds.iter().map(|kind| {
                number += 1;
                kind.make(number - 1, &folder, &store)
            });
            made.collect()
        })
        .collect();
    #[cfg(target_os = "linux")]
    let opens = Opens::of(&folder.path());
    let settings =
        limits(MAX_BYTES, max_per_turn as u64).with_concurrency(concurrency.try_into().unwrap()).with_announce(true);
    let mut turn = Turn::new(&settings);
    let (mut found, mut said) = (Expected::default(), String::new());
    for (call, entries) in calls.iter().zip(&entries) {
        store.sync_fails.store(call.sync_fails, Ordering::SeqCst);
        let accepted = turn.accept(&folder.work, &store, entries).await;
        found.outcomes.push(outcomes(&accepted.trace).into_iter().map(known).collect());
        let trace = serde_json::to_string(&accepted.trace).unwrap();
        let notes = serde_json::to_string(&accepted.notes).unwrap();
        let blocks = serde_json::to_string(&accepted.blocks).unwrap();
        said.push_str(&format!("{trace}\n{notes}\n{blocks}\n"));
    }
    #[cfg(target_os = "linux")]
    {
        found.opened = opens.take();
    }
    (found, said)
}

/// The same text with a longer life.
fn known(outcome: &str) -> &'static str {
    const MORE: [&str; 1] = ["turn_limit"];
    let kinds = [Good, StoreFails, Text, TooLarge, Missing, Link, Directory, Outside, Blank, WrongType];
    let all = kinds.map(|kind| kind.judged().0).into_iter().chain(MORE);
    all.into_iter().find(|known| *known == outcome).unwrap_or("an outcome of another kind")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn the_result_is_that_of_one_after_the_other(calls in calls(), max_per_turn in 0usize..6) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        runtime.block_on(async {
            let mut expected = one_after_the_other(&calls, max_per_turn);
            if cfg!(not(target_os = "linux")) {
                expected.opened.clear();
            }
            let mut said = HashSet::new();
            for concurrency in 1..=4 {
                let (found, words) = run(&calls, max_per_turn, concurrency).await;
                prop_assert_eq!(&found, &expected, "concurrency {}", concurrency);
                said.insert(words);
            }
            prop_assert_eq!(said.len(), 1, "the words depend on the concurrency: {:?}", said);
            Ok(())
        })?;
    }
}

#[test]
fn the_images_of_the_property_test_fit_its_limit() {
    assert!(png(0).len() as u64 <= MAX_BYTES);
    assert_ne!(BlobId::of(&png(0)), BlobId::of(&png(1)));
}
