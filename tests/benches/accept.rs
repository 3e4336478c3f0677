//! How fast the images that a tool names are checked and stored, next to the plain implementation.

mod support;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use attache_blobstore::Durability;
use attache_media::fixtures;
use attache_runtime::{Attachment, Conversation, Limits, OpenOptions, Settings, Turn, WorkDir, tool_message};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use support::corpus::runtime;
use support::measure::{Caches, Ratio, Times, race, timed};
use support::plain::Plain;
use support::report::{Table, at_least, heading, megabytes, millis};
use support::{child, machine, quick, size};

const IMAGES: usize = 40;

fn main() {
    match child::arguments().as_deref() {
        None => bench(),
        Some([what]) if what == "one-core" => on_one_core(),
        Some(other) => panic!("no such child: {other:?}"),
    }
}

fn bench() {
    machine::print_limits();
    heading("accept: 40 images in one call");
    let folders = folders();
    for (ratio, what) in race_all(&folders) {
        at_least(&format!("plain over accept, {what}"), ratio, 3.0);
    }
    // Before the folders are deleted: some file systems are slow to make files for a while after many went.
    child::printing(&["one-core"]);
}

fn on_one_core() {
    child::keep_one_core();
    heading("accept: the same on one core");
    for (ratio, what) in race_all(&folders()) {
        at_least(&format!("plain over accept, {what}"), ratio, 1.8);
    }
}

fn folders() -> [Folder; 2] {
    let lens = if quick() { [10_000, 40_000] } else { [1_000_000, 4_000_000] };
    lens.map(Folder::of_images)
}

/// Races in each folder; gives back the plain time over ours, and for which images.
fn race_all(folders: &[Folder]) -> Vec<(Ratio, String)> {
    let mut table =
        Table::new(["images", "accept", "again", "plain", "plain again", "plain / accept", "plain / accept again"]);
    let mut ratios = Vec::new();
    for folder in folders {
        let raced = folder.race(size(21, 1));
        let what = format!("{IMAGES} of {}", megabytes(folder.max_bytes));
        ratios.push((raced.plain_over_ours, what.clone()));
        table.row([
            what,
            millis(raced.ours),
            millis(raced.ours_again),
            millis(raced.plain),
            millis(raced.plain_again),
            raced.plain_over_ours.to_string(),
            raced.again_over_ours.to_string(),
        ]);
    }
    table.print();
    ratios
}

struct Raced {
    ours: Duration,
    ours_again: Duration,
    plain: Duration,
    plain_again: Duration,
    plain_over_ours: Ratio,
    again_over_ours: Ratio,
}

/// A work folder with images in it, which are other ones in every round.
struct Folder {
    runtime: Runtime,
    work: WorkDir,
    settings: Settings,
    attachments: Vec<Attachment>,
    paths: Vec<PathBuf>,
    max_bytes: u64,
    dir: TempDir,
}

impl Folder {
    fn of_images(len: usize) -> Self {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let names: Vec<_> = (0..IMAGES).map(|at| format!("screenshot-{at}.png")).collect();
        for (at, name) in names.iter().enumerate() {
            fs::write(dir.path().join(name), fixtures::png_of_len(len, at as u64)).expect("an image is written");
        }
        let max_bytes = len as u64;
        let limits = Limits::builder().max_per_turn(IMAGES as u64).max_bytes(max_bytes).build();
        Self {
            work: WorkDir::open(dir.path()).expect("the work folder opens"),
            settings: Settings::default().with_limits(limits.expect("limits in range")),
            attachments: names.iter().map(|name| Attachment::new(name, "image/png")).collect(),
            paths: names.iter().map(|name| dir.path().join(name)).collect(),
            runtime: runtime(),
            max_bytes,
            dir,
        }
    }

    /// Every turn accepts new images, and then the same ones again, which are stored by then.
    fn race(&self, rounds: usize) -> Raced {
        let [mine, its] = ["attache", "plain"].map(|name| self.dir.path().join(name));
        let options = OpenOptions::default().with_durability(Durability::Os);
        let conversation = self.runtime.block_on(Conversation::open(&mine, options));
        let mut conversation = conversation.expect("a new conversation opens");
        let mut plain = Plain::new(&its).expect("a folder for blobs");
        let (mut again, mut plain_again) = (Vec::new(), Vec::new());
        let (mut my_blobs, mut its_blobs) = (Vec::new(), Vec::new());
        let [ours, theirs] = race(
            rounds,
            Caches::Warm,
            [
                &mut || {
                    self.change_images(my_blobs.len());
                    let took = timed(|| self.accept(&mut conversation));
                    again.push(timed(|| self.accept(&mut conversation)));
                    my_blobs.push(empty_blobs(&mine));
                    took
                },
                &mut || {
                    self.change_images(its_blobs.len());
                    let took = timed(|| plain.accept(&self.paths, self.max_bytes).expect("all are accepted"));
                    plain_again.push(timed(|| plain.accept(&self.paths, self.max_bytes).expect("all are accepted")));
                    its_blobs.push(empty_blobs(&its));
                    took
                },
            ],
        );
        assert_eq!(my_blobs, its_blobs, "the two store other blobs");
        let (again, plain_again) = (Times::of(again), Times::of(plain_again));
        Raced {
            ours: ours.median(),
            ours_again: again.median(),
            plain: theirs.median(),
            plain_again: plain_again.median(),
            plain_over_ours: theirs.over(&ours),
            again_over_ours: plain_again.over(&again),
        }
    }

    fn accept(&self, conversation: &mut Conversation) {
        let mut turn = Turn::new(&self.settings);
        self.runtime.block_on(async {
            let accepted = turn.accept(&self.work, conversation.store().as_ref(), &self.attachments).await;
            assert_eq!(accepted.blocks.len(), IMAGES, "{:?}", accepted.notes);
            let message = tool_message("call", "screenshot", "done", &accepted, &self.settings);
            conversation.append(&message).await.expect("the message is appended");
        });
    }

    /// Makes every image another one, by a few bytes that no decoder looks at.
    fn change_images(&self, round: usize) {
        for path in &self.paths {
            let file = File::options().write(true).open(path).expect("an image opens");
            file.write_all_at(&round.to_le_bytes(), self.max_bytes / 2).expect("an image is written");
        }
    }
}

/// Empties the blobs in a context directory that are not empty yet, and gives back their names.
fn empty_blobs(context: &Path) -> Vec<String> {
    let entries = fs::read_dir(context.join("blobs")).expect("there are blobs");
    let mut names = Vec::new();
    for entry in entries.map(|entry| entry.expect("an entry")) {
        if entry.metadata().expect("a blob").len() > 0 {
            File::create(entry.path()).expect("a blob is emptied");
            names.push(entry.file_name().into_string().expect("a name of hex digits"));
        }
    }
    names.sort();
    names
}
