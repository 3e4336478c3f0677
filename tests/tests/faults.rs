//! System calls that fail, each in turn, and a disk that is full: what is acknowledged is there, what is not is absent,
//! and the next call works.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use attache_tests::{Audit, Call, FileSystem, Finished, Mount, attache, gate, message, pictures, sha256};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How the store publishes a blob, and what makes it choose that way: each has system calls of its own.
const WAYS: [(&str, &[&str]); 4] = [
    ("rename without replacing", &[]),
    ("link, as on network mounts", &["renameat2:error=EINVAL"]),
    ("plain rename, where there are no links either", &["renameat2:error=EINVAL", "linkat:error=EPERM"]),
    ("in place, as in synced folders", &["renameat2:error=EXDEV"]),
];

/// The last of them.
const IN_PLACE: usize = 3;

/// What a sweep makes fail.
struct Sweep {
    /// Index into [`WAYS`].
    ways: &'static [usize],
    call: &'static str,
    errors: &'static [&'static str],
}

const ALL: &[usize] = &[0, 1, 2, 3];

const SWEEPS: &[Sweep] = &[
    Sweep { ways: ALL, call: "write", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: ALL, call: "fsync", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[0], call: "fdatasync", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[0], call: "renameat2", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[1], call: "linkat", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[2], call: "renameat", errors: &["EIO", "ENOSPC", "EXDEV"] },
    Sweep { ways: &[0, 1, 3], call: "unlinkat", errors: &["EIO"] },
    Sweep { ways: &[0, 3], call: "ftruncate", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[0], call: "mkdir", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[0], call: "mkdirat", errors: &["EIO", "ENOSPC"] },
    Sweep { ways: &[0], call: "flock", errors: &["EIO", "ENOLCK"] },
    Sweep { ways: &[0], call: "fchmod", errors: &["EPERM"] },
    Sweep { ways: &[0], call: "utimensat", errors: &["EPERM"] },
    Sweep { ways: &[0, 3], call: "openat", errors: &["EIO", "ENOSPC", "EMFILE"] },
    // Not failures: a signal came first, and the call is to be made again.
    Sweep { ways: &[0], call: "write", errors: &["EINTR"] },
];

/// The command under test.
#[derive(Clone, Copy, Debug)]
enum Scenario {
    /// Two messages with an inline image each, where there is no conversation yet.
    AppendFirst,
    /// A tool result with an image that is known and one that is new, in a conversation that exists.
    AttachMore,
}

/// Everything one scenario needs, and what was there before.
struct Stage {
    scenario: Scenario,
    dir: TempDir,
    /// Where the contexts of the cases are made.
    contexts: PathBuf,
    before: Vec<Value>,
    cases: usize,
}

