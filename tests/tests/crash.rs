//! A process that is killed at any moment, and processes that meet: nothing acknowledged is lost, nothing is half there.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use attache_runtime::{OpenOptions, RenderOptions, View};
use attache_tests::{Audit, Random, Victim, Word, Work, Writer, attache, gate, message, pictures, sha256};
use tempfile::TempDir;

const WRITER: &str = env!("CARGO_BIN_EXE_crash-writer");

/// A victim, and the directory that it goes with.
struct Scene {
    victim: Victim,
    _dir: TempDir,
}

impl Scene {
    fn new(work: Work) -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { victim: Victim::new(dir.path().join("context"), work), _dir: dir }
    }

    /// Each conversation is read as a whole after every kill, so it does not live for ever.
    fn is_old(&self) -> bool {
        self.victim.strikes() == if self.victim.work() == Work::Large { 3 } else { 12 }
    }

    fn kill(&mut self, random: &mut Random) {
        let mut writer = self.victim.start(WRITER, "FULL");
        let delay = if self.victim.work() == Work::Large {
            assert!(writer.wait_for(Word::Begin, 1), "it ended by itself: {:?}", writer.end());
            wait_for_growth(&self.victim.context().join("conversation.jsonl"));
            Duration::from_millis(3)
        } else {
            let acks = usize::try_from(random.below(4)).unwrap();
            assert!(writer.wait_for(Word::Ack, acks), "it ended by itself: {:?}", writer.end());
            Duration::from_millis(8)
        };
        std::thread::sleep(random.shorter_than(delay));
        self.victim.learn(writer.kill());
    }
}

/// Waits until a large write has begun. Its length shows while it goes on.
fn wait_for_growth(log: &Path) {
    let len = || std::fs::metadata(log).map_or(0, |metadata| metadata.len());
    let before = len();
    let deadline = Instant::now() + Duration::from_secs(30);
    while len() < before + 4096 {
        assert!(Instant::now() < deadline, "the log does not grow");
        std::thread::yield_now();
    }
}

/// Kills a writer of each kind of work, and says how often a torn tail was left.
async fn kill(works: impl IntoIterator<Item = Work>) -> usize {
    let mut random = Random::default();
    let (mut kills, mut torn) = (0, 0);
    let mut scenes: Vec<Scene> = Vec::new();
    for work in works {
        let at = scenes.iter().position(|scene| scene.victim.work() == work).unwrap_or_else(|| {
            scenes.push(Scene::new(work));
            scenes.len() - 1
        });
        scenes[at].kill(&mut random);
        torn += usize::from(scenes[at].victim.recover().await);
        kills += 1;
        if scenes[at].is_old() {
            scenes.swap_remove(at).victim.finish().await;
        }
    }
    for scene in scenes {
        scene.victim.finish().await;
    }
    println!("{kills} kills, {torn} torn tails");
    torn
}

fn rounds(rounds: usize) -> impl Iterator<Item = Work> {
    let round = [Work::Messages, Work::Large, Work::Attach, Work::Blobs];
    std::iter::repeat_n(round, rounds).flatten()
}

/// Kills in the middle of large writes until one has torn a line: without it the test would not have met its subject.
async fn kill_until_torn() {
    for _ in 0..100 {
        if kill([Work::Large; 3]).await > 0 {
            return;
        }
    }
    panic!("no kill fell into the middle of a write");
}

#[tokio::test]
async fn a_kill_loses_nothing_that_was_acknowledged() {
    if kill(rounds(10)).await == 0 {
        kill_until_torn().await;
    }
}

#[tokio::test]
async fn slow_two_hundred_kills_lose_nothing_that_was_acknowledged() {
    if gate::slow() && kill(rounds(60)).await == 0 {
        kill_until_torn().await;
    }
}

#[test]
fn writers_of_equal_blobs_in_many_processes_all_succeed_and_store_them_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut writers: Vec<_> = (0..4).map(|_| Writer::start(WRITER, "blobs", dir.path(), "FULL", (1, 40))).collect();
    for writer in &mut writers {
        let (written, status, complaint) = writer.end();
        assert!(status.success(), "{complaint}");
        assert_eq!(written.acked.len(), 40);
    }
    let audit = Audit::of(dir.path());
    audit.expect_whole("after the race");
    assert_eq!(audit.blobs, (1..=40).map(|n| sha256(&message::blob(n))).collect());
    assert_eq!(audit.strangers, BTreeSet::new());
}

