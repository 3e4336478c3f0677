//! Looks, reads and listings.

use std::fs::{self, File, FileTimes};
use std::path::Path;

use super::{Case, refused};
use crate::cancel::Cancel;
use crate::file_error::FileError;
use crate::file_system::FileSystem;
use crate::target::{FileKind, Target, Version};

/// One key for each spelling of a file and for each link to it, whether or not it is there yet.
pub async fn keys_are_stable(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("dir/a.txt", "a");
    case.link("link", "dir/a.txt");
    case.link("dirlink", "dir");
    case.link("chain", "dirlink/../link");
    case.link("dangling", "dir/new.txt");
    let key = async |path: &str| case.target(path).await.key().to_owned();
    let existing = key("dir/a.txt").await;
    let through_cwd = fs.resolve("a.txt", Some(&format!("{}/dir", case.cwd))).await.expect("with a cwd");
    assert_eq!(through_cwd.key(), existing);
    for same in ["./dir//a.txt", "dir/../dir/./a.txt", "none/../dir/a.txt", "link", "dirlink/a.txt", "chain"] {
        assert_eq!(key(same).await, existing, "{same}");
    }
    assert_ne!(key("dir/b.txt").await, existing);
    let paths = ["dir/new.txt", "dangling", "dirlink/new.txt", "far/away/x.txt", "dir/../far//away/x.txt"];
    let mut before = Vec::new();
    for path in paths {
        before.push(key(path).await);
    }
    assert!(before[0] == before[1] && before[0] == before[2] && before[3] == before[4]);
    case.put("dir/new.txt", "new");
    case.put("far/away/x.txt", "x");
    for (path, before) in paths.into_iter().zip(before) {
        assert_eq!(key(path).await, before, "{path} after it was created");
    }
    for blank in ["", " ", "\t\n"] {
        let message = "file_path must be a non-empty string";
        refused(fs.resolve(blank, None).await, &Target::new("", ""), "FS_NOT_FOUND", message);
    }
}

/// What a look tells, with links followed and without.
pub async fn looks(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("dir/a.txt", "abc");
    case.link("link", "dir/a.txt");
    case.link("dangling", "nowhere");
    case.fifo("fifo");
    let told = |path: &'static str| async {
        let target = case.target(path).await;
        let (stat, lstat) = (fs.stat(&target).await.expect(path), fs.lstat(&target).await.expect(path));
        ((stat.kind, stat.size), lstat.kind)
    };
    assert_eq!(told("dir/a.txt").await, ((FileKind::File, Some(3)), FileKind::File));
    assert_eq!(told("link").await, ((FileKind::File, Some(3)), FileKind::Other));
    assert_eq!(told("dir").await, ((FileKind::Directory, None), FileKind::Directory));
    assert_eq!(told("fifo").await, ((FileKind::Other, None), FileKind::Other));
    let lstat = fs.lstat(&case.target("dangling").await).await.expect("the link is there");
    assert_eq!(lstat.kind, FileKind::Other);
    for missing in ["none", "none/at/all", "dangling"] {
        let target = case.target(missing).await;
        refused(fs.stat(&target).await, &target, "FS_NOT_FOUND", "cannot read \"{}\": not found");
    }
    let target = case.target("none").await;
    refused(fs.lstat(&target).await, &target, "FS_NOT_FOUND", "cannot read \"{}\": not found");
}

/// A look twice is the same version; every change is another one.
pub async fn versions_tell(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("a.txt", "one");
    case.link("link", "a.txt");
    let first = case.version("a.txt").await;
    assert_eq!(first, case.version("a.txt").await);
    assert_eq!(first, case.version("link").await);
    assert_eq!(Version::new(first.as_str()), first, "it can be saved");
    wait_for_the_clock(&case, "a.txt");
    case.put("a.txt", "two");
    let second = case.version("a.txt").await;
    assert_ne!(second, first, "the same size, and another time");
    case.set_mode("a.txt", 0o640);
    let third = case.version("a.txt").await;
    assert_ne!(third, second, "another mode");
    case.put("a.txt", "three");
    assert_ne!(case.version("a.txt").await, third, "another size");
    wait_for_the_clock(&case, "a.txt");
    case.put("b.txt", "three");
    assert_ne!(case.version("b.txt").await, case.version("a.txt").await);
}

