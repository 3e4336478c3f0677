//! How fast and how lean a large log opens, next to a mere reading of the file.

mod support;

use std::fs;
use std::path::Path;

use support::corpus::{Corpus, runtime, view};
use support::machine::read_through;
use support::measure::{Caches, race, timed};
use support::plain::Plain;
use support::report::{Table, at_most, below_megabytes, heading, megabytes, millis};
use support::{child, machine, quick, size};

fn main() {
    match child::arguments().as_deref() {
        None => bench(),
        Some([what, dir]) if what == "peak" => print_peak(Path::new(dir)),
        Some([what, dir]) if what == "one-core" => on_one_core(Path::new(dir)),
        Some(other) => panic!("no such child: {other:?}"),
    }
}

fn bench() {
    machine::print_limits();
    heading("open: how the cost grows");
    growth();
    heading("open: a log of 1 GB");
    let dir = tempfile::tempdir().expect("a temporary directory");
    // 520 000 messages of about 1.93 kB, every tenth with an image, every eighth not in ASCII.
    corpus(size(520_000, 2_000)).write(&runtime(), dir.path());
    race_in(dir.path());
    let path = dir.path().to_str().expect("temporary paths are text");
    let [peak, messages] = child::numbers(&["peak", path])[..] else { panic!("the child prints two numbers") };
    below_megabytes("peak memory of a whole process that opens it", peak, 200);
    println!("- messages found: {messages}");
    child::printing(&["one-core", path]);
}

fn on_one_core(dir: &Path) {
    child::keep_one_core();
    heading("open: the same on one core");
    race_in(dir);
}

fn corpus(messages: usize) -> Corpus {
    Corpus { messages, images: messages / 10, stored: 0, image_len: 1_000_000 }
}

fn race_in(dir: &Path) {
    let (runtime, log) = (runtime(), dir.join("conversation.jsonl"));
    let [open, read, whole] = race(
        size(15, 1),
        Caches::Warm,
        [
            &mut || timed(|| view(&runtime, dir)),
            &mut || timed(|| read_through(&log).expect("the log can be read")),
            &mut || timed(|| fs::read(&log).expect("the log can be read")),
        ],
    );
    let len = fs::metadata(&log).expect("there is a log").len();
    let mut table = Table::new(["what", "median", "GB/s", "of reading through one buffer"]);
    for (what, times) in
        [("open", &open), ("read through one buffer of 1 MiB", &read), ("read into memory as a whole", &whole)]
    {
        let speed = times.gigabytes_a_second(usize::try_from(len).expect("a log of this bench fits"));
        table.row([what.to_owned(), millis(times.median()), format!("{speed:.2}"), times.over(&read).to_string()]);
    }
    println!("The log has {}; it is in the page cache.\n", megabytes(len));
    table.print();
    at_most("open over reading through one buffer", open.over(&read), 6.0);
    at_most("open over reading as a whole", open.over(&whole), 6.0);
}

fn print_peak(dir: &Path) {
    let view = view(&runtime(), dir);
    println!("{} {}", child::peak_memory(), view.len());
}

fn growth() {
    let mut table = Table::new(["messages", "log", "open", "read", "plain", "open / read", "plain / open"]);
    for messages in [100, 1_000, 10_000, 100_000].into_iter().filter(|&messages| !quick() || messages <= 1_000) {
        let (runtime, dir) = (runtime(), tempfile::tempdir().expect("a temporary directory"));
        corpus(messages).write(&runtime, dir.path());
        let log = dir.path().join("conversation.jsonl");
        let [open, read, plain] = race(
            if messages > 10_000 { 9 } else { size(21, 1) },
            Caches::Warm,
            [
                &mut || timed(|| view(&runtime, dir.path())),
                &mut || timed(|| read_through(&log).expect("the log can be read")),
                &mut || timed(|| Plain::open(dir.path()).expect("the log is whole")),
            ],
        );
        table.row([
            messages.to_string(),
            megabytes(fs::metadata(&log).expect("there is a log").len()),
            millis(open.median()),
            millis(read.median()),
            millis(plain.median()),
            open.over(&read).to_string(),
            plain.over(&open).to_string(),
        ]);
    }
    table.print();
}
