//! Spellings, keys, and what is shown.

use super::*;

#[tokio::test]
async fn what_is_shown_is_what_was_asked_for() {
    let tree = Tree::new();
    tree.put("sub/a.txt", "");
    tree.link("link", "sub");
    let fs = tree.fs();
    let root = tree.root.to_str().unwrap();
    for (path, cwd, key, display) in [
        ("sub/a.txt", None, "sub/a.txt", "sub/a.txt"),
        ("./sub//x/../a.txt", None, "sub/a.txt", "sub/a.txt"),
        ("a.txt", Some("sub"), "sub/a.txt", "sub/a.txt"),
        ("../sub/a.txt", Some("sub"), "sub/a.txt", "sub/a.txt"),
        ("a.txt", Some(&*format!("{root}/sub")), "sub/a.txt", "sub/a.txt"),
        (&*format!("{root}/sub/a.txt"), Some("elsewhere"), "sub/a.txt", "sub/a.txt"),
        ("../root/sub/a.txt", None, "sub/a.txt", "sub/a.txt"),
        ("link/a.txt", None, "sub/a.txt", "link/a.txt"),
        ("sub/a.txt/", None, "sub/a.txt", "sub/a.txt"),
        ("sub/a.txt/below", None, "sub/a.txt/below", "sub/a.txt/below"),
        (".", None, "", "."),
        ("sub/..", None, "", "."),
        (root, None, "", "."),
        ("a\nb\u{202e}", None, "a\nb\u{202e}", r"a\u{a}b\u{202e}"),
        ("4\u{202f}PM ü \\ %20 ~", None, "4\u{202f}PM ü \\ %20 ~", "4\u{202f}PM ü \\ %20 ~"),
    ] {
        let target = fs.resolve(path, cwd).await.unwrap();
        assert_eq!((target.key(), target.display()), (key, display), "{path:?} in {cwd:?}");
    }
    let not_found = "cannot read \"a\\u{a}b\": not found";
    assert_eq!(refusal(fs.stat(&fs.resolve("a\nb", None).await.unwrap()).await).1, not_found);
    tree.put("a\nb", "found");
    assert_eq!(read(&fs, "a\nb").await.unwrap(), "found");
    assert_eq!(fs.lstat(&fs.resolve("a\nb", None).await.unwrap()).await.unwrap().size, Some(5));
}

