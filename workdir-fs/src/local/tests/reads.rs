//! Reads of files that change, claim too little, or are shared.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::HardLinks;

async fn drain(stream: &mut TextStream) -> Result<String, FileError> {
    let mut text = String::new();
    while let Some(piece) = stream.next().await? {
        assert!(piece.len() <= 300 << 10, "pieces are small");
        text.push_str(&piece);
    }
    Ok(text)
}

#[tokio::test]
async fn a_file_that_grows_is_streamed_as_far_as_it_was() {
    let tree = Tree::new();
    let fs = tree.fs();
    for size in [10, 1_000_000] {
        tree.put("log", "x".repeat(size));
        let target = fs.resolve("log", None).await.unwrap();
        let mut stream = fs.stream_text(&target, &Cancel::new()).await.unwrap();
        let mut log = File::options().append(true).open(tree.root.join("log")).unwrap();
        log.write_all(&vec![b'y'; 1_000_000]).unwrap();
        assert_eq!(drain(&mut stream).await.unwrap(), "x".repeat(size));
        // One that shrinks ends where it ends.
        let mut stream = fs.stream_text(&target, &Cancel::new()).await.unwrap();
        log.set_len(5).unwrap();
        assert_eq!(drain(&mut stream).await.unwrap(), "xxxxx");
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn files_that_claim_to_be_empty_are_read_within_the_limit() {
    let fs = LocalFs::new(WorkDir::open("/proc").unwrap());
    let target = fs.resolve("version", None).await.unwrap();
    assert_eq!(fs.stat(&target).await.unwrap().size, Some(0));
    let whole = fs.read_text(&target, 4096, &Cancel::new()).await.unwrap();
    assert!(whole.starts_with("Linux"), "{whole}");
    let mut stream = fs.stream_text(&target, &Cancel::new()).await.unwrap();
    assert_eq!(drain(&mut stream).await.unwrap(), whole);
    let len = whole.len() as u64;
    assert!(fs.read_bytes(&target, len, &Cancel::new()).await.is_ok());
    for cap in [0, 10, len - 1] {
        let message = format!("cannot read \"version\": content exceeds the {cap}-byte limit");
        assert_eq!(refusal(fs.read_bytes(&target, cap, &Cancel::new()).await), ("FS_TOO_LARGE", message));
    }
}

/// Yields without end, counts, and is cancelled after so many bytes.
struct Endless<'a> {
    yielded: u64,
    cancel_at: u64,
    cancel: &'a Cancel,
}

impl Read for &mut Endless<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.yielded += buffer.len() as u64;
        if self.yielded >= self.cancel_at {
            self.cancel.cancel();
        }
        buffer.fill(b'x');
        Ok(buffer.len())
    }
}

#[test]
fn no_byte_past_the_limit_is_asked_for_but_one() {
    let target = Target::new("k", "p");
    for (size, cap) in [(0, 0), (10, 10), (0, 1_000_000), (1_000_000, 1_000_000)] {
        let cancel = Cancel::new();
        let mut source = Endless { yielded: 0, cancel_at: u64::MAX, cancel: &cancel };
        let refused = read::collect(&mut source, &target, size, cap, &cancel);
        let message = format!("cannot read \"p\": content exceeds the {cap}-byte limit");
        assert_eq!(refusal(refused), ("FS_TOO_LARGE", message));
        assert_eq!(source.yielded, cap + 1);
    }
    let cancel = Cancel::new();
    let mut source = Endless { yielded: 0, cancel_at: 3_000_000, cancel: &cancel };
    let aborted = ("FS_ABORTED", "cannot read \"p\": cancelled".to_owned());
    assert_eq!(refusal(read::collect(&mut source, &target, 0, u64::MAX, &cancel)), aborted);
    assert!(source.yielded < 4_000_000, "{}", source.yielded);
}

#[tokio::test]
async fn shared_files_are_refused_where_that_was_asked_for() {
    let tree = Tree::new();
    fs::write(tree.outside.join("secret"), "secret").unwrap();
    fs::hard_link(tree.outside.join("secret"), tree.root.join("shared")).unwrap();
    let accepting = tree.fs();
    assert_eq!(read(&accepting, "shared").await.unwrap(), "secret");
    let fs = tree.with_options(WorkDirOptions::default().with_hard_links(HardLinks::Refuse));
    assert_eq!(refusal(read(&fs, "shared").await).0, "FS_NOT_REGULAR_FILE");
    assert_eq!(refusal(edit(&fs, "shared", "s", "x").await).0, "FS_NOT_REGULAR_FILE");
    assert_eq!(refusal(write(&fs, "shared", "x", &WriteIntent::Unconditional).await).0, "FS_NOT_REGULAR_FILE");
    // Where they are accepted, what is written replaces the name and not the bytes that others share.
    write(&accepting, "shared", "mine", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!(fs::read_to_string(tree.outside.join("secret")).unwrap(), "secret");
}

#[tokio::test]
async fn what_may_not_be_read_is_permission_denied() {
    if rustix::process::geteuid().is_root() {
        eprintln!("skipped: root may read everything");
        return;
    }
    let tree = Tree::new();
    tree.put("closed", "x");
    tree.put("shut/x", "x");
    let fs = tree.fs();
    for (name, mode) in [("closed", 0o200), ("shut", 0o000)] {
        fs::set_permissions(tree.root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let message = ("FS_PERMISSION_DENIED", "cannot read \"closed\": Permission denied".to_owned());
    assert_eq!(refusal(read(&fs, "closed").await), message);
    let written = write(&fs, "closed", "y", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!(written.before, None, "a basis that cannot be read blocks nothing");
    assert_eq!(refusal(fs.resolve("shut/x", None).await).0, "FS_PERMISSION_DENIED");
    let listing = fs.list_dir(&fs.resolve(".", None).await.unwrap()).await.unwrap();
    assert_eq!(listing.len(), 2);
    fs::set_permissions(tree.root.join("shut"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn names_that_are_not_utf8_are_listed_and_break_nothing() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::new();
    tree.put("a", "");
    if fs::write(tree.root.join(std::ffi::OsStr::from_bytes(b"b\xff")), "").is_err() {
        eprintln!("skipped: this file system takes no such name");
        return;
    }
    let fs = tree.fs();
    let listing = fs.list_dir(&fs.resolve(".", None).await.unwrap()).await.unwrap();
    let told: Vec<_> = listing.iter().map(|entry| (entry.name.as_str(), entry.info.is_some())).collect();
    assert_eq!(told, [("a", true), ("b\u{fffd}", false)]);
}
