//! Power cuts: a file system that stops in the middle of the work keeps what was acknowledged.
//!
//! A file system on a loop file is shut down while a writer is at work, unmounted and mounted again. What had not
//! reached the loop file by then is gone, as it would be from a disk.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use attache_tests::FileSystem::{self, Ext4, Xfs};
use attache_tests::Shutdown::{self, JournalKept, JournalLost};
use attache_tests::{Mount, Random, Victim, Word, Work, Writer, Written, gate, message, sha256};

const WRITER: &str = env!("CARGO_BIN_EXE_crash-writer");
const COMBINATIONS: [(FileSystem, Shutdown); 4] =
    [(Ext4, JournalLost), (Ext4, JournalKept), (Xfs, JournalLost), (Xfs, JournalKept)];
/// Cuts for each of them.
const CUTS: usize = 30;
/// What xfs needs at least, and a little more.
const MEBIBYTES: u64 = 400;

/// Lets a writer work for a moment, then cuts the power and restarts. Says what was begun, and what was acknowledged
/// before the cut.
///
/// Only that counts: where the power fails, nobody says anything any more. Here the writer lives on, and now and then
/// both file systems let a flush that overlaps the shutdown succeed over nothing (up to 3 in 100 times, measured with a
/// program of three lines that writes, flushes and says so).
fn cut(mount: &mut Mount, shutdown: Shutdown, mut writer: Writer, acks: usize) -> Written {
    let power_cut = mount.arm(shutdown).unwrap();
    assert!(writer.wait_for(Word::Ack, acks), "the writer ended by itself: {:?}", writer.end());
    let acked = writer.so_far().acked;
    power_cut.fire().unwrap();
    let (Written { begun, .. }, status, complaint) = writer.end();
    assert!(!status.success(), "the writer did not notice the cut");
    let failed = ["Input/output error", "store_failed", "Read-only file system"];
    assert!(failed.iter().any(|word| complaint.contains(word)), "the cut is not what ended the writer: {complaint}");
    mount.remount().unwrap();
    Written { begun, acked }
}

async fn cut_again_and_again(kind: FileSystem, shutdown: Shutdown) -> Result<usize, String> {
    let mut mount = Mount::new(kind, MEBIBYTES)?;
    let mut random = Random::default();
    let works = [Work::Messages, Work::Attach, Work::Blobs, Work::Large];
    let mut victims: Vec<Victim> = Vec::new();
    let mut torn = 0;
    for n in 0..CUTS {
        let work = works[n % works.len()];
        // Each is struck twice: once where nothing existed before, its directories included, and once more.
        let mut victim = match victims.iter().position(|victim| victim.work() == work) {
            Some(at) => victims.swap_remove(at),
            None => Victim::new(mount.path().join(format!("new-{n}/deep/context")), work),
        };
        let writer = victim.start(WRITER, "FULL");
        // Some directly after the first acknowledgement, when the directories are new.
        let most = if work == Work::Large { 2 } else { 8 };
        let acks = 1 + usize::try_from(random.below(most)).unwrap();
        victim.learn(cut(&mut mount, shutdown, writer, acks));
        torn += usize::from(victim.recover().await);
        if victim.strikes() < 2 {
            victims.push(victim);
        } else {
            let context = victim.context().to_owned();
            victim.finish().await;
            std::fs::remove_dir_all(context).unwrap();
        }
    }
    println!("{kind:?}, {shutdown:?}: {CUTS} cuts, {torn} torn tails, nothing lost");
    Ok(CUTS)
}

/// What programs that do not flush lose by the same cuts. If they lost nothing, the test would prove nothing.
fn cut_controls(kind: FileSystem, shutdown: Shutdown) -> Result<(), String> {
    let mut mount = Mount::new(kind, MEBIBYTES)?;

    let mut victim = Victim::new(mount.path().join("context"), Work::Messages);
    let writer = victim.start(WRITER, "OS");
    victim.learn(cut(&mut mount, shutdown, writer, 20));
    let messages = victim.lost().len();
    assert!(messages > 0, "{kind:?}, {shutdown:?}: messages that were not flushed have all survived");

    let plain = mount.path().join("plain");
    std::fs::create_dir(&plain).unwrap();
    let writer = Writer::start(WRITER, "plain", &plain, "OS", (1, 1_000_000));
    let written = cut(&mut mount, shutdown, writer, 20);
    let is_there = |n: &&u64| {
        let name = sha256(&message::blob(**n));
        std::fs::read(plain.join(&name)).is_ok_and(|bytes| sha256(&bytes) == name)
    };
    let files = written.acked.len() - written.acked.iter().filter(is_there).count();
    assert!(files > 0, "{kind:?}, {shutdown:?}: files that were not flushed have all survived");
    println!("{kind:?}, {shutdown:?}: without flushes {messages} messages and {files} files lost");
    Ok(())
}

fn can_cut() -> bool {
    gate::slow() && gate::root_and(&["mount", "umount", "mkfs.ext4", "mkfs.xfs", "perl"])
}

#[tokio::test]
async fn slow_a_power_cut_loses_nothing_that_was_acknowledged() {
    if !can_cut() {
        return;
    }
    let mut cases = 0;
    for (kind, shutdown) in COMBINATIONS {
        match cut_again_and_again(kind, shutdown).await {
            Ok(cuts) => cases += cuts,
            Err(why) => return gate::skip(&format!("no loop file can be mounted here: {why}")),
        }
    }
    println!("{cases} cases");
    assert!(cases >= 40);
}

#[test]
fn slow_the_same_power_cuts_take_what_was_not_flushed() {
    if !can_cut() {
        return;
    }
    for (kind, shutdown) in COMBINATIONS {
        if let Err(why) = cut_controls(kind, shutdown) {
            return gate::skip(&format!("no loop file can be mounted here: {why}"));
        }
    }
}