#[test]
fn processes_that_attach_the_same_pictures_to_one_conversation_take_turns() {
    let dir = tempfile::tempdir().unwrap();
    let (work, context) = work_folder(dir.path(), 3);
    let attach = |who: usize| {
        for round in 0..4 {
            let call = attache(["attach", "--json", "--lock-wait", "50s", "--conversation"]).arg(&context);
            let call = call.arg("--workdir").arg(&work).args(["--call-id", &format!("{who}-{round}")]);
            call.args(["0.png", "1.png", "2.png"]).run().expect_code(0);
        }
    };
    std::thread::scope(|scope| {
        for who in 0..4 {
            scope.spawn(move || attach(who));
        }
    });
    let audit = Audit::of(&context);
    audit.expect_whole("after the race");
    let calls: BTreeSet<_> = audit.messages.iter().map(|message| message["tool_call_id"].to_string()).collect();
    assert_eq!((audit.messages.len(), calls.len(), audit.blobs.len()), (16, 16, 3));
}

#[test]
fn a_sweep_takes_no_blob_that_another_process_is_attaching_again() {
    let dir = tempfile::tempdir().unwrap();
    let (work, context) = work_folder(dir.path(), 12);
    attache(["append", "--conversation"]).arg(&context).stdin(r#"{"role":"user"}"#).run().expect_code(0);
    // Old blobs that no record names, each about to be named.
    std::fs::create_dir(context.join("blobs")).unwrap();
    for n in 0..12 {
        let bytes = std::fs::read(work.join(format!("{n}.png"))).unwrap();
        let blob = std::fs::File::create(context.join("blobs").join(sha256(&bytes))).unwrap();
        std::io::Write::write_all(&mut &blob, &bytes).unwrap();
        blob.set_modified(std::time::SystemTime::now() - Duration::from_secs(3 * 3600)).unwrap();
    }
    std::thread::scope(|scope| {
        let sweep = || attache(["sweep", "--lock-wait", "50s", "--conversation"]).arg(&context).run();
        let sweeper = scope.spawn(move || (0..12).for_each(|_| drop(sweep().expect_code(0).clone())));
        for n in 0..12 {
            let call = attache(["attach", "--lock-wait", "50s", "--strict", "--conversation"]).arg(&context);
            call.arg("--workdir").arg(&work).arg(format!("{n}.png")).run().expect_code(0);
        }
        sweeper.join().unwrap();
    });
    let audit = Audit::of(&context);
    audit.expect_whole("after the race");
    assert_eq!((audit.messages.len(), audit.references.len()), (13, 12));
}

#[tokio::test]
async fn readers_beside_a_writer_see_whole_messages_and_every_picture() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::start(WRITER, "messages", dir.path(), "FULL", (1, 120));
    assert!(writer.wait_for(Word::Ack, 1));
    let mut seen = Vec::new();
    while seen.last() != Some(&120) {
        let view = View::open(dir.path(), OpenOptions::default()).await.unwrap();
        let messages = view.render(RenderOptions::newest(3)).await.unwrap();
        assert!(!serde_json::to_string(&messages).unwrap().contains("[image unavailable"));
        assert_eq!(view.log_report().damaged_lines, 0);
        seen.push(messages.len());
        assert!(seen.len() < 100_000, "the writer has stopped: {:?}", writer.end());
    }
    assert!(seen.is_sorted(), "{seen:?}");
    let (_, status, complaint) = writer.end();
    assert!(status.success(), "{complaint}");
}

fn work_folder(dir: &Path, files: u64) -> (PathBuf, PathBuf) {
    let work = dir.join("work");
    std::fs::create_dir(&work).unwrap();
    for n in 0..files {
        std::fs::write(work.join(format!("{n}.png")), pictures::png(40, 40, n)).unwrap();
    }
    (work, dir.join("context"))
}
