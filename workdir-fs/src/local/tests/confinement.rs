//! An attacker swaps names for links to a canary while we write and edit. Nothing outside may change, and a writer that
//! checks and then opens must be led there, or the attack proved nothing.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

use futures_util::FutureExt as _;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;

const CANARY: &str = "CANARY one";

/// How many changes each scene tries.
const CHANGES: u32 = 4_000;

/// Changes past that number, up to this one, wait until both sides of the swap were met.
const MAX_CHANGES: u32 = 1_000_000;

/// Runs `meanwhile` over and over in another thread for as long as `test` runs.
fn while_running(mut meanwhile: impl FnMut() + Send, test: impl FnOnce()) {
    struct StopOnDrop<'a>(&'a AtomicBool);
    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(Relaxed) {
                meanwhile();
            }
        });
        let _stop = StopOnDrop(stop);
        test();
    });
}

/// The canary's folder: one file, and nothing else ever.
fn canary(tree: &Tree) -> PathBuf {
    let canary = tree.outside.join("canary");
    fs::create_dir_all(canary.join("deep")).unwrap();
    fs::write(canary.join("x.txt"), CANARY).unwrap();
    fs::write(canary.join("deep/x.txt"), CANARY).unwrap();
    canary
}

fn is_unharmed(canary: &Path) -> bool {
    let names = |dir: &Path| fs::read_dir(dir).unwrap().count();
    let holds = |name: &str| fs::read_to_string(canary.join(name)).is_ok_and(|content| content == CANARY);
    names(canary) == 2 && names(&canary.join("deep")) == 1 && holds("x.txt") && holds("deep/x.txt")
}

/// One change of each kind, in turn: of the file that is there on both sides, of new ones, and in new folders.
fn change(fs: &LocalFs, folder: &str, number: u32) -> Result<(), FileError> {
    let path = |name: &str| format!("{folder}/{name}");
    let work = async {
        match number % 5 {
            0 => write(fs, &path("x.txt"), "inside one", &WriteIntent::Unconditional).await,
            1 => edit(fs, &path("x.txt"), "one", "two").await,
            2 => write(fs, &path(&format!("new{number}")), "x", &WriteIntent::CreateIfAbsent).await,
            3 => write(fs, &path(&format!("d{number}/e/new")), "x", &WriteIntent::Unconditional).await,
            // Resolved while all was well.
            _ => {
                fs.write_text(&Target::new(path("x.txt"), path("x.txt")), "inside one", &WriteIntent::Unconditional)
                    .await
            }
        }
    };
    work.now_or_never().expect("it blocks in place outside a runtime").map(drop)
}

/// What everybody writes first: resolve, compare, write.
fn careless_write(root: &Path, asked: &str) {
    let path = root.join(asked);
    if path.canonicalize().is_ok_and(|resolved| resolved.starts_with(root)) {
        let _ = fs::write(path, "careless");
    }
}

/// `swap` is exchanged, in one call, with a link to the canary.
fn play(top: &str, folder: &str, walk: Walk) {
    let tree = Tree::new();
    let canary = canary(&tree);
    tree.put(&format!("{folder}/x.txt"), "inside one");
    tree.link("decoy", &canary);
    let (name, decoy) = (tree.root.join(top), tree.root.join("decoy"));
    let fs = tree.walked_by(walk);
    let swap = || renameat_with(CWD, &name, CWD, &decoy, RenameFlags::EXCHANGE).unwrap();
    while_running(swap, || {
        let (mut done, mut refused) = (0_u32, 0_u32);
        for number in 0..MAX_CHANGES {
            match change(&fs, folder, number) {
                Ok(()) => done += 1,
                Err(error) => {
                    // An edit finds what the edit before it left; a name that is swapped between two looks is gone.
                    let code = error.code();
                    let known =
                        ["FS_OUTSIDE_ROOT", "FS_STALE_VERSION", "FS_EDIT_NOT_FOUND", "FS_NOT_FOUND", "FS_IO_ERROR"];
                    assert!(known.contains(&code), "{code}: {error}");
                    refused += u32::from(code == "FS_OUTSIDE_ROOT");
                }
            }
            if number % 100 == 0 {
                assert!(is_unharmed(&canary), "escaped by change {number} with {walk:?}");
            }
            if number >= CHANGES && done > 0 && refused > 0 {
                break;
            }
        }
        assert!(is_unharmed(&canary), "escaped with {walk:?}");
        assert!(done > 0 && refused > 0, "no race: {done} done, {refused} refused");
        let asked = format!("{folder}/x.txt");
        let led_astray = (0..5_000_000).any(|_| {
            careless_write(&tree.root, &asked);
            !is_unharmed(&canary)
        });
        assert!(led_astray, "the attack is too weak to prove anything");
    });
}

#[test]
fn a_parent_directory_is_swapped() {
    play("swap", "swap", Walk::Auto);
    play("swap", "swap", Walk::Handles);
}

#[test]
fn a_directory_further_up_is_swapped() {
    play("swap", "swap/deep", Walk::Auto);
    play("swap", "swap/deep", Walk::Handles);
}

#[test]
fn the_file_itself_is_swapped() {
    let tree = Tree::new();
    let canary = canary(&tree);
    tree.put("top/x.txt", "inside one");
    let name = tree.root.join("top/x.txt");
    let fs = tree.fs();
    let mut side = false;
    let swap = || {
        // Each time anew: a change may have replaced the link by a file.
        let temp = tree.outside.join("next");
        if side {
            fs::write(&temp, "inside one").unwrap();
        } else {
            symlink(canary.join("x.txt"), &temp).unwrap();
        }
        fs::rename(&temp, &name).unwrap();
        side = !side;
    };
    while_running(swap, || {
        let (mut done, mut refused) = (0_u32, 0_u32);
        for number in 0..MAX_CHANGES {
            match change(&fs, "top", [0, 1, 4][number as usize % 3]) {
                Ok(()) => done += 1,
                Err(error) => {
                    let code = error.code();
                    let known = [
                        "FS_OUTSIDE_ROOT",
                        "FS_NOT_REGULAR_FILE",
                        "FS_STALE_VERSION",
                        "FS_EDIT_NOT_FOUND",
                        "FS_IO_ERROR",
                    ];
                    assert!(known.contains(&code), "{code}: {error}");
                    refused += u32::from(code == "FS_OUTSIDE_ROOT");
                }
            }
            assert!(is_unharmed(&canary), "escaped by change {number}");
            if number >= CHANGES && done > 0 && refused > 0 {
                break;
            }
        }
        assert!(done > 0 && refused > 0, "no race: {done} done, {refused} refused");
        let led_astray = (0..5_000_000).any(|_| {
            careless_write(&tree.root, "top/x.txt");
            !is_unharmed(&canary)
        });
        assert!(led_astray, "the attack is too weak to prove anything");
    });
}
