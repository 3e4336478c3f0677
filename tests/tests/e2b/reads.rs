//! Reads: how many requests they make, and that they stop.

use std::os::unix::fs::symlink;
use std::sync::atomic::Ordering;
use std::time::Duration;

use attache_workdir_fs::{Cancel, FileKind, FileSystem as _, Target};

use crate::server::{Sandbox, Sending};

async fn read(sandbox: &Sandbox, name: &str, max_bytes: u64) -> Result<Vec<u8>, (&'static str, String)> {
    let fs = sandbox.fs();
    let target = fs.resolve(name, None).await.unwrap();
    sandbox.requests();
    let outcome = fs.read_bytes(&target, max_bytes, &Cancel::new()).await;
    outcome.map_err(|error| (error.code(), error.to_string()))
}

#[tokio::test]
async fn a_file_over_the_limit_costs_one_look_and_no_read() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "0123456789");
    let (code, message) = read(&sandbox, "a", 9).await.unwrap_err();
    assert_eq!((code, &message[..]), ("FS_TOO_LARGE", "cannot read \"a\": 10 bytes exceeds the 9-byte limit"));
    assert_eq!(sandbox.requests(), ["Stat"]);
    assert_eq!(sandbox.sent.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_read_is_one_look_and_one_request() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "0123456789");
    assert_eq!(read(&sandbox, "a", 10).await.unwrap(), b"0123456789");
    assert_eq!(sandbox.requests(), ["Stat", "GET"]);
    sandbox.put("empty", "");
    assert_eq!(read(&sandbox, "empty", 0).await.unwrap(), b"");
    assert_eq!(sandbox.requests(), ["Stat", "GET"]);
    for name in ["none", "."] {
        read(&sandbox, name, 10).await.unwrap_err();
        assert_eq!(sandbox.requests(), ["Stat"]);
    }
}

#[tokio::test]
async fn a_file_that_grows_is_given_up_at_the_first_piece_past_the_limit() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "0123456789");
    sandbox.send(Sending::Endless);
    let (code, message) = read(&sandbox, "a", 1_000_000).await.unwrap_err();
    assert_eq!((code, &message[..]), ("FS_TOO_LARGE", "cannot read \"a\": content exceeds the 1000000-byte limit"));
    sandbox.sees_a_cancelled_connection().await;
    // What is past the limit was on its way already: the sockets' buffers, and no more.
    let sent = sandbox.sent.load(Ordering::SeqCst);
    assert!(sent < 32_000_000, "{sent} bytes were sent");
    assert_eq!(sandbox.requests(), ["Stat", "GET"]);
}

#[tokio::test]
async fn a_stream_ends_at_the_size_that_was_looked_at() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "0123456789");
    sandbox.send(Sending::Endless);
    let fs = sandbox.fs();
    let target = fs.resolve("a", None).await.unwrap();
    let mut stream = fs.stream_text(&target, &Cancel::new()).await.unwrap();
    assert_eq!(stream.next().await.unwrap().as_deref(), Some("0123456789"));
    assert_eq!(stream.next().await.unwrap(), None);
    sandbox.sees_a_cancelled_connection().await;
    // One that claims to be empty is read all the same, as far as that is sensible.
    sandbox.put("a", "");
    let mut stream = fs.stream_text(&target, &Cancel::new()).await.unwrap();
    let error = loop {
        match stream.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it has no end"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error.code(), "FS_TOO_LARGE" | "FS_NOT_TEXT"), "{error}");
}

#[tokio::test]
async fn a_cancelled_read_ends_the_connection() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "0123456789");
    sandbox.send(Sending::Stalled);
    let fs = sandbox.fs();
    let target = fs.resolve("a", None).await.unwrap();
    let cancel = Cancel::new();
    let asked = cancel.clone();
    let read = async { fs.read_bytes(&target, 10, &cancel).await };
    let stop = async {
        while sandbox.sent.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        asked.cancel();
    };
    let (outcome, ()) = tokio::join!(read, stop);
    let error = outcome.unwrap_err();
    assert_eq!((error.code(), error.to_string()), ("FS_ABORTED", "cannot read \"a\": cancelled".to_owned()));
    sandbox.sees_a_cancelled_connection().await;

    sandbox.requests();
    assert_eq!(fs.read_bytes(&target, 10, &cancel).await.unwrap_err().code(), "FS_ABORTED");
    assert_eq!(sandbox.requests(), [""; 0], "cancelled before it began");
}