/// A rewrite that hides, of the same size and with its time put back, is another version as well.
///
/// Not among [`all`](super::all): it takes a place that tells when a file's entry changed, as that of this host does.
pub async fn versions_tell_what_hides(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("a.txt", "one");
    let first = case.version("a.txt").await;
    let path = case.folder.join("a.txt");
    let modified = fs::metadata(&path).and_then(|found| found.modified()).expect("a time");
    wait_for_the_clock(&case, "a.txt");
    fs::write(&path, "two").expect("a rewrite of the same size");
    File::options()
        .write(true)
        .open(&path)
        .and_then(|file| file.set_times(FileTimes::new().set_modified(modified)))
        .expect("the time put back");
    assert_ne!(case.version("a.txt").await, first);
}

/// Times have a grain. The clock that stamps files has moved on once a new file has a later time.
fn wait_for_the_clock(case: &Case<'_>, name: &str) {
    while stamp(case, "clock") <= stamp_of(&case.folder.join(name)) {}
}

fn stamp(case: &Case<'_>, name: &str) -> (i64, i64) {
    case.put(name, "");
    stamp_of(&case.folder.join(name))
}

fn stamp_of(path: &Path) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt as _;
    let found = fs::metadata(path).expect("a file");
    (found.ctime(), found.ctime_nsec())
}

/// Limits are inclusive, and nothing but a file is read.
pub async fn reads_are_bounded(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    // Several pieces, whatever their size.
    let large: Vec<u8> = (0..3_000_001_u32).map(|n| (n % 251) as u8).collect();
    case.put("ten", "0123456789");
    case.put("empty", "");
    case.put("large", &large);
    case.put("dir/x", "");
    case.fifo("fifo");
    case.link("link", "ten");
    for (name, cap, expected) in [
        ("ten", 10, &b"0123456789"[..]),
        ("ten", u64::MAX, b"0123456789"),
        ("link", 10, b"0123456789"),
        ("empty", 0, b""),
        ("large", 3_000_001, &large),
    ] {
        assert!(case.read(name, cap).await.expect(name) == expected, "{name} within {cap} bytes");
    }
    let regular = ("FS_NOT_REGULAR_FILE", "cannot read \"{}\": not a regular file");
    for (name, cap, (code, message)) in [
        ("ten", 9, ("FS_TOO_LARGE", "cannot read \"{}\": 10 bytes exceeds the 9-byte limit")),
        ("ten", 0, ("FS_TOO_LARGE", "cannot read \"{}\": 10 bytes exceeds the 0-byte limit")),
        ("large", 3_000_000, ("FS_TOO_LARGE", "cannot read \"{}\": 3000001 bytes exceeds the 3000000-byte limit")),
        ("none", 10, ("FS_NOT_FOUND", "cannot read \"{}\": not found")),
        ("dir", 10, regular),
        ("fifo", 10, regular),
    ] {
        refused(case.read(name, cap).await, &case.target(name).await, code, message);
    }
}

/// Whoever cancelled gets no content.
pub async fn reads_are_cancelled(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("a.txt", "x".repeat(3_000_000));
    let target = case.target("a.txt").await;
    let cancel = Cancel::new();
    let mut stream = fs.stream_text(&target, &cancel).await.expect("not cancelled yet");
    assert!(stream.next().await.expect("not cancelled yet").is_some());
    cancel.cancel();
    let aborted = |outcome: Result<(), FileError>| assert_eq!(outcome.expect_err("cancelled").code(), "FS_ABORTED");
    aborted(stream.next().await.map(drop));
    aborted(fs.read_bytes(&target, u64::MAX, &cancel).await.map(drop));
    aborted(fs.read_text(&target, u64::MAX, &cancel).await.map(drop));
    aborted(fs.stream_text(&target, &cancel).await.map(drop));
}

