//! What must not be followed, waited for or read, by the command line as a whole.

use std::os::unix::fs::symlink;
use std::time::Duration;

use attache_tests::pictures;
use rustix::fs::{CWD, FileType, mknodat};

use crate::session::{Session, outcomes};

#[test]
fn nothing_outside_the_work_folder_is_reached() {
    let session = Session::new();
    std::fs::write(session.path("escape.png"), pictures::png(2, 2, 0)).unwrap();
    std::fs::create_dir(session.path("outside")).unwrap();
    std::fs::write(session.path("outside/secret.png"), pictures::png(2, 2, 0)).unwrap();
    session.write("inside.png", pictures::png(2, 2, 1));
    for (name, target) in [
        ("link.png", "../escape.png"),
        ("dir", "../outside"),
        ("here", "."),
        ("loop.png", "loop.png"),
        ("to-inside.png", "inside.png"),
        ("zero.png", "/dev/zero"),
        ("dangling.png", "nowhere"),
    ] {
        symlink(target, session.work(name)).unwrap();
    }
    for (entry, code) in [
        ("../escape.png", "outside_root"),
        ("dir/../../escape.png", "outside_root"),
        ("link.png", "symlink_refused"),
        ("dir/secret.png", "symlink_refused"),
        ("here/inside.png", "symlink_refused"),
        ("loop.png", "symlink_refused"),
        ("to-inside.png", "symlink_refused"),
        ("zero.png", "symlink_refused"),
        ("dangling.png", "symlink_refused"),
        ("missing.png", "not_found"),
        ("inside.png/x.png", "not_found"),
        ("missing/x.png", "not_found"),
    ] {
        let document = session.attach(&format!("{entry}=image/png"));
        assert_eq!(outcomes(&document), [code], "{entry}: {document}");
    }
    assert!(!session.context().join("blobs").exists());
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let session = Session::new();
    std::fs::create_dir(session.work("x.png")).unwrap();
    mknodat(CWD, session.work("pipe.png"), FileType::Fifo, 0o644.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(session.work("socket.png")).unwrap();
    for name in ["x.png", "pipe.png", "socket.png"] {
        // A FIFO without a writer would be waited for, if it were opened like a file.
        let call = session.call("attach -c ctx --workdir work --json").arg(format!("{name}=image/png"));
        let document = call.limit(Duration::from_secs(20)).run().expect_code(0).json();
        assert_eq!(outcomes(&document), ["not_a_regular_file"], "{document}");
    }
}

#[test]
fn a_link_to_the_work_folder_itself_is_followed() {
    let session = Session::new();
    session.write("a.png", pictures::png(2, 2, 0));
    symlink("work", session.path("alias")).unwrap();
    let document = session.json("attach --workdir alias a.png");
    assert_eq!(outcomes(&document), ["image/png"]);
}

#[test]
fn a_context_directory_is_private() {
    use std::os::unix::fs::PermissionsExt;

    let session = Session::new();
    session.write("a.png", pictures::png(2, 2, 0));
    session.attach("a.png");
    let mode = |path: std::path::PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let blob = session.audit().blobs.first().unwrap().clone();
    assert_eq!(mode(session.context()), 0o700);
    assert_eq!(mode(session.context().join("conversation.jsonl")), 0o600);
    assert_eq!(mode(session.context().join("blobs")), 0o700);
    assert_eq!(mode(session.blob(&blob)), 0o600);
    // A wider one is tightened.
    std::fs::set_permissions(session.context().join("blobs"), PermissionsExt::from_mode(0o777)).unwrap();
    session.attach("a.png");
    assert_eq!(mode(session.context().join("blobs")), 0o700);
}
