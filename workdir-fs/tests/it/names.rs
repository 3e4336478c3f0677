//! Names that look alike.

use std::fs;

use crate::fixture::Expect::{Bytes, Code};
use crate::fixture::{Tree, check, on_each_walk, read};

#[test]
fn one_similar_name_is_taken() {
    let tree = Tree::new();
    tree.file("Screenshot 2026-11-30 at 5.00.00\u{202f}PM.png", "capture");
    tree.file("shots/Screenshot\u{a0}1.png", "deeper");
    tree.file("Sni\u{301}mek.png", "decomposed");
    tree.file("Gr\u{fc}n.png", "composed");
    check(
        &tree,
        &[
            ("Screenshot 2026-11-30 at 5.00.00 PM.png", Bytes(b"capture")),
            ("shots/Screenshot 1.png", Bytes(b"deeper")),
            ("Sn\u{ed}mek.png", Bytes(b"decomposed")),
            ("Gru\u{308}n.png", Bytes(b"composed")),
            // Only in its own directory, only the last component, and nothing else is forgiven.
            ("Screenshot 1.png", Code("not_found")),
            ("shots/Screenshot  1.png", Code("not_found")),
            (r"shots/Screenshot\ 1.png", Code("not_found")),
            ("shots/screenshot 1.png", Code("not_found")),
        ],
    );
    on_each_walk(&tree.root, |work| {
        let (snapshot, _) = read(work, "./shots//Screenshot 1.png", 100).unwrap();
        assert_eq!(snapshot.name.as_str(), "shots/Screenshot\u{a0}1.png");
        let error = read(work, "shots/Screenshot 1.png", 3).unwrap_err();
        assert_eq!(error.code(), "too_large");
    });
}

#[test]
fn a_middle_component_is_never_guessed() {
    let tree = Tree::new();
    tree.file("my\u{a0}shots/a.png", "elsewhere");
    check(&tree, &[("my shots/a.png", Code("not_found")), ("my\u{a0}shots/a.png", Bytes(b"elsewhere"))]);
}

#[test]
fn the_exact_name_comes_first() {
    let tree = Tree::new();
    tree.file("a b.png", "exact");
    tree.file("a\u{a0}b.png", "similar");
    check(
        &tree,
        &[("a b.png", Bytes(b"exact")), ("a\u{a0}b.png", Bytes(b"similar")), ("a\u{2003}b.png", Code("not_found"))],
    );
}

#[test]
fn several_similar_names_are_listed() {
    let tree = Tree::new();
    tree.file("sub/4.00\u{202f}PM.png", "1");
    tree.file("sub/4.00\u{a0}PM.png", "2");
    on_each_walk(&tree.root, |work| {
        let error = read(work, "sub/4.00 PM.png", 100).unwrap_err();
        assert_eq!(error.code(), "not_found");
        assert_eq!(error.candidates(), ["4.00\u{a0}PM.png", "4.00\u{202f}PM.png"]);
        let reason = error.to_string();
        assert!(reason.ends_with(r"'4.00\u{a0}PM.png', '4.00\u{202f}PM.png'"), "{reason}");
    });
}

#[test]
fn what_a_similar_name_is_still_counts() {
    let tree = Tree::new();
    fs::create_dir(tree.root.join("dir\u{a0}1")).unwrap();
    tree.link("link\u{a0}1", "../outside/secret");
    tree.file("real/in\u{a0}1", "in");
    tree.link("alias", "real");
    check(
        &tree,
        &[
            ("dir 1", Code("not_a_regular_file")),
            ("dir 1/", Code("not_a_regular_file")),
            ("link 1", Code("symlink_refused")),
            ("alias/in 1", Code("symlink_refused")),
        ],
    );
}

#[test]
fn unusable_neighbours_do_not_matter() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = Tree::new();
    tree.file("a\u{a0}b", "ok");
    // Some file systems refuse such names, and then there is nothing to see.
    let _ = fs::write(tree.root.join(std::ffi::OsStr::from_bytes(b"a\xa0b")), "latin-1");
    check(&tree, &[("a b", Bytes(b"ok"))]);
}
