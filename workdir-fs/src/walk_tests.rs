//! The walks themselves, with names that lowering would never let through: the second line of defence.

use std::fs;
use std::os::unix::fs::symlink;

use cap_std::ambient_authority;

use super::*;

#[test]
fn neither_walk_leaves_the_folder_or_follows_a_link() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path().join("root");
    fs::create_dir_all(root.join("sub")).unwrap();
    fs::create_dir(tmp.path().join("outside")).unwrap();
    fs::write(tmp.path().join("outside/secret"), "secret").unwrap();
    symlink("../outside", root.join("out")).unwrap();
    symlink("sub", root.join("in")).unwrap();
    let dir = Dir::open_ambient_dir(&root, ambient_authority()).unwrap();
    for walk in [Walk::Openat2, Walk::Handles] {
        if settle(walk, &dir, &root).is_err() {
            eprintln!("skipped: no openat2 here");
            continue;
        }
        for (path, code) in [
            ("..", "outside_root"),
            ("../outside/secret", "outside_root"),
            ("sub/../../outside/secret", "outside_root"),
            ("out", "symlink_refused"),
            ("out/", "symlink_refused"),
            ("out/.", "symlink_refused"),
            ("out/..", "symlink_refused"),
            ("out/secret", "symlink_refused"),
            ("in/", "symlink_refused"),
            ("in/x", "symlink_refused"),
        ] {
            // A trailing `/` or `.` never gets this far; it must not be the way in if it did.
            match open_file(walk, &dir, path) {
                Err(error) if error.code() == code => {}
                other => panic!("{walk:?} {path:?}: {other:?}"),
            }
        }
        assert!(open_file(walk, &dir, "/etc/hostname").is_err());
        assert_eq!(open_dir(walk, &dir, "in").unwrap_err().code(), "symlink_refused");
        assert_eq!(open_dir(walk, &dir, "sub/none").unwrap_err().code(), "not_found");
    }
}

#[test]
fn filtered_calls_fall_back_only_where_that_was_asked_for() {
    assert!(falls_back(Walk::Auto, Errno::NOSYS) && falls_back(Walk::Auto, Errno::PERM));
    assert!(!falls_back(Walk::Auto, Errno::LOOP) && !falls_back(Walk::Auto, Errno::ACCESS));
    assert!(!falls_back(Walk::Openat2, Errno::NOSYS));
}

#[test]
fn a_lost_race_is_tried_again_and_not_for_ever() {
    let tries_until = |wins_on: u32| {
        let mut tries = 0;
        let open = || {
            tries += 1;
            if tries == wins_on { Ok(()) } else { Err(Errno::AGAIN) }
        };
        (insist(open, |errno| *errno == Errno::AGAIN), tries)
    };
    assert_eq!(tries_until(1), (Ok(()), 1));
    assert_eq!(tries_until(3), (Ok(()), 3));
    assert_eq!(tries_until(MAX_TRIES), (Ok(()), MAX_TRIES));
    assert_eq!(tries_until(MAX_TRIES + 1), (Err(Errno::AGAIN), MAX_TRIES));
    assert_eq!(insist(|| Err::<(), _>(Errno::LOOP), |errno| *errno == Errno::AGAIN), Err(Errno::LOOP));
}