/// What is text, read at once and in pieces.
pub async fn texts(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    let long = "zwölf Boxkämpfer jagen 😀\r\n".repeat(40_000);
    let late_nul = "x".repeat(8192) + "\0";
    let (invalid, binary) = ("cannot read \"{}\": invalid UTF-8 text", "cannot read \"{}\": binary file");
    for (bytes, expected) in [
        (&b""[..], Ok("")),
        (b"plain\n", Ok("plain\n")),
        (b"\xef\xbb\xbfmarked\r\n", Ok("marked\r\n")),
        (long.as_bytes(), Ok(long.as_str())),
        (late_nul.as_bytes(), Ok(late_nul.as_str())),
        (b"bad \xff", Err(invalid)),
        (b"cut \xf0\x9f\x98", Err(invalid)),
        (&late_nul.as_bytes()[1..], Err(binary)),
    ] {
        case.put("t", bytes);
        let target = case.target("t").await;
        let whole = fs.read_text(&target, u64::MAX, &Cancel::new()).await;
        let pieces = drain(fs, &target).await;
        match expected {
            Ok(text) => {
                assert!(whole.expect("text") == text);
                assert!(pieces.expect("text") == text);
            }
            Err(message) => {
                refused(whole, &target, "FS_NOT_TEXT", message);
                refused(pieces, &target, "FS_NOT_TEXT", message);
            }
        }
    }
    case.put("dir/x", "");
    for (name, code, message) in [
        ("none", "FS_NOT_FOUND", "cannot read \"{}\": not found"),
        ("dir", "FS_NOT_REGULAR_FILE", "cannot read \"{}\": not a regular file"),
    ] {
        let target = case.target(name).await;
        refused(fs.read_text(&target, 10, &Cancel::new()).await, &target, code, message);
        refused(drain(fs, &target).await, &target, code, message);
    }
}

async fn drain(fs: &dyn FileSystem, target: &Target) -> Result<String, FileError> {
    let mut stream = fs.stream_text(target, &Cancel::new()).await?;
    let mut text = String::new();
    while let Some(piece) = stream.next().await? {
        text.push_str(&piece);
    }
    Ok(text)
}

/// Sorted, links followed, and a broken entry stays without its information.
pub async fn listings(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("list/b.txt", "bb");
    case.put("list/a/x", "");
    case.put("list/B.txt", "");
    case.link("list/c", "b.txt");
    case.link("list/d", "nowhere");
    case.link("list/e", "e");
    case.fifo("list/f");
    let entries = fs.list_dir(&case.target("list").await).await.expect("a listing");
    let told: Vec<_> = entries
        .iter()
        .map(|entry| (entry.name.as_str(), entry.info.as_ref().map(|info| (info.kind, info.size))))
        .collect();
    assert_eq!(
        told,
        [
            ("B.txt", Some((FileKind::File, Some(0)))),
            ("a", Some((FileKind::Directory, None))),
            ("b.txt", Some((FileKind::File, Some(2)))),
            ("c", Some((FileKind::File, Some(2)))),
            ("d", None),
            ("e", None),
            ("f", Some((FileKind::Other, None))),
        ]
    );
    assert_eq!(entries[3].info, Some(case.stat("list/b.txt").await.expect("a file")));
    case.put("file", "");
    for (name, code, message) in [
        ("none", "FS_NOT_FOUND", "cannot list \"{}\": not found"),
        ("file", "FS_NOT_DIRECTORY", "cannot list \"{}\": not a directory"),
    ] {
        let target = case.target(name).await;
        refused(fs.list_dir(&target).await, &target, code, message);
    }
    assert!(fs.list_dir(&fs.resolve(".", None).await.expect("the root")).await.expect("a listing").len() > 1);
}
