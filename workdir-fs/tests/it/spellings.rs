//! Paths of every kind, links of every kind.

use std::fs;

use crate::fixture::Expect::{Bytes, Code};
use crate::fixture::{CANARY, Tree, check};

#[test]
fn plain_paths() {
    let tree = Tree::new();
    tree.file("ok", "ok");
    tree.file("sub/ok", "sub ok");
    tree.file("a  b\\c.png", "odd");
    tree.file("~", "tilde");
    tree.file("%2e%2e", "percent");
    let absolute = tree.root.join("sub/ok");
    let doubled = format!("/{}/./sub//ok", tree.root.display());
    check(
        &tree,
        &[
            ("ok", Bytes(b"ok")),
            ("./ok", Bytes(b"ok")),
            ("sub/ok", Bytes(b"sub ok")),
            ("sub//ok", Bytes(b"sub ok")),
            (absolute.to_str().unwrap(), Bytes(b"sub ok")),
            (&doubled, Bytes(b"sub ok")),
            (r"a  b\c.png", Bytes(b"odd")),
            ("~", Bytes(b"tilde")),
            ("%2e%2e", Bytes(b"percent")),
            ("absent", Code("not_found")),
            ("absent/ok", Code("not_found")),
            ("ok/below", Code("not_found")),
            ("ok/below/more", Code("not_found")),
            (r"C:\Users\me\x.jpg question", Code("not_found")),
        ],
    );
}

#[test]
fn paths_that_lead_out() {
    let tree = Tree::new();
    tree.file("ok", "ok");
    tree.file("sub/ok", "ok");
    let secret = tree.outside.join("secret");
    let sibling = format!("{}2/secret", tree.root.display());
    fs::create_dir(format!("{}2", tree.root.display())).unwrap();
    fs::write(&sibling, CANARY).unwrap();
    check(
        &tree,
        &[
            ("", Code("outside_root")),
            (".", Code("outside_root")),
            ("./", Code("outside_root")),
            ("..", Code("outside_root")),
            ("../", Code("outside_root")),
            ("../outside/secret", Code("outside_root")),
            ("sub/../ok", Code("outside_root")),
            ("sub/../..", Code("outside_root")),
            ("sub/../../outside/secret", Code("outside_root")),
            ("/etc/hostname", Code("outside_root")),
            (secret.to_str().unwrap(), Code("outside_root")),
            (&sibling, Code("outside_root")),
            (tree.root.to_str().unwrap(), Code("outside_root")),
            ("ok\0", Code("outside_root")),
            ("ok\0/../../outside/secret", Code("outside_root")),
        ],
    );
}

#[test]
fn links_are_refused_wherever_they_point() {
    let tree = Tree::new();
    tree.file("ok", "ok");
    tree.file("sub/ok", "ok");
    tree.file("sub/deep/ok", "ok");
    tree.link("in", "ok");
    tree.link("in-absolute", tree.root.join("ok"));
    tree.link("in-deep", "sub/deep/ok");
    tree.link("dir", "sub");
    tree.link("sub/up", "..");
    tree.link("sub/deep/dir", ".");
    tree.link("out", "../outside/secret");
    tree.link("out-absolute", tree.outside.join("secret"));
    tree.link("out-dir", "../outside");
    tree.link("out-dir-absolute", &tree.outside);
    tree.link("out-round", "sub/../../root/../outside/secret");
    tree.link("magic", "/proc/self/root");
    tree.link("zero", "/dev/zero");
    tree.link("dangling", "absent");
    tree.link("loop", "loop");
    tree.link("loop-a", "loop-b");
    tree.link("loop-b", "loop-a");
    tree.link("chain", "out-dir");
    let absolute = tree.root.join("out-dir/secret");
    let refused = Code("symlink_refused");
    check(
        &tree,
        &[
            ("in", refused),
            ("in-absolute", refused),
            ("in-deep", refused),
            ("dir", refused),
            ("dir/ok", refused),
            ("dir/deep/ok", refused),
            ("dir/absent", refused),
            ("sub/up", refused),
            ("sub/up/ok", refused),
            ("sub/deep/dir/ok", refused),
            ("out", refused),
            ("out-absolute", refused),
            ("out-dir", refused),
            ("out-dir/secret", refused),
            ("out-dir-absolute/secret", refused),
            (absolute.to_str().unwrap(), refused),
            ("out-round", refused),
            ("magic", refused),
            ("magic/etc/hostname", refused),
            ("zero", refused),
            ("dangling", refused),
            ("dangling/ok", refused),
            ("loop", refused),
            ("loop/ok", refused),
            ("loop-a", refused),
            ("chain/secret", refused),
            ("dir/", refused),
            ("dir/.", refused),
            ("out-dir/", refused),
            ("out-dir//", refused),
            ("out-dir/./", refused),
            ("in/", refused),
            ("loop/", refused),
            ("dangling/.", refused),
            ("out-dir/..", Code("outside_root")),
        ],
    );
}

#[test]
fn a_file_outside_a_link_to_it_and_a_missing_file() {
    let tree = Tree::new();
    fs::write(tree.root.join("../escape.png"), CANARY).unwrap();
    tree.link("link.png", "../escape.png");
    check(
        &tree,
        &[
            ("../escape.png", Code("outside_root")),
            ("link.png", Code("symlink_refused")),
            ("missing.png", Code("not_found")),
        ],
    );
}

#[test]
fn a_final_slash_is_judged_and_never_opened() {
    let tree = Tree::new();
    tree.file("ok", "ok");
    tree.file("sub/ok", "ok");
    tree.file("Shot\u{202f}1.png", "spaced");
    check(
        &tree,
        &[
            ("ok/", Code("not_found")),
            ("ok/.", Code("not_found")),
            ("ok//", Code("not_found")),
            ("sub/ok/", Code("not_found")),
            ("sub/", Code("not_a_regular_file")),
            ("sub/.", Code("not_a_regular_file")),
            ("absent/", Code("not_found")),
            ("Shot 1.png/", Code("not_found")),
        ],
    );
}

#[test]
fn long_names_and_paths() {
    let tree = Tree::new();
    let longest = "n".repeat(255);
    tree.file(&longest, "longest");
    tree.file("sub/ok", "ok");
    let name = "n".repeat(256);
    let below = format!("sub/{name}/ok");
    let path = "a/".repeat(2099) + "bc";
    assert_eq!(path.len(), 4200);
    let nearly = "a/".repeat(2047) + "b";
    assert_eq!(nearly.len(), 4095);
    check(
        &tree,
        &[
            (&longest, Bytes(b"longest")),
            (&name, Code("io_error")),
            (&below, Code("io_error")),
            (&path, Code("io_error")),
            // As long as a path may be, and simply not there.
            (&nearly, Code("not_found")),
        ],
    );
}
