//! What comes up between the look at a target and its publication.

use super::*;
use crate::FileKind;

/// A competitor for `a.txt` acts once, after the condition was found to hold.
fn competing(tree: &Tree, act: impl Fn(&std::path::Path) + Send + 'static) -> LocalFs {
    let path = tree.root.join("a.txt");
    let mut acted = false;
    tree.stepping(Step::Probed, move || {
        if !acted {
            acted = true;
            act(&path);
        }
        Ok(())
    })
}

fn special(path: &std::path::Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
}

#[tokio::test]
async fn a_new_file_never_replaces_what_came_up() {
    type Act = fn(&std::path::Path);
    let file: Act = |path| fs::write(path, "theirs").unwrap();
    let dir: Act = |path| fs::create_dir(path).unwrap();
    let dangling: Act = |path| symlink("nowhere", path).unwrap();
    let out: Act = |path| symlink("../outside/canary", path).unwrap();
    let live: Act = |path| symlink("other", path).unwrap();
    let observed = ("FS_NOT_OBSERVED", "cannot overwrite existing \"a.txt\" without reading it first".to_owned());
    let regular = ("FS_NOT_REGULAR_FILE", "cannot write \"a.txt\": not a regular file".to_owned());
    for (act, refused) in [
        (file, &observed),
        (dir, &regular),
        (special, &regular),
        (dangling, &regular),
        (out, &regular),
        (live, &regular),
    ] {
        let tree = Tree::new();
        tree.put("other", "other");
        let fs = competing(&tree, act);
        assert_eq!(refusal(write(&fs, "a.txt", "mine", &WriteIntent::CreateIfAbsent).await), *refused);
        let kept = fs::symlink_metadata(tree.root.join("a.txt")).unwrap();
        if kept.is_file() {
            assert_eq!(tree.get("a.txt"), "theirs");
        }
        assert_eq!(tree.names(), ["a.txt", "other"], "nothing else is left or made");
        assert_eq!((tree.get("other"), fs::read_dir(&tree.outside).unwrap().count()), ("other".to_owned(), 0));
    }
}

