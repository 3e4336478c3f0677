//! The `crash-writer` helper, seen from the test that kills it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::Call;

/// Longer than any operation takes.
const LIMIT: Duration = Duration::from_secs(60);

/// A running `crash-writer`; killed when dropped.
#[derive(Debug)]
pub struct Writer {
    child: Child,
    lines: Receiver<String>,
    written: Written,
}

/// What a writer said until it ended.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The operations that were begun.
    pub begun: BTreeSet<u64>,
    /// Those that were acknowledged: they must be there, whatever happened.
    pub acked: BTreeSet<u64>,
}

/// What a writer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// An operation begins.
    Begin,
    /// It was acknowledged.
    Ack,
}

impl Writer {
    /// Starts `program`, the helper, with its arguments MODE, DIR, FULL or OS, FIRST and LAST.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn start(program: &str, mode: &str, dir: &Path, durability: &str, (first, last): (u64, u64)) -> Self {
        let call = Call::new(program).arg(mode).arg(dir).arg(durability).args([first.to_string(), last.to_string()]);
        let mut child = call.spawn();
        let stdout = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let (sender, lines) = channel();
        // What is still in the pipe after a kill was said before it, so the thread reads to the very end.
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines, written: Written::default() }
    }

    /// Waits until it has said `word` another `times` times; `false` if it ended before.
    ///
    /// # Panics
    /// Where it says nothing for a minute.
    pub fn wait_for(&mut self, word: Word, times: usize) -> bool {
        let mut left = times;
        while left > 0 {
            match self.listen() {
                Some(said) if said == word => left -= 1,
                Some(_) => {}
                None => return false,
            }
        }
        true
    }

    /// What it has said up to now, as far as it was heard.
    pub fn so_far(&mut self) -> Written {
        while let Ok(line) = self.lines.try_recv() {
            self.note(&line);
        }
        self.written.clone()
    }

    fn listen(&mut self) -> Option<Word> {
        match self.lines.recv_timeout(LIMIT) {
            Ok(line) => Some(self.note(&line)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the writer has hung: {self:?}"),
        }
    }

    fn note(&mut self, line: &str) -> Word {
        let (word, n) = line.split_once(' ').expect("a word and a number");
        let n = n.parse().expect("a number");
        if word == "ack" {
            self.written.acked.insert(n);
            return Word::Ack;
        }
        self.written.begun.insert(n);
        Word::Begin
    }

    /// Kills it with SIGKILL, and returns what it had said until then.
    ///
    /// # Panics
    /// Where it cannot be killed.
    pub fn kill(mut self) -> Written {
        self.child.kill().expect("a child can be killed");
        self.end().0
    }

    /// Waits for its end, and returns what it said, how it ended and what it complained of.
    pub fn end(&mut self) -> (Written, ExitStatus, String) {
        while self.listen().is_some() {}
        let status = self.child.wait().expect("a child can be waited for");
        let mut complaint = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            let _ = stderr.read_to_string(&mut complaint);
        }
        (self.written.clone(), status, complaint)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