#[tokio::test]
async fn half_a_file_is_never_taken_for_all_of_it() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "0123456789");
    sandbox.send(Sending::Cut);
    let (code, message) = read(&sandbox, "a", 100).await.unwrap_err();
    assert_eq!((code, &message[..]), ("FS_IO_ERROR", "cannot read \"a\": the connection to the sandbox broke"));
}

#[tokio::test]
async fn nothing_outside_the_folder_is_reached() {
    let sandbox = Sandbox::start().await;
    let outside = sandbox.root.parent().unwrap().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    symlink(outside.join("secret"), sandbox.root.join("file")).unwrap();
    symlink(&outside, sandbox.root.join("dir")).unwrap();
    symlink("loop", sandbox.root.join("loop")).unwrap();
    let fs = sandbox.fs();
    for path in ["../outside/secret", "file", "dir/secret", "dir", "/etc/passwd", "dir/../../outside/secret", "dir/new"]
    {
        let error = fs.resolve(path, None).await.unwrap_err();
        let message = format!("cannot resolve \"{path}\": outside the work folder");
        assert_eq!((error.code(), error.to_string()), ("FS_OUTSIDE_ROOT", message));
    }
    let error = fs.stat(&fs.resolve("loop", None).await.unwrap()).await.unwrap_err();
    let message = "cannot read \"loop\": too many levels of symbolic links";
    assert_eq!((error.code(), &error.to_string()[..]), ("FS_IO_ERROR", message));
    // An absolute spelling of the folder is the folder.
    sandbox.put("in", "side");
    let target = fs.resolve(sandbox.root.join("in").to_str().unwrap(), None).await.unwrap();
    assert_eq!((target.key(), target.display()), ("in", "in"));
    // Keys that nobody resolved.
    sandbox.requests();
    for key in ["../outside/secret", "/etc/passwd", "a//b", "./in", "a\0"] {
        let error = fs.stat(&Target::new(key, "shown")).await.unwrap_err();
        assert_eq!(error.code(), "FS_OUTSIDE_ROOT", "{key:?}");
    }
    assert_eq!(sandbox.requests(), [""; 0]);
    let listed = fs.list_dir(&fs.resolve(".", None).await.unwrap()).await.unwrap();
    let told: Vec<_> = listed.iter().map(|entry| (&*entry.name, entry.info.is_some())).collect();
    assert_eq!(told, [("dir", false), ("file", false), ("in", true), ("loop", false)]);
}

#[tokio::test]
async fn a_link_that_came_up_is_followed_again_and_only_within() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "old");
    sandbox.put("b", "new");
    let fs = sandbox.fs();
    let target = fs.resolve("a", None).await.unwrap();
    std::fs::remove_file(sandbox.root.join("a")).unwrap();
    symlink("b", sandbox.root.join("a")).unwrap();
    assert_eq!(fs.read_bytes(&target, 10, &Cancel::new()).await.unwrap(), b"new");
    std::fs::remove_file(sandbox.root.join("a")).unwrap();
    symlink("/etc/passwd", sandbox.root.join("a")).unwrap();
    assert_eq!(fs.stat(&target).await.unwrap_err().code(), "FS_OUTSIDE_ROOT");
    assert_eq!(fs.lstat(&target).await.unwrap().kind, FileKind::Other);
}

#[tokio::test]
async fn odd_names_arrive_as_they_are() {
    let sandbox = Sandbox::start().await;
    let fs = sandbox.fs();
    for name in ["a b+c%20&path=x#y?.txt", "-n", "ünï😀", "new\nline", "quote\"'$(id)`", "~"] {
        sandbox.put(name, name);
        let target = fs.resolve(name, None).await.unwrap();
        assert_eq!(fs.read_bytes(&target, 100, &Cancel::new()).await.unwrap(), name.as_bytes(), "{name:?}");
        let intent = attache_workdir_fs::WriteIntent::Unconditional;
        fs.write_text(&target, "changed", &intent).await.unwrap();
        assert_eq!(sandbox.get(name), "changed");
        std::fs::remove_file(sandbox.root.join(name)).unwrap();
        fs.write_text(&target, "created", &attache_workdir_fs::WriteIntent::CreateIfAbsent).await.unwrap();
        assert_eq!(sandbox.get(name), "created");
    }
    assert_eq!(sandbox.names().len(), 6);
}
