//! Paths that want out, against all four tools.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use attache_tests::pictures;
use rustix::fs::{CWD, FileType, RenameFlags, mknodat, renameat_with};
use serde_json::{Value, json};

use crate::client::{Client, Place};

const CANARY: &str = "THE CANARY SINGS";

/// Calls every tool on the path.
fn all_tools(client: &mut Client, path: &str) -> Vec<Value> {
    [
        ("read", json!({"file_path": path})),
        ("read_image", json!({"file_path": path})),
        ("write", json!({"file_path": path, "content": "overwritten"})),
        ("edit", json!({"file_path": path, "old_string": CANARY, "new_string": "overwritten"})),
    ]
    .map(|(tool, arguments)| client.call(tool, arguments))
    .into()
}

/// A text file and an image outside, which nobody may read or change.
fn canaries(place: &Place) -> [Vec<u8>; 2] {
    std::fs::create_dir(place.path("outside")).unwrap();
    let image = pictures::png(9, 9, 77);
    std::fs::write(place.path("outside/c.txt"), CANARY).unwrap();
    std::fs::write(place.path("outside/c.png"), &image).unwrap();
    [CANARY.into(), image]
}

fn check(place: &Place, canaries: &[Vec<u8>; 2]) {
    assert_eq!(std::fs::read(place.path("outside/c.txt")).unwrap(), canaries[0]);
    assert_eq!(std::fs::read(place.path("outside/c.png")).unwrap(), canaries[1]);
    assert_eq!(std::fs::read_dir(place.path("outside")).unwrap().count(), 2);
}

#[test]
fn every_path_that_leads_out_or_to_no_file_gets_a_code_and_nothing_else() {
    let place = Place::new();
    let canaries = canaries(&place);
    for (name, target) in [
        ("link.txt", "../outside/c.txt"),
        ("link.png", "../outside/c.png"),
        ("dir", "../outside"),
        ("loop.png", "loop.png"),
        ("zero.png", "/dev/zero"),
        ("new.png", "../outside/new.png"),
    ] {
        symlink(target, place.work(name)).unwrap();
    }
    mknodat(CWD, place.work("pipe.png"), FileType::Fifo, 0o644.into(), 0).unwrap();
    std::fs::create_dir(place.work("folder.png")).unwrap();
    std::fs::write(place.work("").join(std::ffi::OsStr::from_bytes(b"caf\xe9.png")), canaries[1].clone()).unwrap();
    let outside = place.path("outside").to_str().unwrap().to_owned();
    let long = format!("{}.png", "a".repeat(5_000));
    let deep = format!("{}../outside/c.png", "a/../".repeat(2_000));
    let mut client = place.serve(&[]);
    for path in [
        "../outside/c.txt",
        "../outside/c.png",
        "../outside/new.png",
        "dir/c.txt",
        "dir/c.png",
        "dir/new.png",
        "link.txt",
        "link.png",
        "new.png",
        "dir/../../outside/c.png",
        "folder.png/../../outside/c.png",
        "loop.png",
        "zero.png",
        "pipe.png",
        "folder.png",
        "..",
        ".",
        "/",
        "",
        &format!("{outside}/c.txt"),
        &format!("{outside}/c.png"),
        "/dev/zero",
        "/proc/self/mem",
        "nul\0byte.png",
        "\0",
        &long,
        &deep,
    ] {
        for result in all_tools(&mut client, path) {
            assert_eq!(result["isError"], true, "{path:?}: {result}");
            let code = result["structuredContent"]["error"]["code"].as_str().unwrap();
            assert!(!code.is_empty(), "{path:?}: {result}");
            assert!(!result.to_string().contains(CANARY), "{path:?}: {result}");
        }
        check(&place, &canaries);
    }
    // No text names a file whose name is none.
    for result in all_tools(&mut client, "caf\u{fffd}.png").into_iter().take(2) {
        assert_eq!(result["structuredContent"]["error"]["code"], "FS_NOT_FOUND");
    }
    assert_eq!(client.leave(), Some(0));
}

/// A parent is a folder at one moment and a link out at the next.
#[test]
fn a_parent_that_is_swapped_leads_nowhere_else() {
    let place = Place::new();
    let canaries = canaries(&place);
    std::fs::create_dir(place.work("sub")).unwrap();
    std::fs::write(place.work("sub/c.txt"), "a plain text").unwrap();
    std::fs::write(place.work("sub/c.png"), pictures::png(2, 2, 1)).unwrap();
    symlink("../outside", place.work("other")).unwrap();
    let (sub, other) = (place.work("sub"), place.work("other"));
    let stop = AtomicBool::new(false);
    let mut inside = 0;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &sub, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut client = place.serve(&[]);
        let end = Instant::now() + Duration::from_secs(3);
        while Instant::now() < end {
            let results = [all_tools(&mut client, "sub/c.txt"), all_tools(&mut client, "sub/c.png")].concat();
            for result in results {
                assert!(!result.to_string().contains(CANARY), "{result}");
                assert_ne!(result["structuredContent"]["image"]["width"], 9, "{result}");
                inside += usize::from(result["isError"] == false);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    check(&place, &canaries);
    assert!(inside > 0, "the folder was never met");
}