impl Stage {
    fn new(scenario: Scenario) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let contexts = dir.path().to_owned();
        Self::within(scenario, dir, contexts)
    }

    fn within(scenario: Scenario, dir: TempDir, contexts: PathBuf) -> Self {
        fs::create_dir(dir.path().join("work")).unwrap();
        for n in 0..2 {
            fs::write(dir.path().join("work").join(format!("{n}.png")), image(n)).unwrap();
        }
        fs::write(dir.path().join("messages"), message::lines(&[with_image(0), with_image(1)])).unwrap();
        let mut stage = Self { scenario, dir, contexts, before: Vec::new(), cases: 0 };
        stage.before = Audit::of(&stage.prepare()).messages;
        stage
    }

    /// A context as it stands before a case.
    fn prepare(&mut self) -> PathBuf {
        self.cases += 1;
        let context = self.contexts.join(format!("context-{}", self.cases));
        if let Scenario::AttachMore = self.scenario {
            let call = attache(["append", "--conversation"]).arg(&context);
            call.stdin(message::lines(&[with_image(0)])).run().expect_code(0);
        }
        context
    }

    fn call(&self, context: &Path) -> Call {
        let call = match self.scenario {
            Scenario::AppendFirst => attache(["append"]).arg(self.dir.path().join("messages")),
            Scenario::AttachMore => {
                let call = attache(["attach", "0.png", "1.png", "--text", &long_text()]);
                call.arg("--workdir").arg(self.dir.path().join("work"))
            }
        };
        call.args(["--json", "--lock-wait", "0s", "--conversation"]).arg(context)
    }

    /// Judges what a run left and runs once more without faults; `case` says what failed.
    fn judge(&self, case: &str, context: &Path, run: &Finished) -> Audit {
        let audit = Audit::of(context);
        audit.expect_records_whole(case);
        let old = self.before.len();
        assert!(audit.messages.len() >= old, "{case}: a message is gone");
        assert_eq!(audit.messages[..old], self.before, "{case}: an older message has changed");
        let new = &audit.messages[old..];
        match run.code {
            Some(0) => self.judge_success(case, new, run),
            Some(6) => judge_failure(case, new, run),
            _ => panic!("{case}: {run}"),
        }
        audit
    }

    /// Success: all messages are there, and each image is either in the store or in a note.
    fn judge_success(&self, case: &str, new: &[Value], run: &Finished) {
        let done = run.json();
        let text = serde_json::to_string(new).unwrap();
        let recorded = text.matches(r#""type":"file""#).count();
        let noted = text.matches("(store_failed)").count();
        assert_eq!(recorded + noted, 2, "{case}: an image is neither recorded nor noted: {text}");
        let notes = done["notes"].as_array().unwrap();
        let told = notes.iter().filter(|note| note.as_str().unwrap().ends_with("(store_failed)")).count();
        assert_eq!(told, noted, "{case}: {done}");
        match self.scenario {
            Scenario::AppendFirst => {
                assert_eq!((new.len(), done["appended"].as_u64()), (2, Some(2)), "{case}");
                assert_eq!(done["lifted"].as_u64(), Some(recorded as u64), "{case}");
            }
            Scenario::AttachMore => assert_eq!(new, [done["message"].clone()], "{case}"),
        }
    }

    /// The same call once more, in a world without faults.
    fn run_again(&self, case: &str, context: &Path) {
        let run = self.call(context).run();
        run.expect_code(0);
        assert_eq!(run.json()["notes"], json!([]), "{case}: {run}");
        let audit = Audit::of(context);
        audit.expect_whole(case);
        assert!(audit.tail.is_empty(), "{case}");
        assert!(audit.blobs.is_superset(&BTreeSet::from([sha256(&image(0)), sha256(&image(1))])), "{case}");
        let check = attache(["check", "--json", "--conversation"]).arg(context).run();
        assert_eq!(check.expect_code(0).json()["ok"], true, "{case}");
        let messages = attache(["render", "--conversation"]).arg(context).run().expect_code(0).json();
        assert_eq!(messages.as_array().map(Vec::len), Some(audit.messages.len()), "{case}");
        assert!(!messages.to_string().contains("[image unavailable"), "{case}");
    }
}

/// Failure: nothing was appended, unless all that failed was to say so.
fn judge_failure(case: &str, new: &[Value], run: &Finished) {
    let could_speak = !run.stdout.is_empty();
    if !could_speak {
        return;
    }
    let error = run.json()["error"].clone();
    let message = error["message"].as_str().unwrap();
    if !message.starts_with("could not write to standard output") {
        assert_eq!(new, [] as [Value; 0], "{case}: it failed and appended: {run}");
    }
    let code = error["code"].as_str().unwrap();
    assert!(["io_error", "store_failed", "conversation_stale"].contains(&code), "{case}: {run}");
}

fn image(n: u64) -> Vec<u8> {
    pictures::png(100, 100, n)
}

/// Longer than a few pages, so that a full disk takes a part of a line.
fn long_text() -> String {
    "word after word ".repeat(1500)
}

fn with_image(n: u64) -> Value {
    json!({"role": "user", "content": [message::inline_image("image/png", &image(n)), message::text(long_text())]})
}

