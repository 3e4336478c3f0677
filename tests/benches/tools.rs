//! How fast the file tools are, next to the plain way with `std`.

mod support;

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use attache_media::fixtures;
use attache_runtime::workdir_fs::LocalFs;
use attache_runtime::{
    CallContext, Cancel, Durability, FileSession, FileToolOptions, FileTools, LocalStore, Modality, ModelInfo, ToolSet,
    WorkDir,
};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;

use support::corpus::runtime;
use support::measure::{Caches, race, timed};
use support::report::{Table, at_least, at_most, heading, megabytes, millis};
use support::{machine, quick, size};

fn main() {
    machine::print_limits();
    let place = tempfile::tempdir().expect("a temporary directory");
    let bench = Bench::new(place.path());
    heading("tools: read lines 1 to 2000 of 100 MB");
    bench.read();
    heading("tools: edit one line of 50 MB");
    bench.edit();
    heading("tools: read_image of 3 MB");
    bench.read_image();
}

struct Bench<'a> {
    dir: &'a Path,
    runtime: Runtime,
    // The tools live as long as their set.
    _set: ToolSet,
    tools: FileTools,
    session: FileSession,
    cancel: Cancel,
}

impl<'a> Bench<'a> {
    fn new(dir: &'a Path) -> Self {
        let work = WorkDir::open(dir).expect("the work folder opens");
        let model = ModelInfo { id: "bench".to_owned(), input_modalities: Some(vec![Modality::Text, Modality::Image]) };
        let set = ToolSet::new(Arc::new(LocalFs::new(work)), FileToolOptions::default().with_model(model));
        let store = LocalStore::builder(dir.join(".blobs")).durability(Durability::Os).build();
        set.mount(Arc::new(store));
        Self {
            dir,
            runtime: runtime(),
            tools: set.tools(),
            _set: set,
            session: FileSession::new(),
            cancel: Cancel::new(),
        }
    }

    fn call(&self, tool: &str, arguments: &Value) -> String {
        let context = CallContext::new(&self.session, &self.cancel);
        let output = self.runtime.block_on(self.tools.call(tool, arguments, context));
        assert_ne!(output.is_error, Some(true), "{}", output.text);
        output.text
    }

    /// Code, more or less: lines of some 40 characters.
    fn write_text(&self, name: &str, bytes: usize) {
        let mut text = String::with_capacity(bytes + 64);
        for n in 0.. {
            if text.len() >= bytes {
                break;
            }
            text.push_str(&format!("    let value_{n} = compute(&input[{n}]);\n"));
        }
        fs::write(self.dir.join(name), text).expect("a file is written");
    }

    fn read(&self) {
        let bytes = size(100_000_000, 200_000);
        self.write_text("long.txt", bytes);
        let path = self.dir.join("long.txt");
        let arguments = json!({"file_path": "long.txt", "offset": 1, "limit": 2000});
        let [ours, plain, count] = race(
            size(15, 1),
            Caches::Warm,
            [&mut || timed(|| self.call("read", &arguments)), &mut || timed(|| plain_read(&path)), &mut || {
                timed(|| count_newlines(&path))
            }],
        );
        let mut table = Table::new(["what", "median", "GB/s"]);
        for (what, times) in [
            ("read", &ours),
            ("plain: BufReader::lines, the first 2000 shown, all counted", &plain),
            ("memchr over the file through one buffer", &count),
        ] {
            table.row([what.to_owned(), millis(times.median()), format!("{:.2}", times.gigabytes_a_second(bytes))]);
        }
        table.print();
        at_most("read over counting newlines with memchr", ours.over(&count), 2.0);
        at_least("plain over read", plain.over(&ours), 1.0);
    }

    fn edit(&self) {
        let bytes = size(50_000_000, 200_000);
        self.write_text("ours.txt", bytes);
        self.write_text("plain.txt", bytes);
        let plain = self.dir.join("plain.txt");
        let needle = format!("value_{} ", size(600_000, 2_000));
        self.call("read", &json!({"file_path": "ours.txt", "limit": 1}));
        let (mut turn, mut plain_turn) = (0, 0);
        let names = |turn: usize| match turn % 2 {
            0 => (needle.clone(), format!("{needle}other ")),
            _ => (format!("{needle}other "), needle.clone()),
        };
        let [ours, plain] = race(
            size(9, 1),
            Caches::Warm,
            [
                &mut || {
                    let (old, new) = names(turn);
                    turn += 1;
                    let arguments = json!({"file_path": "ours.txt", "old_string": old, "new_string": new});
                    timed(|| self.call("edit", &arguments))
                },
                &mut || {
                    let (old, new) = names(plain_turn);
                    plain_turn += 1;
                    timed(|| plain_edit(&plain, &old, &new))
                },
            ],
        );
        let mut table = Table::new(["what", "median", "of plain"]);
        table.row(["edit".to_owned(), millis(ours.median()), ours.over(&plain).to_string()]);
        table.row([
            "plain: read, match once, replace, write, sync, rename".to_owned(),
            millis(plain.median()),
            "1".to_owned(),
        ]);
        table.print();
        println!(
            "Ours also checks the version, keeps each line's ending, and makes the difference of the two texts.\n"
        );
    }

    fn read_image(&self) {
        let bytes = if quick() { 30_000 } else { 3_000_000 };
        let image = fixtures::png_of_len(bytes, 7);
        fs::write(self.dir.join("image.png"), &image).expect("an image is written");
        let path = self.dir.join("image.png");
        let arguments = json!({"file_path": "image.png"});
        let [ours, plain] = race(
            size(31, 1),
            Caches::Warm,
            [&mut || timed(|| self.call("read_image", &arguments)), &mut || timed(|| plain_image(&path))],
        );
        let mut table = Table::new(["what", "median", "of plain"]);
        let what = format!("read_image of {}, which is stored already", megabytes(bytes as u64));
        table.row([what, millis(ours.median()), ours.over(&plain).to_string()]);
        table.row(["plain: read, hash, base64".to_owned(), millis(plain.median()), "1".to_owned()]);
        table.print();
        at_most("read_image over plain", ours.over(&plain), 1.0);
    }
}

/// The first 2000 lines with their numbers, and how many there are.
fn plain_read(path: &Path) -> (String, usize) {
    let mut shown = String::new();
    let mut total = 0;
    for line in BufReader::new(File::open(path).expect("the file opens")).lines() {
        let line = line.expect("the file is text");
        total += 1;
        if total <= 2000 && shown.len() < 51_200 {
            shown.push_str(&format!("{total}: {line}\n"));
        }
    }
    (shown, total)
}

fn count_newlines(path: &Path) -> usize {
    let mut file = File::open(path).expect("the file opens");
    let mut buffer = vec![0; 64 << 10];
    let mut count = 0;
    loop {
        match file.read(&mut buffer).expect("the file can be read") {
            0 => return black_box(count),
            read => count += memchr::memchr_iter(b'\n', &buffer[..read]).count(),
        }
    }
}

fn plain_edit(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).expect("the file is text");
    assert_eq!(text.matches(old).count(), 1);
    let text = text.replacen(old, new, 1);
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, text).expect("the file is written");
    File::open(&temporary).and_then(|file| file.sync_all()).expect("the file is flushed");
    fs::rename(&temporary, path).expect("the file is published");
}

fn plain_image(path: &Path) -> (Vec<u8>, String) {
    let bytes = fs::read(path).expect("the image can be read");
    (Sha256::digest(&bytes).to_vec(), BASE64_STANDARD.encode(&bytes))
}
