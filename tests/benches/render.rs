//! How fast and how lean a request body is made, next to the plain implementation and to a mere copy of it.

mod support;

use std::fs;
use std::hint::black_box;
use std::path::Path;

use attache_conversation::{Conversation, Frame, RenderOptions, View};
use tokio::runtime::Runtime;

use support::corpus::{Corpus, one_more, options, runtime, view};
use support::measure::{Caches, Times, race, timed};
use support::plain::Plain;
use support::report::{Table, at_least, at_most, below_megabytes, heading, megabytes, millis};
use support::{child, machine, quick, size};

const KEEP: usize = 5;
const IMAGE_LEN: usize = 1_000_000;

fn main() {
    match child::arguments().as_deref() {
        None => bench(),
        Some([what, dir]) if what == "peak" => print_peak(Path::new(dir)),
        Some([what, dir]) if what == "plain-peak" => print_plain_peak(Path::new(dir)),
        Some([what, cores]) if what == "large" => limited(cores, large_body),
        Some([what]) if what == "small-behind-large" => {
            large_body("all cores, before the small one in this process");
            small_body("all cores, behind the large one in this process");
        }
        Some([what, cores]) if what == "small" => limited(cores, small_body),
        Some(other) => panic!("no such child: {other:?}"),
    }
}

fn bench() {
    machine::print_limits();
    // Each in a process of its own: how much memory an allocator has at hand depends on what a process did before.
    for cores in [Cores::All, Cores::One] {
        child::printing(&["large", cores.name()]);
        child::printing(&["small", cores.name()]);
    }
    child::printing(&["small-behind-large"]);
    heading("render: how the cost grows");
    growth();
}

/// The cores that a child may use.
#[derive(Clone, Copy)]
enum Cores {
    All,
    One,
}

impl Cores {
    fn name(self) -> &'static str {
        match self {
            Self::All => "all-cores",
            Self::One => "one-core",
        }
    }
}

/// Runs a part of the bench on the cores that the parent named.
fn limited(cores: &str, part: impl FnOnce(&str)) {
    if cores == Cores::One.name() {
        child::keep_one_core();
    }
    part(&cores.replace('-', " "));
}

fn large_body(cores: &str) {
    heading(&format!("render: a body of 10 000 messages of 2 kB with 1 000 images, 5 of 1 MB shown, {cores}"));
    targets(size(10_000, 200), size(1_000, 20), 10.0);
}

fn small_body(cores: &str) {
    heading(&format!("render: a body of 100 messages of 2 kB with 5 images of 1 MB, all shown, {cores}"));
    targets(size(100, 20), 5, 15.0);
}

fn corpus(messages: usize, images: usize) -> Corpus {
    Corpus { messages, images, stored: KEEP, image_len: if quick() { 10_000 } else { IMAGE_LEN } }
}

/// What every race is between.
struct Raced {
    first: Times,
    later: Times,
    into_used: Times,
    plain: Times,
    copy: Times,
    copy_into_used: Times,
    body_len: usize,
}

impl Raced {
    fn all(&self) -> [(&str, &Times); 6] {
        [
            ("first body of an opened conversation", &self.first),
            ("later body", &self.later),
            ("later body into a used buffer", &self.into_used),
            ("plain implementation", &self.plain),
            ("copy of the body into a fresh buffer", &self.copy),
            ("copy of the body into a used buffer", &self.copy_into_used),
        ]
    }
}

/// Lets all of them make bodies of the conversation in `dir`. The first body of a conversation hashes the blobs it
/// shows, later ones know them.
fn race_in(runtime: &Runtime, dir: &Path, rounds: usize, caches: Caches) -> Raced {
    let opened = view(runtime, dir);
    let plain = Plain::open(dir).expect("the log is whole");
    let body = render(runtime, &opened);
    assert!(body == plain.render(KEEP).expect("the blobs are whole"), "the plain body is another");
    let mut used = body.clone();
    let mut copied = body.clone();
    let [first, later, into_used, plain, copy, copy_into_used] = race(
        rounds,
        caches,
        [
            &mut || {
                let fresh = view(runtime, dir);
                timed(|| render(runtime, &fresh))
            },
            &mut || timed(|| render(runtime, &opened)),
            &mut || timed(|| render_into(runtime, &opened, &mut used)),
            &mut || timed(|| plain.render(KEEP)),
            &mut || timed(|| body.clone()),
            &mut || timed(|| copied.copy_from_slice(black_box(&body))),
        ],
    );
    Raced { first, later, into_used, plain, copy, copy_into_used, body_len: body.len() }
}

