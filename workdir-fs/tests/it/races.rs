//! An attacker swaps names for links to a canary while we read. The canary must never appear, and a reader that checks
//! and then opens must meet it, or the attack proved nothing.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::fixture::{CANARY, Tree, on_each_walk, read, while_running};

const INSIDE: &[u8] = b"inside";

/// How many reads each walk does in each scene.
const READS: u32 = 20_000;

/// Reads past that number, up to this one, wait until both sides of the swap were met.
const MAX_READS: u32 = 5_000_000;

/// The attacker swaps `name` and `decoy`, both in the work folder, while `asked` is read.
struct Scene {
    name: &'static str,
    decoy: &'static str,
    asked: &'static str,
}

#[test]
fn a_parent_directory_is_swapped() {
    play(&Scene { name: "swap", decoy: "decoy", asked: "swap/x.png" });
}

#[test]
fn a_middle_directory_is_swapped() {
    play(&Scene { name: "top/swap", decoy: "decoy", asked: "top/swap/deep/x.png" });
}

#[test]
fn the_first_of_several_directories_is_swapped() {
    play(&Scene { name: "swap", decoy: "top/decoy", asked: "swap/deep/x.png" });
}

#[test]
fn the_file_itself_is_swapped() {
    play(&Scene { name: "top/x.png", decoy: "top/decoy", asked: "top/x.png" });
}

#[test]
fn a_directory_is_swapped_while_it_is_searched_for_a_similar_name() {
    // Kept under a name with another space, so that every read has to search.
    play(&Scene { name: "swap", decoy: "decoy", asked: "swap/Shot 1.png" });
}

fn play(scene: &Scene) {
    let tree = build(scene);
    let (name, decoy) = (tree.root.join(scene.name), tree.root.join(scene.decoy));
    // One call, so that there is no moment at which either name is missing.
    let swap = || renameat_with(CWD, &name, CWD, &decoy, RenameFlags::EXCHANGE).unwrap();
    while_running(swap, || {
        on_each_walk(&tree.root, |work| {
            let (mut inside, mut refused) = (0_u32, 0_u32);
            for reads in 0..MAX_READS {
                match read(work, scene.asked, 1000) {
                    Ok((_, bytes)) => {
                        assert_ne!(bytes, CANARY, "escaped on read {reads} with {work:?}");
                        assert_eq!(bytes, INSIDE);
                        inside += 1;
                    }
                    Err(error) => {
                        // The file itself changes its times with every swap, and may be given up for that.
                        assert!(matches!(error.code(), "symlink_refused" | "not_found" | "io_error"), "{error}");
                        refused += u32::from(error.code() == "symlink_refused");
                    }
                }
                if reads >= READS && inside > 0 && refused > 0 {
                    break;
                }
            }
            assert!(inside > 0 && refused > 0, "no race: {inside} read, {refused} refused");
        });
        assert!(
            (0..MAX_READS).any(|_| careless_read(&tree.root, scene.asked)),
            "the attack is too weak to prove anything"
        );
    });
}

/// The two sides of the swap: files under `name`, and a link to the canary's as `decoy`.
fn build(scene: &Scene) -> Tree {
    let tree = Tree::new();
    fs::create_dir_all(tree.root.join("top")).unwrap();
    let canary = tree.outside.join("canary");
    let file = scene.asked.strip_prefix(scene.name).unwrap().trim_start_matches('/');
    for side in [tree.root.join(scene.name), canary.clone()] {
        let bytes = if side == canary { CANARY } else { INSIDE };
        let path = side.join(file.replace(' ', "\u{202f}"));
        let path = if file.is_empty() { side } else { path };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    tree.link(scene.decoy, &canary);
    tree
}

/// What everybody writes first: resolve, compare, open. Tells whether it came back with the canary.
fn careless_read(root: &Path, asked: &str) -> bool {
    let path = root.join(asked.replace(' ', "\u{202f}"));
    let Ok(resolved) = path.canonicalize() else { return false };
    if !resolved.starts_with(root) {
        return false;
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|mut file| file.read_to_end(&mut bytes)).is_ok() && bytes == CANARY
}
