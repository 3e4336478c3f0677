//! Limits, and files that do not hold still.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;

use attache_workdir_fs::{FsErrorKind, WorkDir};

use crate::fixture::{Tree, on_each_walk, read, while_running};

#[test]
fn the_limit_is_inclusive_and_both_sizes_are_named() {
    let tree = Tree::new();
    tree.file("a.png", [7; 2048]);
    tree.file("empty", "");
    on_each_walk(&tree.root, |work| {
        assert_eq!(read(work, "a.png", 2048).unwrap().1, [7; 2048]);
        assert_eq!(read(work, "a.png", u64::MAX).unwrap().1, [7; 2048]);
        let error = read(work, "a.png", 1024).unwrap_err();
        assert_eq!(error.kind(), FsErrorKind::TooLarge);
        let reason = error.to_string();
        assert!(reason.contains("2048 bytes") && reason.contains("1024 bytes"), "{reason}");
        assert_eq!(read(work, "a.png", 2047).unwrap_err().code(), "too_large");
        assert_eq!(read(work, "empty", 0).unwrap().1, b"");
        assert_eq!(read(work, "a.png", 0).unwrap_err().code(), "too_large");
    });
}

#[test]
fn every_size_around_a_step_is_read_whole() {
    let tree = Tree::new();
    on_each_walk(&tree.root, |work| {
        for size in [1, 4094, 4095, 4096, 4097, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (1 << 21) + 1, 5_000_000] {
            let bytes: Vec<u8> = (0..size).map(|i: usize| (i / 7 % 251) as u8).collect();
            tree.file("a", &bytes);
            for max in [size as u64, size as u64 + 1, 1 << 26] {
                assert!(read(work, "a", max).unwrap().1 == bytes, "{size} at limit {max}");
            }
        }
    });
}

#[test]
fn a_buffer_is_reused_whatever_it_held() {
    let tree = Tree::new();
    tree.file("small", "small");
    on_each_walk(&tree.root, |work| {
        let path = work.lower("small").unwrap();
        let mut buffer = vec![9; 1 << 16];
        let memory = buffer.as_ptr();
        // Far more room than the limit allows to be read.
        for max in [5, 6, 1 << 20] {
            assert_eq!(work.read(&path, max, &mut buffer).unwrap().len, 5);
            assert_eq!((&*buffer, buffer.as_ptr()), (&b"small"[..], memory));
        }
        work.read(&work.lower("absent").unwrap(), 5, &mut buffer).unwrap_err();
        assert_eq!((&*buffer, buffer.as_ptr()), (&b""[..], memory));
    });
}

#[test]
fn a_claim_costs_no_memory() {
    let tree = Tree::new();
    File::create(tree.root.join("sparse")).unwrap().set_len(1 << 40).unwrap();
    on_each_walk(&tree.root, |work| {
        let path = work.lower("sparse").unwrap();
        let mut buffer = Vec::new();
        let error = work.read(&path, 1 << 26, &mut buffer).unwrap_err();
        assert_eq!((error.code(), buffer.capacity()), ("too_large", 0));
        assert!(error.to_string().contains("1099511627776 bytes"), "{error}");
        assert_eq!(work.open_file(&path).unwrap().len(), 1 << 40);
    });
}

#[test]
fn a_change_between_open_and_read_is_seen() {
    let tree = Tree::new();
    on_each_walk(&tree.root, |work| {
        let open = |bytes: &str| {
            tree.file("a", bytes);
            work.open_file(&work.lower("a").unwrap()).unwrap()
        };
        let host = || File::options().append(true).open(tree.root.join("a")).unwrap();
        let mut buffer = Vec::new();

        let file = open("one");
        host().write_all(b" and two").unwrap();
        let snapshot = file.read_snapshot(100, &mut buffer).unwrap();
        assert_eq!((&*buffer, snapshot.len, snapshot.version.size()), (&b"one and two"[..], 11, 11));
        assert_ne!(snapshot.version, file.version());

        let file = open("one");
        host().write_all(&[b'2'; 97]).unwrap();
        let reason = file.read_snapshot(99, &mut buffer).unwrap_err().to_string();
        assert!(reason.contains("100 bytes") && reason.contains("99 bytes"), "{reason}");

        let file = open("shrinks");
        host().set_len(3).unwrap();
        assert_eq!(file.read_snapshot(7, &mut buffer).unwrap().len, 3);
        assert_eq!(buffer, b"shr");

        let file = open("old");
        tree.file("new", "new");
        fs::rename(tree.root.join("new"), tree.root.join("a")).unwrap();
        file.read_snapshot(7, &mut buffer).unwrap();
        assert_eq!(buffer, b"old");
        assert_eq!(file.name().as_str(), "a");
    });
}

#[test]
fn an_open_file_can_be_read_more_than_once() {
    let tree = Tree::new();
    tree.file("a", "twice");
    on_each_walk(&tree.root, |work| {
        let file = work.open_file(&work.lower("a").unwrap()).unwrap();
        for _ in 0..2 {
            let mut buffer = Vec::new();
            assert_eq!(file.read_snapshot(10, &mut buffer).unwrap().version, file.version());
            assert_eq!(buffer, b"twice");
        }
    });
}

#[test]
fn a_file_that_is_always_rewritten_is_given_up() {
    let tree = Tree::new();
    let host = File::create(tree.root.join("a")).unwrap();
    // Large enough that the writer comes by many times during one read.
    host.set_len(16 << 20).unwrap();
    let mut turn = 0_u8;
    while_running(
        || {
            turn = turn.wrapping_add(1);
            host.write_all_at(&[turn; 64], u64::from(turn)).unwrap();
        },
        || {
            on_each_walk(&tree.root, |work| {
                // A writer that was not scheduled for a while lets a read through, and that is right.
                let error = (0..10_000).find_map(|_| read(work, "a", 1 << 26).err()).expect("never given up");
                assert_eq!(error.code(), "io_error");
                assert!(error.to_string().contains("keeps changing"), "{error}");
            });
        },
    );
}

#[test]
fn a_growing_file_stays_within_the_limit() {
    const LIMIT: u64 = 300_000;
    let tree = Tree::new();
    let mut host = File::create(tree.root.join("log")).unwrap();
    let mut written = 0;
    while_running(
        || {
            if written > 2 * LIMIT {
                host.set_len(0).unwrap();
                host = File::options().append(true).open(tree.root.join("log")).unwrap();
                written = 0;
            }
            host.write_all(&[b'x'; 500]).unwrap();
            written += 500;
        },
        || on_each_walk(&tree.root, |work| read_growing(work, LIMIT)),
    );
}

fn read_growing(work: &WorkDir, limit: u64) {
    let path = work.lower("log").unwrap();
    let mut buffer = Vec::new();
    for _ in 0..3000 {
        match work.read(&path, limit, &mut buffer) {
            Ok(snapshot) => {
                assert!(snapshot.len <= limit);
                assert_eq!((snapshot.len, snapshot.version.size()), (buffer.len() as u64, buffer.len() as u64));
            }
            Err(error) => {
                assert!(matches!(error.kind(), FsErrorKind::TooLarge | FsErrorKind::IoError), "{error}");
                assert!(buffer.len() as u64 <= limit);
            }
        }
        assert!(buffer.capacity() as u64 <= 2 * limit, "{}", buffer.capacity());
    }
}
