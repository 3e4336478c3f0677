//! The way to the folder, and what happens to the folder itself.

use std::fs;
use std::path::{Path, PathBuf};

use attache_workdir_fs::WorkDir;

use crate::fixture::{Tree, on_each_walk, read, without_hanging};

fn is_shareable<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}

#[test]
fn a_work_dir_can_be_shared() {
    is_shareable::<WorkDir>();
}

#[test]
fn an_alias_leads_to_the_folder_and_names_it() {
    let tree = Tree::new();
    tree.file("a.png", "a");
    let alias = tree.root.with_file_name("alias");
    std::os::unix::fs::symlink("root", &alias).unwrap();
    on_each_walk(&alias, |work| {
        assert_eq!((work.path(), work.canonical_path()), (&*alias, &*tree.root));
        for spelling in ["a.png".into(), alias.join("a.png"), tree.root.join("a.png")] {
            assert_eq!(read(work, spelling.to_str().unwrap(), 10).unwrap().1, b"a");
        }
        assert_eq!(work.lower(alias.to_str().unwrap()).unwrap_err().code(), "outside_root");
    });
}

#[test]
fn a_relative_folder_works() {
    // Tests run in the package's directory.
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    on_each_walk("src", |work| {
        assert_eq!(work.path(), here.join("src"));
        for spelling in [PathBuf::from("lib.rs"), here.join("src/lib.rs")] {
            assert!(read(work, spelling.to_str().unwrap(), 1 << 20).unwrap().1.starts_with(b"//!"));
        }
    });
    on_each_walk("tests/../src", |work| {
        let canonical = work.canonical_path().join("lib.rs");
        assert_eq!(work.lower(canonical.to_str().unwrap()).unwrap().as_str(), "lib.rs");
    });
}

#[test]
fn the_folder_stays_the_same_when_it_is_renamed() {
    let tree = Tree::new();
    tree.file("sub/a.png", "a");
    let moved = tree.root.with_file_name("moved");
    on_each_walk(&tree.root, |work| {
        fs::rename(&tree.root, &moved).unwrap();
        fs::create_dir_all(tree.root.join("sub")).unwrap();
        fs::write(tree.root.join("sub/a.png"), "impostor").unwrap();
        assert_eq!(read(work, "sub/a.png", 10).unwrap().1, b"a");
        fs::remove_dir_all(&tree.root).unwrap();
        fs::rename(&moved, &tree.root).unwrap();
    });
}

#[test]
fn a_deleted_folder_holds_nothing() {
    let tree = Tree::new();
    on_each_walk(&tree.root, |work| {
        fs::remove_dir(&tree.root).unwrap();
        assert_eq!(read(work, "a.png", 10).unwrap_err().code(), "not_found");
        fs::create_dir(&tree.root).unwrap();
    });
}

#[test]
fn a_folder_that_is_none_is_an_error_of_the_host() {
    without_hanging(|| {
        let tree = Tree::new();
        tree.file("file", "");
        let fifo = tree.root.join("fifo");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        for (path, kind) in [
            (tree.root.join("absent"), std::io::ErrorKind::NotFound),
            (tree.root.join("file"), std::io::ErrorKind::NotADirectory),
            (fifo, std::io::ErrorKind::NotADirectory),
        ] {
            let error = WorkDir::open(&path).unwrap_err();
            assert_eq!((error.io_kind(), error.path()), (kind, &*path));
            assert!(error.to_string().contains(path.to_str().unwrap()));
        }
        assert!(WorkDir::open("").is_err());
    });
}
