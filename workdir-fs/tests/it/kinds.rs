//! Whatever is not a regular file is told by its descriptor, and nothing blocks.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::{fs, io};

use attache_workdir_fs::{FsErrorKind, HardLinks};
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::fixture::Expect::{Bytes, Code};
use crate::fixture::{Tree, check, on_each_walk, on_each_walk_with, read, without_hanging};

/// Makes a special file, or says that this user may not.
fn special(path: &Path, kind: FileType, device: u64) -> bool {
    match mknodat(CWD, path, kind, Mode::from_raw_mode(0o600), device) {
        Ok(()) => true,
        Err(rustix::io::Errno::PERM | rustix::io::Errno::ACCESS) => false,
        Err(errno) => panic!("{}: {errno}", path.display()),
    }
}

#[test]
fn special_files_are_refused_and_do_not_block() {
    without_hanging(|| {
        let tree = Tree::new();
        fs::create_dir(tree.root.join("x.png")).unwrap();
        assert!(special(&tree.root.join("fifo"), FileType::Fifo, 0));
        let _socket = UnixListener::bind(tree.root.join("socket")).unwrap();
        let refused = Code("not_a_regular_file");
        let mut rows = vec![("x.png", refused), ("fifo", refused), ("socket", refused)];
        rows.extend([("x.png/", refused), ("fifo/", Code("not_found")), ("socket/", Code("not_found"))]);
        rows.extend([("fifo/below", Code("not_found")), ("socket/below", Code("not_found"))]);
        // Needs privileges; the test below uses the devices that are there.
        if special(&tree.root.join("zero"), FileType::CharacterDevice, rustix::fs::makedev(1, 5)) {
            rows.push(("zero", refused));
        }
        check(&tree, &rows);
    });
}

#[test]
fn devices_are_refused_and_do_not_block() {
    without_hanging(|| {
        on_each_walk("/dev", |work| {
            for name in ["null", "zero", "urandom"] {
                let error = read(work, name, 10).unwrap_err();
                assert_eq!(error.code(), "not_a_regular_file", "{name}: {error}");
            }
            // Has nothing behind it where there is no terminal, and then cannot even be opened.
            if Path::new("/dev/tty").exists() {
                assert_eq!(read(work, "tty", 10).unwrap_err().code(), "not_a_regular_file");
            }
        });
    });
}

#[test]
fn the_reason_says_what_it_is() {
    let tree = Tree::new();
    tree.file("sub/ok", "");
    on_each_walk(&tree.root, |work| {
        assert_eq!(read(work, "sub", 1).unwrap_err().to_string(), "it is a directory, not a regular file");
    });
}

#[test]
fn hard_links_are_a_setting() {
    let tree = Tree::new();
    tree.file("single", "single");
    fs::hard_link(tree.outside.join("secret"), tree.root.join("double")).unwrap();
    on_each_walk_with(&tree.root, HardLinks::Accept, |work| {
        assert!(read(work, "double", 100).is_ok());
    });
    on_each_walk_with(&tree.root, HardLinks::Refuse, |work| {
        assert_eq!(read(work, "single", 100).unwrap().1, b"single");
        let error = read(work, "double", 100).unwrap_err();
        assert_eq!(error.kind(), FsErrorKind::NotARegularFile);
        assert!(error.to_string().contains("2 hard links"), "{error}");
    });
}

#[test]
fn permission_denied_is_an_io_error() {
    let tree = Tree::new();
    tree.file("closed.png", "closed");
    tree.file("shut/in.png", "in");
    tree.file("unlisted/in.png", "in");
    let set_mode = |name: &str, mode| {
        fs::set_permissions(tree.root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode("closed.png", 0o000);
    set_mode("shut", 0o000);
    set_mode("unlisted", 0o100);
    if fs::read(tree.root.join("closed.png")).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    check(
        &tree,
        &[
            ("closed.png", Code("io_error")),
            ("shut/in.png", Code("io_error")),
            ("unlisted/in.png", Bytes(b"in")),
            ("unlisted/absent", Code("not_found")),
        ],
    );
    set_mode("shut", 0o700);
    set_mode("unlisted", 0o700);
}

#[test]
fn process_files_claim_nothing_and_yield_bytes() {
    if !Path::new("/proc/self/status").exists() {
        eprintln!("skipped: no /proc");
        return;
    }
    on_each_walk("/proc/self", |work| {
        let (snapshot, bytes) = read(work, "cmdline", 1 << 20).unwrap();
        assert_eq!(bytes, fs::read("/proc/self/cmdline").unwrap());
        assert_eq!(snapshot.version.size(), 0);
        assert!(!bytes.is_empty());
        let maps = read(work, "maps", 1 << 24).unwrap().1;
        assert!(maps.len() > 1000 && maps.ends_with(b"\n"));

        // Not one byte more than it takes to know is read, however much room there is.
        for mut buffer in [Vec::new(), Vec::with_capacity(1 << 16)] {
            let error = work.read(&work.lower("maps").unwrap(), 1000, &mut buffer).unwrap_err();
            assert_eq!(error.to_string(), "the file yields at least 1001 bytes, more than the limit of 1000 bytes");
        }
        for magic in ["exe", "cwd", "root", "root/etc/hostname", "cwd/Cargo.toml", "fd/0"] {
            assert_eq!(read(work, magic, 1 << 20).unwrap_err().code(), "symlink_refused", "{magic}");
        }
    });
}

#[test]
fn a_claim_may_be_too_big_as_well() {
    let Ok(claimed) = fs::metadata("/sys/kernel/uevent_seqnum") else {
        eprintln!("skipped: no /sys");
        return;
    };
    on_each_walk("/sys/kernel", |work| {
        let (snapshot, bytes) = read(work, "uevent_seqnum", 1 << 20).unwrap();
        assert!(snapshot.len < claimed.len() && bytes.ends_with(b"\n"), "{snapshot:?}");
    });
}

#[test]
fn a_missing_file_has_no_cause_and_a_refused_open_has() {
    let tree = Tree::new();
    on_each_walk(&tree.root, |work| {
        let error = read(work, &"n".repeat(256), 1).unwrap_err();
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<io::Error>()).unwrap();
        assert_eq!(cause.raw_os_error(), Some(rustix::io::Errno::NAMETOOLONG.raw_os_error()));
    });
}