#[tokio::test]
async fn an_unconditional_write_replaces_a_file_that_came_up_and_says_so() {
    let tree = Tree::new();
    let fs = competing(&tree, |path| fs::write(path, "theirs").unwrap());
    let written = write(&fs, "a.txt", "mine", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!((written.operation, written.before.as_deref()), (crate::Operation::Update, Some("theirs")));
    assert_eq!(tree.get("a.txt"), "mine");
    // One that was there and changed is replaced as well, and no text is called its old one.
    let fs = competing(&tree, |path| fs::write(path, "changed").unwrap());
    let written = write(&fs, "a.txt", "mine", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!((written.operation, written.before), (crate::Operation::Update, None));
    for act in [|path: &std::path::Path| fs::create_dir(path).unwrap(), special] {
        let tree = Tree::new();
        let fs = competing(&tree, act);
        assert_eq!(refusal(write(&fs, "a.txt", "x", &WriteIntent::Unconditional).await).0, "FS_NOT_REGULAR_FILE");
        assert_eq!(tree.names(), ["a.txt"]);
    }
}

#[tokio::test]
async fn a_replaced_version_that_changed_at_the_last_moment_is_stale() {
    type Act = fn(&std::path::Path);
    let stale = "FS_STALE_VERSION";
    let cases: [(Act, &str); 5] = [
        (|path| fs::write(path, "theirs").unwrap(), stale),
        (|path| fs::remove_file(path).unwrap(), stale),
        (|path| fs::rename(path.with_file_name("other"), path).unwrap(), stale),
        (|path| (fs::remove_file(path).unwrap(), fs::create_dir(path).unwrap()).1, "FS_NOT_REGULAR_FILE"),
        (|path| (fs::remove_file(path).unwrap(), symlink("other", path).unwrap()).1, "FS_NOT_REGULAR_FILE"),
    ];
    for (act, code) in cases {
        for edits in [false, true] {
            let tree = Tree::new();
            tree.put("a.txt", "known");
            tree.put("other", "other");
            let fs = competing(&tree, act);
            let target = fs.resolve("a.txt", None).await.unwrap();
            let known = fs.stat(&target).await.unwrap().version;
            let outcome = if edits {
                let edit = Edit { old: "known".into(), new: "mine".into(), replace_all: false };
                fs.edit_text(&target, &edit, Some(&known)).await
            } else {
                fs.write_text(&target, "mine", &WriteIntent::ReplaceIfVersion(known)).await
            };
            let verb = if edits { "edit" } else { "write" };
            let why = if code == stale { "file changed since it was read" } else { "not a regular file" };
            assert_eq!(refusal(outcome), (code, format!("cannot {verb} \"a.txt\": {why}")));
            assert!(tree.names().iter().all(|name| ["a.txt", "other"].contains(&&**name)), "{:?}", tree.names());
            assert_ne!(fs::read(tree.root.join("a.txt")).unwrap_or_default(), b"mine");
        }
    }
}

#[tokio::test]
async fn an_edit_without_a_condition_is_made_on_what_is_there_now() {
    let tree = Tree::new();
    tree.put("a.txt", "one two");
    let fs = competing(&tree, |path| fs::write(path, "one two three").unwrap());
    assert_eq!(edit(&fs, "a.txt", "two", "2").await.unwrap().after, "one 2 three");
    // One that changes at every try is given up.
    let path = tree.root.join("a.txt");
    let mut count = 0;
    let fs = tree.stepping(Step::Probed, move || {
        count += 1;
        fs::write(&path, format!("one {count}")).unwrap();
        Ok(())
    });
    let stale = ("FS_STALE_VERSION", "cannot edit \"a.txt\": file changed since it was read".to_owned());
    assert_eq!(refusal(edit(&fs, "a.txt", "one", "1").await), stale);
    assert_eq!(tree.names(), ["a.txt"]);
}

#[tokio::test]
async fn a_link_that_came_up_after_the_target_was_resolved() {
    let tree = Tree::new();
    tree.put("dir/a.txt", "one");
    tree.put("other/a.txt", "two");
    let fs = tree.fs();
    let target = fs.resolve("dir/a.txt", None).await.unwrap();
    fs::rename(tree.root.join("dir"), tree.root.join("moved")).unwrap();
    tree.link("dir", "other");
    // Inside: followed, as it would be now.
    assert_eq!(fs.read_text(&target, 10, &Cancel::new()).await.unwrap(), "two");
    assert_eq!(fs.stat(&target).await.unwrap().kind, FileKind::File);
    fs.write_text(&target, "three", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!((tree.get("other/a.txt"), tree.get("moved/a.txt")), ("three".to_owned(), "one".to_owned()));
    // Outside: refused, whatever is asked.
    fs::remove_file(tree.root.join("dir")).unwrap();
    tree.link("dir", "../outside");
    fs::write(tree.outside.join("a.txt"), "canary").unwrap();
    let outside = |verb| ("FS_OUTSIDE_ROOT", format!("cannot {verb} \"dir/a.txt\": outside the work folder"));
    assert_eq!(refusal(fs.stat(&target).await), outside("read"));
    assert_eq!(refusal(fs.lstat(&target).await), outside("read"));
    assert_eq!(refusal(fs.read_bytes(&target, 10, &Cancel::new()).await), outside("read"));
    assert_eq!(refusal(fs.stream_text(&target, &Cancel::new()).await), outside("read"));
    assert_eq!(refusal(fs.list_dir(&target).await), outside("list"));
    assert_eq!(refusal(fs.write_text(&target, "x", &WriteIntent::Unconditional).await), outside("write"));
    let edit = Edit { old: "canary".into(), new: "x".into(), replace_all: true };
    assert_eq!(refusal(fs.edit_text(&target, &edit, None).await), outside("edit"));
    assert_eq!(fs::read_to_string(tree.outside.join("a.txt")).unwrap(), "canary");
}