/// Makes the n-th call of a thread fail, for every n, until no thread makes that many; says how many cases there were.
fn sweep(stage: &mut Stage, way: usize, call: &str, error: &str) -> usize {
    let (way_name, forced) = WAYS[way];
    for n in 1.. {
        let context = stage.prepare();
        let case = format!("{:?}, {way_name}: {error} from {call} number {n}", stage.scenario);
        let log = stage.dir.path().join("trace");
        let run = under_strace(stage, &context, &log, call, forced, &format!("{call}:error={error}:when={n}"));
        let trace = fs::read_to_string(&log).unwrap();
        if !is_injected(&trace, call) {
            run.expect_code(0);
            return n - 1;
        }
        let audit = stage.judge(&case, &context, &run);
        // What could not be removed or renamed stays for the next sweep; nothing else may.
        if !["unlinkat", "ftruncate"].contains(&call) {
            assert_eq!(audit.strangers, BTreeSet::new(), "{case}: private files are left behind");
            assert_eq!(audit.torn_copies.len() + audit.tail.len(), 0, "{case}");
        }
        if way != IN_PLACE {
            audit.expect_whole(&case);
        }
        if call.ends_with("sync") {
            // The bytes can be read all the same, so that only this shows whether anybody listened.
            let notes = run.json()["notes"].as_array().map_or(0, Vec::len);
            assert!(run.code == Some(6) || notes > 0, "{case}: a flush failed, and nobody says so: {run}");
        }
        if error == "EINTR" {
            assert_eq!((run.code, run.json()["notes"].clone()), (Some(0), json!([])), "{case}: {run}");
        }
        stage.run_again(&case, &context);
        fs::remove_dir_all(&context).unwrap();
    }
    unreachable!("a process makes a finite number of calls")
}

fn is_injected(trace: &str, call: &str) -> bool {
    // A call during which another thread made one stands on two lines.
    let names = [format!(" {call}("), format!("<... {call} resumed>")];
    let is_it = |line: &str| names.iter().any(|name| line.contains(name));
    trace.lines().any(|line| line.ends_with("(INJECTED)") && is_it(line))
}

fn under_strace(stage: &Stage, context: &Path, log: &Path, call: &str, forced: &[&str], fault: &str) -> Finished {
    let mut args = vec!["-f".to_owned(), "-qq".to_owned(), "--seccomp-bpf".to_owned(), "-o".to_owned()];
    args.push(log.display().to_string());
    // Only what is traced can be made to fail.
    let traced: Vec<_> = forced.iter().map(|forced| forced.split(':').next().unwrap_or(forced)).chain([call]).collect();
    args.extend(["-e".to_owned(), format!("trace=?{}", traced.join(",?"))]);
    if call == "openat" {
        // The loader opens files too; whether it finds its libraries is not our subject.
        for name in ["", "blobs", "conversation.jsonl", "conversation.lock"] {
            args.extend(["-P".to_owned(), context.join(name).display().to_string().trim_end_matches('/').to_owned()]);
        }
    }
    for injection in forced.iter().copied().chain([fault]) {
        // The question mark passes over calls that this kind of machine does not have.
        args.extend(["-e".to_owned(), format!("inject=?{injection}")]);
    }
    stage.call(context).under("strace", args).run()
}

fn sweep_all(scenario: Scenario, wanted: impl Fn(&Sweep, usize) -> bool) -> usize {
    let mut stage = Stage::new(scenario);
    let mut cases = 0;
    for entry in SWEEPS {
        for &way in entry.ways.iter().filter(|way| wanted(entry, **way)) {
            for error in entry.errors {
                let found = sweep(&mut stage, way, entry.call, error);
                println!("{scenario:?}, {}, {}={error}: {found} cases", WAYS[way].0, entry.call);
                cases += found;
            }
        }
    }
    cases
}

/// Can strace run here? Some containers forbid it.
fn can_trace() -> bool {
    if !gate::have(&["strace"]) {
        return false;
    }
    let tried = Call::new("strace").args(["-f", "-qq", "--seccomp-bpf", "-e", "inject=fsync:error=EIO", "true"]).run();
    if tried.code != Some(0) {
        gate::skip(&format!("strace cannot trace here: {}", tried.error_text().trim()));
    }
    tried.code == Some(0)
}

#[test]
fn a_failing_system_call_is_told_truthfully_and_harms_nothing() {
    if !can_trace() {
        return;
    }
    let common = |sweep: &Sweep, way| way == 0 && ["fsync", "fdatasync", "write", "renameat2"].contains(&sweep.call);
    let cases = sweep_all(Scenario::AppendFirst, common) + sweep_all(Scenario::AttachMore, common);
    println!("{cases} cases");
    assert!(cases >= 20, "only {cases} cases: has the way of writing changed?");
}

#[test]
fn slow_every_failing_system_call_on_every_kind_of_file_system() {
    if !gate::slow() || !can_trace() {
        return;
    }
    let cases = sweep_all(Scenario::AppendFirst, |_, _| true) + sweep_all(Scenario::AttachMore, |_, _| true);
    println!("{cases} cases");
    assert!(cases >= 80, "only {cases} cases: has the way of writing changed?");
}