fn render(runtime: &Runtime, view: &View) -> Vec<u8> {
    let mut body = Vec::new();
    render_into(runtime, view, &mut body);
    body
}

fn render_into(runtime: &Runtime, view: &View, body: &mut Vec<u8>) {
    let rendered = view.render_body_into(RenderOptions::newest(KEEP), Frame::default(), body);
    runtime.block_on(rendered).expect("the log can be read");
}

fn targets(messages: usize, images: usize, times_faster: f64) {
    let (runtime, dir) = (runtime(), tempfile::tempdir().expect("a temporary directory"));
    corpus(messages, images).write(&runtime, dir.path());
    let cold = race_in(&runtime, dir.path(), size(31, 1), Caches::Cold);
    let warm = race_in(&runtime, dir.path(), size(31, 1), Caches::Warm);
    println!("The body has {}.\n", megabytes(cold.body_len as u64));
    let mut table = Table::new(["what", "caches cold", "of a copy", "caches warm", "of a copy"]);
    for ((what, cold_times), (_, warm_times)) in cold.all().into_iter().zip(warm.all()) {
        table.row([
            what.to_owned(),
            millis(cold_times.median()),
            cold_times.over(&cold.copy).to_string(),
            millis(warm_times.median()),
            warm_times.over(&warm.copy).to_string(),
        ]);
    }
    table.print();
    for (caches, raced) in [("cold", &cold), ("warm", &warm)] {
        at_least(&format!("plain over later body, caches {caches}"), raced.plain.over(&raced.later), times_faster);
        let into_used = raced.plain.over(&raced.into_used);
        at_least(&format!("plain over later body into a used buffer, caches {caches}"), into_used, times_faster);
        at_most(&format!("later body over a copy, caches {caches}"), raced.later.over(&raced.copy), 2.0);
    }
    second_body(&runtime, dir.path());
    memory(dir.path(), cold.body_len as u64);
}

/// The first body of a conversation, then the second with one more message.
fn second_body(runtime: &Runtime, dir: &Path) {
    let message = one_more();
    let mut buffer = Vec::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..size(21, 1) {
        let mut conversation = runtime.block_on(Conversation::open(dir, options())).expect("it opens");
        first.push(timed(|| buffer = render(runtime, &conversation)));
        runtime.block_on(conversation.append_json(&message)).expect("one more is appended");
        second.push(timed(|| render_into(runtime, &conversation, &mut buffer)));
    }
    at_most("second body, a message later, over the first", Times::of(second).over(&Times::of(first)), 1.0);
}

/// Peak memory of a process that opens the conversation and makes two bodies, one at a time.
fn memory(dir: &Path, body_len: u64) {
    let dir = dir.to_str().expect("temporary paths are text");
    let [peak, plain] = ["peak", "plain-peak"].map(|what| child::numbers(&[what, dir])[0]);
    below_megabytes("peak memory of a whole process, the body left out", peak.saturating_sub(body_len), 64);
    println!("- the plain process, likewise: {}", megabytes(plain.saturating_sub(body_len)));
}

fn print_peak(dir: &Path) {
    let runtime = runtime();
    let view = view(&runtime, dir);
    for _ in 0..2 {
        black_box(render(&runtime, &view));
    }
    println!("{}", child::peak_memory());
}

fn print_plain_peak(dir: &Path) {
    let plain = Plain::open(dir).expect("the log is whole");
    for _ in 0..2 {
        black_box(plain.render(KEEP).expect("the blobs are whole"));
    }
    println!("{}", child::peak_memory());
}

fn growth() {
    let mut table = Table::new([
        "messages",
        "log",
        "body",
        "later body",
        "into a used buffer",
        "copy into one",
        "plain",
        "into / copy",
        "plain / into",
    ]);
    for messages in [100, 1_000, 10_000, 100_000].into_iter().filter(|&messages| !quick() || messages <= 1_000) {
        let (runtime, dir) = (runtime(), tempfile::tempdir().expect("a temporary directory"));
        corpus(messages, messages / 10).write(&runtime, dir.path());
        let log = fs::metadata(dir.path().join("conversation.jsonl")).expect("there is a log").len();
        let rounds = if messages > 10_000 { 9 } else { size(21, 1) };
        let raced = race_in(&runtime, dir.path(), rounds, Caches::Cold);
        table.row([
            messages.to_string(),
            megabytes(log),
            megabytes(raced.body_len as u64),
            millis(raced.later.median()),
            millis(raced.into_used.median()),
            millis(raced.copy_into_used.median()),
            millis(raced.plain.median()),
            raced.into_used.over(&raced.copy_into_used).to_string(),
            raced.plain.over(&raced.into_used).to_string(),
        ]);
    }
    table.print();
}
