//! Edits.

use std::path::Path;

use super::{Case, refused, replacing};
use crate::change::{Edit, Operation};
use crate::file_system::FileSystem;

/// The new text is literal, and whatever the edit does not touch stays, byte for byte.
pub async fn only_touched_lines_change(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    let all = |old: &str, new: &str| Edit { replace_all: true, ..replacing(old, new) };
    for (content, edit, expected) in [
        ("a b a", replacing("b", "$& \\1 $1 \\n"), "a $& \\1 $1 \\n a"),
        ("aaaa", all("aa", "b"), "bb"),
        ("a.c abc", replacing("a.c", "x"), "x abc"),
        ("gone\nstays", replacing("gone\n", ""), "stays"),
        ("no end", replacing("end", "final newline"), "no final newline"),
        ("a\r\nb\r\nc\r\n", replacing("b\n", "x\ny\n"), "a\r\nx\r\ny\r\nc\r\n"),
        ("a\nb\n", replacing("a\r\nb", "x\r\ny"), "x\ny\n"),
        ("a\r\nb\nc\r\n", replacing("b", "x"), "a\r\nx\nc\r\n"),
        ("a\r\nb\nc\r\n", replacing("a\nb\nc", "x\ny\nz"), "x\r\ny\nz\r\n"),
        ("\u{feff}a\r\nb", replacing("a", "x"), "\u{feff}x\r\nb"),
        ("ü€😀\r\n", all("€", "é\n"), "üé\r\n😀\r\n"),
    ] {
        case.put("e.txt", content);
        let written = case.edit("e.txt", &edit, None).await.expect(content);
        assert_eq!(String::from_utf8(case.get("e.txt")).expect("text"), expected, "{content:?} {edit:?}");
        let lf = |text: &str| text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
        assert_eq!(written.operation, Operation::Update);
        assert_eq!((written.before, written.after), (Some(lf(content)), lf(expected)));
        assert_eq!(written.version, case.version("e.txt").await);
    }
    assert_eq!(case.names(), ["e.txt"]);
}

/// What cannot be edited, and texts that do not match once.
pub async fn edits_are_refused(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("dir/x", "");
    case.fifo("fifo");
    let files: [(&str, &[u8]); 4] =
        [("a.txt", b"a b a\r\n"), ("invalid", b"a\xff"), ("binary", b"a\0"), ("empty", b"")];
    for (name, bytes) in files {
        case.put(name, bytes);
    }
    let absent = ("FS_EDIT_NOT_FOUND", "old_string was not found in \"{}\"");
    let stale = ("FS_STALE_VERSION", "cannot edit \"{}\": file changed since it was read");
    let ambiguous =
        "old_string matched 2 times in \"{}\"; provide a more specific old_string or set replace_all to true";
    let regular = ("FS_NOT_REGULAR_FILE", "cannot edit \"{}\": not a regular file");
    for (name, old, (code, message)) in [
        ("a.txt", "c", absent),
        ("a.txt", "A", absent),
        ("a.txt", "", absent),
        ("empty", "", absent),
        ("a.txt", "\u{feff}a", absent),
        ("a.txt", "a", ("FS_AMBIGUOUS_EDIT", ambiguous)),
        ("none", "a", stale),
        ("no/folder", "a", stale),
        ("dir", "a", regular),
        ("fifo", "a", regular),
        ("invalid", "a", ("FS_NOT_TEXT", "cannot read \"{}\": invalid UTF-8 text")),
        ("binary", "a", ("FS_NOT_TEXT", "cannot read \"{}\": binary file")),
    ] {
        let edit = replacing(old, "x");
        refused(case.edit(name, &edit, None).await, &case.target(name).await, code, message);
    }
    for (name, bytes) in files {
        assert_eq!(case.get(name), bytes, "{name} is as it was");
    }
    assert_eq!(case.names(), ["a.txt", "binary", "dir", "empty", "fifo", "invalid"]);
}

/// A file in another state than the caller knows is stale, whatever the edit would have found in it.
pub async fn edits_are_guarded(fs: &dyn FileSystem, root: &Path) {
    let case = Case::new(fs, root);
    case.put("a.txt", "one two");
    let first = case.version("a.txt").await;
    let target = case.target("a.txt").await;
    let second = case.edit("a.txt", &replacing("one", "three"), Some(&first)).await.expect("it was known").version;
    for old in ["one", "absent", "", "t"] {
        let stale = "cannot edit \"{}\": file changed since it was read";
        let outcome = case.edit("a.txt", &replacing(old, "x"), Some(&first)).await;
        refused(outcome, &target, "FS_STALE_VERSION", stale);
    }
    assert_eq!(case.get("a.txt"), b"three two");
    let edits = ["three", "two"].map(|old| replacing(old, "x"));
    let outcomes =
        futures_util::future::join_all(edits.iter().map(|edit| case.edit("a.txt", edit, Some(&second)))).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "one of two edits of one version wins");
    // Without a guard both take place, one after the other.
    case.put("b.txt", "one two");
    let edits = ["one", "two"].map(|old| replacing(old, "x"));
    for outcome in futures_util::future::join_all(edits.iter().map(|edit| case.edit("b.txt", edit, None))).await {
        outcome.expect("nothing is lost");
    }
    assert_eq!(case.get("b.txt"), b"x x");
}
