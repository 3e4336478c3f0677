//! Writes.

use std::path::Path;

use futures_util::future::join_all;

use super::{Case, refused};
use crate::change::{Operation, WriteIntent};
use crate::file_system::FileSystem;

/// Content arrives as it is, the outcome tells what happened, and no private file is left.
pub async fn content_is_published_whole(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    let intent = WriteIntent::Unconditional;
    let written = case.write("a.txt", "one\r\ntwo", &intent).await.expect("created");
    assert_eq!((written.operation, written.before.as_deref()), (Operation::Create, None));
    assert_eq!(written.after, "one\ntwo");
    assert_eq!(written.version, case.version("a.txt").await);
    assert_eq!(case.get("a.txt"), b"one\r\ntwo");
    let written = case.write("a.txt", "three", &intent).await.expect("replaced");
    assert_eq!((written.operation, written.before.as_deref()), (Operation::Update, Some("one\ntwo")));
    assert_eq!((written.after.as_str(), written.version), ("three", case.version("a.txt").await));
    assert_eq!(case.get("a.txt"), b"three");

    let limit = 10 << 20;
    for (old, before) in [
        (&b"\xef\xbb\xbfa\r\nb\r"[..], Some("a\nb\r".to_owned())),
        (b"", Some(String::new())),
        (b"a\0b", None),
        (b"\xff", None),
        (&vec![b'x'; limit], Some("x".repeat(limit))),
        (&vec![b'x'; limit + 1], None),
    ] {
        case.put("b.txt", old);
        let written = case.write("b.txt", "\u{feff}new\r\n", &intent).await.expect("a basis blocks nothing");
        assert!(written.before == before, "{:?}", &old[..old.len().min(8)]);
        assert_eq!((written.after.as_str(), &case.get("b.txt")[..]), ("new\n", "\u{feff}new\r\n".as_bytes()));
    }
    let large = "ü".repeat(3_000_000);
    case.write("large", &large, &intent).await.expect("several pieces");
    assert!(case.get("large") == large.as_bytes());
    assert_eq!(case.names(), ["a.txt", "b.txt", "large"]);
}

/// Each intent, on a file that is absent, known, changed or gone, and on what is no file.
pub async fn conditions_hold(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    let create = WriteIntent::CreateIfAbsent;
    let target = case.target("a.txt").await;
    let first = case.write("a.txt", "one", &create).await.expect("it was absent").version;
    let overwrite = "cannot overwrite existing \"{}\" without reading it first";
    refused(case.write("a.txt", "two", &create).await, &target, "FS_NOT_OBSERVED", overwrite);
    assert_eq!(case.get("a.txt"), b"one");

    let known = WriteIntent::ReplaceIfVersion(first);
    let second = case.write("a.txt", "two", &known).await.expect("it was known").version;
    let stale = "cannot write \"{}\": file changed since it was read";
    refused(case.write("a.txt", "three", &known).await, &target, "FS_STALE_VERSION", stale);
    assert_eq!(case.get("a.txt"), b"two");
    case.remove("a.txt");
    let known = WriteIntent::ReplaceIfVersion(second);
    refused(case.write("a.txt", "three", &known).await, &target, "FS_STALE_VERSION", stale);
    let elsewhere = case.target("no/such/folder.txt").await;
    refused(case.write("no/such/folder.txt", "x", &known).await, &elsewhere, "FS_STALE_VERSION", stale);
    assert_eq!(case.names(), [""; 0], "nothing is created anew");
    case.write("a.txt", "four", &create).await.expect("it is absent again");

    case.put("dir/x", "");
    case.fifo("fifo");
    for name in ["dir", "fifo"] {
        let target = case.target(name).await;
        for intent in [&WriteIntent::Unconditional, &create, &known] {
            let message = "cannot write \"{}\": not a regular file";
            refused(case.write(name, "x", intent).await, &target, "FS_NOT_REGULAR_FILE", message);
        }
    }
    assert_eq!(case.names(), ["a.txt", "dir", "fifo"]);
}

/// New files are private, replaced ones keep their mode, and folders are made.
pub async fn modes_and_folders(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.write("deep/er/a.txt", "a", &WriteIntent::CreateIfAbsent).await.expect("with its folders");
    assert_eq!((case.get("deep/er/a.txt"), case.mode("deep/er/a.txt")), (b"a".to_vec(), 0o600));
    for mode in [0o644, 0o755, 0o400, 0o666] {
        case.put("b.txt", "b");
        case.set_mode("b.txt", mode);
        case.write("b.txt", "bb", &WriteIntent::Unconditional).await.expect("replaced");
        assert_eq!((case.get("b.txt"), case.mode("b.txt")), (b"bb".to_vec(), mode));
        case.edit("b.txt", &super::replacing("bb", "c"), None).await.expect("edited");
        assert_eq!((case.get("b.txt"), case.mode("b.txt")), (b"c".to_vec(), mode));
        case.remove("b.txt");
    }
    case.link("link", "deep/er/a.txt");
    case.write("link", "through", &WriteIntent::Unconditional).await.expect("through a link");
    assert_eq!(case.get("deep/er/a.txt"), b"through");
    assert!(case.folder.join("link").is_symlink(), "the link stays");
}

/// Of many that replace the same version, or create the same file, one does, and the others are told.
pub async fn one_of_two_writers_wins(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    for round in 0..10 {
        for (name, code) in [("new.txt", "FS_NOT_OBSERVED"), ("old.txt", "FS_STALE_VERSION")] {
            let intent = if name == "new.txt" {
                WriteIntent::CreateIfAbsent
            } else {
                case.put(name, "old");
                WriteIntent::ReplaceIfVersion(case.version(name).await)
            };
            let contents: Vec<String> = (0..4).map(|writer| format!("{round} {writer}").repeat(2000)).collect();
            let outcomes = join_all(contents.iter().map(|content| case.write(name, content, &intent))).await;
            let won: Vec<usize> = (0..4).filter(|writer| outcomes[*writer].is_ok()).collect();
            assert_eq!(won.len(), 1, "one wins: {won:?}");
            assert!(case.get(name) == contents[won[0]].as_bytes(), "and its content is there");
            for lost in outcomes.into_iter().filter_map(Result::err) {
                assert_eq!(lost.code(), code);
            }
            case.remove(name);
        }
    }
    assert_eq!(case.names(), [""; 0]);
}