#[tokio::test]
async fn links_inside_are_followed_and_others_are_not() {
    let tree = Tree::new();
    tree.put("sub/a.txt", "inside");
    fs::write(tree.outside.join("secret"), "secret").unwrap();
    let (root, outside) = (tree.root.display(), tree.outside.display());
    for (name, to) in [
        ("in", "sub/a.txt".to_owned()),
        ("absolute", format!("{root}/sub/a.txt")),
        ("round", "sub/../sub/./a.txt".to_owned()),
        ("dir", "sub".to_owned()),
        ("chain", "dir/a.txt".to_owned()),
        ("sub/up", "../in".to_owned()),
        ("new", "sub/new/x.txt".to_owned()),
        ("back", "none/../sub/a.txt".to_owned()),
        ("out", "../outside/secret".to_owned()),
        ("out-absolute", format!("{outside}/secret")),
        ("out-dir", format!("{outside}")),
        ("out-round", format!("{root}/../outside/secret")),
        ("out-dangling", "../nowhere".to_owned()),
        ("out-and-in", "../root/sub/a.txt".to_owned()),
        ("loop", "loop".to_owned()),
        ("loop-a", "loop-b".to_owned()),
        ("loop-b", "sub/../loop-a".to_owned()),
    ] {
        tree.link(name, to);
    }
    for walk in [Walk::Auto, Walk::Handles] {
        let fs = tree.walked_by(walk);
        for path in ["in", "absolute", "round", "dir/a.txt", "chain", "sub/up", "dir/up", "back"] {
            assert_eq!(fs.resolve(path, None).await.unwrap().key(), "sub/a.txt", "{path}");
            assert_eq!(read(&fs, path).await.unwrap(), "inside", "{path}");
        }
        assert_eq!(fs.resolve("new", None).await.unwrap().key(), "sub/new/x.txt");
        for path in ["out", "out-absolute", "out-dir", "out-dir/secret", "out-round", "out-dangling", "out-and-in"] {
            let message = format!("cannot resolve \"{path}\": outside the work folder");
            assert_eq!(refusal(fs.resolve(path, None).await), ("FS_OUTSIDE_ROOT", message));
        }
        for path in ["loop", "loop/x", "loop-a"] {
            let message = format!("cannot resolve \"{path}\": Too many levels of symbolic links");
            assert_eq!(refusal(fs.resolve(path, None).await), ("FS_IO_ERROR", message));
        }
        for path in ["..", "../outside/secret", "/etc/passwd", "sub/../../outside", "/", &format!("{root}2/x")] {
            let message = format!("cannot resolve \"{path}\": outside the work folder");
            assert_eq!(refusal(fs.resolve(path, None).await), ("FS_OUTSIDE_ROOT", message));
        }
        assert_eq!(refusal(fs.resolve("x", Some("..")).await).0, "FS_OUTSIDE_ROOT");
        assert_eq!(refusal(fs.resolve("a\0", None).await).0, "FS_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_folder_given_through_a_link_is_known_by_both_names() {
    let tree = Tree::new();
    tree.put("a.txt", "a");
    let alias = tree.outside.join("alias");
    symlink(&tree.root, &alias).unwrap();
    let fs = LocalFs::new(WorkDir::open(&alias).unwrap());
    for base in [&alias, &tree.root] {
        let path = base.join("sub/../a.txt");
        assert_eq!(fs.resolve(path.to_str().unwrap(), None).await.unwrap().key(), "a.txt");
    }
    tree.link("link", alias.join("a.txt"));
    assert_eq!(read(&fs, "link").await.unwrap(), "a");
}

#[tokio::test]
async fn a_file_where_a_folder_should_be() {
    let tree = Tree::new();
    tree.put("file", "");
    let fs = tree.fs();
    let target = fs.resolve("file/x", None).await.unwrap();
    let message = |verb| ("FS_NOT_DIRECTORY", format!("cannot {verb} \"file/x\": not a directory"));
    assert_eq!(refusal(fs.stat(&target).await), message("read"));
    assert_eq!(refusal(fs.lstat(&target).await), message("read"));
    assert_eq!(refusal(fs.read_bytes(&target, 1, &Cancel::new()).await), message("read"));
    assert_eq!(refusal(fs.list_dir(&target).await), message("list"));
    assert_eq!(refusal(fs.write_text(&target, "", &WriteIntent::Unconditional).await), message("write"));
    let known = WriteIntent::ReplaceIfVersion(Version::new("any"));
    assert_eq!(refusal(fs.write_text(&target, "", &known).await).0, "FS_STALE_VERSION");
    assert_eq!(refusal(fs.edit_text(&target, &Edit::default(), None).await).0, "FS_STALE_VERSION");
}

#[tokio::test]
async fn the_folder_itself_is_a_directory() {
    let tree = Tree::new();
    let fs = tree.fs();
    let target = fs.resolve(".", None).await.unwrap();
    assert_eq!(fs.stat(&target).await.unwrap().kind, crate::FileKind::Directory);
    assert_eq!(fs.lstat(&target).await.unwrap().kind, crate::FileKind::Directory);
    assert_eq!(fs.list_dir(&target).await.unwrap(), []);
    let message = |verb| ("FS_NOT_REGULAR_FILE", format!("cannot {verb} \".\": not a regular file"));
    assert_eq!(refusal(fs.read_bytes(&target, 1, &Cancel::new()).await), message("read"));
    assert_eq!(refusal(fs.write_text(&target, "", &WriteIntent::Unconditional).await), message("write"));
    assert_eq!(refusal(fs.edit_text(&target, &Edit::default(), None).await), message("edit"));
}