/// The calls of a run in the order in which they began, with the paths of their descriptors.
fn traced(stage: &Stage, context: &Path) -> Vec<String> {
    let logs = tempfile::tempdir().unwrap();
    let calls = "trace=?mkdir,?mkdirat,openat,write,fsync,fdatasync,renameat2";
    let prefix = logs.path().join("log").display().to_string();
    stage.call(context).under("strace", ["-ff", "-ttt", "-y", "-qq", "-e", calls, "-o", &prefix]).run().expect_code(0);
    let mut lines: Vec<String> = Vec::new();
    for log in fs::read_dir(logs.path()).unwrap() {
        let log = fs::read(log.unwrap().path()).unwrap();
        lines.extend(String::from_utf8_lossy(&log).lines().map(str::to_owned));
    }
    // Each begins with its time.
    lines.sort();
    lines.retain(|line| !line.contains(" = -1 "));
    lines
}

/// Asserts that lines which match these patterns, each a list of parts, come in this order.
#[track_caller]
fn expect_order(lines: &[String], patterns: &[&[&str]]) {
    let mut at = 0;
    for pattern in patterns {
        let found = lines[at..].iter().position(|line| pattern.iter().all(|part| line.contains(part)));
        at += found.unwrap_or_else(|| panic!("no {pattern:?} after line {at} of {lines:#?}")) + 1;
    }
}

#[test]
fn everything_is_flushed_before_what_names_it_is_written() {
    if !can_trace() {
        return;
    }
    let stage = Stage::new(Scenario::AppendFirst);
    let above = stage.dir.path().canonicalize().unwrap();
    let context = above.join("new/deep/context");
    let lines = traced(&stage, &context);
    let path = |below: &str| format!("<{}>", above.join(below).display());
    let (top, new, deep, context) = (path("."), path("new"), path("new/deep"), path("new/deep/context"));
    let top = top.replace("/.>", ">");
    let (blobs, log) = (path("new/deep/context/blobs"), path("new/deep/context/conversation.jsonl"));

    for n in 0..2 {
        let name = format!("\"{}\"", sha256(&image(n)));
        let publish = ["renameat2(", name.as_str()];
        expect_order(&lines, &[&["write(", "/.tmp-"], &["fsync(", "/.tmp-"], &publish, &["fsync(", &blobs]]);
    }
    let log_write: &[&str] = &["write(", &log];
    expect_order(&lines, &[&["fsync(", &blobs], log_write, &["fdatasync(", &log], &["write(1"]]);
    expect_order(&lines, &[&["mkdir", "context/blobs\""], &["fsync(", &context], log_write]);
    expect_order(&lines, &[&["openat(", "conversation.jsonl", "O_CREAT"], &["fsync(", &context], log_write]);
    expect_order(&lines, &[&["mkdir", "/new\""], &["fsync(", &top], log_write]);
    expect_order(&lines, &[&["mkdir", "/new/deep\""], &["fsync(", &new], log_write]);
    expect_order(&lines, &[&["mkdir", "/new/deep/context\""], &["fsync(", &deep], log_write]);

    let count = |parts: &[&str]| lines.iter().filter(|line| parts.iter().all(|part| line.contains(part))).count();
    assert_eq!(count(log_write), 1, "header and both messages are one write: {lines:#?}");
    assert_eq!(count(&["fsync(", &blobs]), 1, "the images of a call share the flush of their directory: {lines:#?}");
}

/// A small file system, filled up to the last byte but a few.
struct Full {
    mount: Mount,
}

impl Full {
    /// Leaves `free` bytes.
    fn fill(&self, free: u64) {
        let mut filler = fs::File::create(self.filler()).unwrap();
        let page = [0; 4096];
        while std::io::Write::write_all(&mut filler, &page).is_ok() {}
        let len = filler.metadata().unwrap().len();
        filler.set_len(len.saturating_sub(free)).unwrap();
        filler.sync_all().unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.mount.path().join("filler")
    }

    fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

/// How much room the cases leave, in pages: from none to more than a call needs.
const PAGES: u64 = 34;

fn fill_up(mount: Mount) -> usize {
    let full = Full { mount };
    let mut outcomes = std::collections::BTreeMap::new();
    for scenario in [Scenario::AppendFirst, Scenario::AttachMore] {
        let contexts = full.mount.path().to_owned();
        let mut stage = Stage::within(scenario, tempfile::tempdir().unwrap(), contexts);
        for pages in 0..=PAGES {
            let case = format!("{scenario:?} with {pages} free pages");
            let context = stage.prepare();
            full.fill(pages * 4096);
            let run = stage.call(&context).run();
            let audit = stage.judge(&case, &context, &run);
            audit.expect_whole(&case);
            assert_eq!(audit.strangers, BTreeSet::new(), "{case}: private files are left behind");
            assert_eq!(audit.torn_copies.len() + audit.tail.len(), 0, "{case}: the tail is not cut back");
            full.free();
            stage.run_again(&case, &context);
            fs::remove_dir_all(&context).unwrap();
            let notes = usize::from(run.code == Some(0)) * run.json()["notes"].as_array().map_or(0, Vec::len);
            *outcomes.entry((run.code, notes)).or_insert(0) += 1;
        }
    }
    println!("{outcomes:?}");
    // The levels must reach from nothing at all to everything.
    assert!(outcomes.contains_key(&(Some(6), 0)) && outcomes.contains_key(&(Some(0), 0)), "{outcomes:?}");
    outcomes.values().sum()
}

#[test]
fn slow_a_full_disk_loses_nothing_and_is_told_truthfully() {
    if !gate::slow() || !gate::root_and(&["mount", "mkfs.ext4", "perl"]) {
        return;
    }
    let mut cases = 0;
    for mount in [Mount::tmpfs(4 << 20), Mount::new(FileSystem::Ext4, 16)] {
        match mount {
            Ok(mount) => cases += fill_up(mount),
            Err(why) => return gate::skip(&format!("nothing can be mounted here: {why}")),
        }
    }
    println!("{cases} cases");
    assert!(cases >= 80);
}

#[test]
fn slow_a_full_disk_can_be_swept_and_a_torn_tail_waits_for_room() {
    if !gate::slow() || !gate::root_and(&["mount"]) {
        return;
    }
    let mount = match Mount::tmpfs(4 << 20) {
        Ok(mount) => mount,
        Err(why) => return gate::skip(&format!("nothing can be mounted here: {why}")),
    };
    let full = Full { mount };
    let mut stage = Stage::within(Scenario::AttachMore, tempfile::tempdir().unwrap(), full.mount.path().to_owned());
    let context = stage.prepare();
    let run = |args: &[&str]| attache(args).arg("--json").arg("--conversation").arg(&context).run();

    // An orphan takes the last room: the sweep must not need any.
    fs::write(context.join("blobs").join(sha256(&image(7))), image(7)).unwrap();
    full.fill(0);
    // Longer than what is left of the log's last page.
    let reason = "because ".repeat(1000);
    run(&["withhold", &sha256(&image(0)), "--reason", &reason]).expect_code(6);
    let swept = run(&["sweep", "--grace", "0s"]).expect_code(0).json();
    assert_eq!(swept["deleted"], json!([sha256(&image(7))]));
    run(&["withhold", &sha256(&image(0)), "--reason", &reason]).expect_code(0);

    let log = context.join("conversation.jsonl");
    let mut whole = fs::read(&log).unwrap();
    whole.extend_from_slice(format!("{{\"role\":\"user\",\"content\":\"{}", "x".repeat(9000)).as_bytes());
    fs::write(&log, &whole).unwrap();
    full.free();
    full.fill(4096);
    for _ in 0..2 {
        run(&["restore", &sha256(&image(0))]).expect_code(6);
        assert_eq!(fs::read(&log).unwrap(), whole, "the tail is cut although it could not be kept");
        assert_eq!(Audit::of(&context).torn_copies, [] as [PathBuf; 0]);
    }
    // Readers need no room.
    assert_eq!(run(&["show"]).expect_code(0).json()["messages"], 1);
    full.free();
    run(&["restore", &sha256(&image(0))]).expect_code(0);
    let audit = Audit::of(&context);
    assert_eq!((audit.torn_copies.len(), audit.tail.len()), (1, 0));
    assert!(whole.ends_with(&fs::read(&audit.torn_copies[0]).unwrap()));
}
