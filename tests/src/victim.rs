//! A conversation that is written to and struck, again and again, and what must be true of it each time.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use attache_runtime::{Conversation, OpenOptions, RenderOptions, View};
use serde_json::{Value, json};

use crate::{Audit, Writer, Written, attache, message, sha256};

/// No writer gets this far.
const FOREVER: u64 = 1_000_000;

/// What the writer does; see the `crash-writer` helper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Appends messages, some with pictures, some in batches.
    Messages,
    /// Records tool results with files.
    Attach,
    /// Appends messages of 8 MiB.
    Large,
    /// Puts blobs that no record names.
    Blobs,
}

impl Work {
    fn mode(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Attach => "attach",
            Self::Large => "large",
            Self::Blobs => "blobs",
        }
    }

    /// Message `n` as the log must hold it.
    fn recorded(self, n: u64) -> Value {
        match self {
            Self::Messages | Self::Blobs => message::numbered_record(n),
            Self::Large => message::large(n),
            Self::Attach => {
                let mut content = vec![message::text(format!("result {n}"))];
                content.extend(message::picture(n).map(|bytes| message::record("image/png", &bytes)));
                json!({"role": "tool", "tool_call_id": format!("call_{n}"), "content": content, "n": n})
            }
        }
    }
}

/// The conversation.
#[derive(Debug)]
pub struct Victim {
    context: PathBuf,
    work: Work,
    written: Written,
    /// Messages that were appended after a strike, to see that it goes on.
    between: usize,
}

impl Victim {
    /// A victim that does not exist yet; `context` is made by its first writer.
    pub fn new(context: impl Into<PathBuf>, work: Work) -> Self {
        Self { context: context.into(), work, written: Written::default(), between: 0 }
    }

    /// The context directory.
    pub fn context(&self) -> &Path {
        &self.context
    }

    /// What its writers do.
    pub fn work(&self) -> Work {
        self.work
    }

    /// How many strikes it recovered from.
    pub fn strikes(&self) -> usize {
        self.between
    }

    /// Starts a writer that goes on where the last one ended; `durability` is FULL or OS.
    pub fn start(&self, program: &str, durability: &str) -> Writer {
        let next = self.written.begun.last().map_or(1, |last| last + 1);
        Writer::start(program, self.work.mode(), &self.context, durability, (next, FOREVER))
    }

    /// Takes note of what a writer said before it was struck.
    pub fn learn(&mut self, written: Written) {
        self.written.begun.extend(written.begun);
        self.written.acked.extend(written.acked);
    }

    /// The numbers of acknowledged operations that are not there as they should be.
    pub fn lost(&self) -> Vec<u64> {
        let audit = Audit::of(&self.context);
        let there = |n: &u64| match self.work {
            Work::Blobs => {
                let name = sha256(&message::blob(*n));
                audit.blobs.contains(&name) && !audit.unnamed_damage.contains(&name)
            }
            _ => audit.messages.contains(&self.work.recorded(*n)),
        };
        self.written.acked.iter().copied().filter(|n| !there(n)).collect()
    }

    /// Checks what a strike left, opens the conversation, goes on, and checks again. Says whether there was a torn
    /// tail.
    ///
    /// # Panics
    /// Where anything acknowledged is lost, anything is half there, or it cannot go on.
    pub async fn recover(&mut self) -> bool {
        let left = Audit::of(&self.context);
        left.expect_whole("after the strike");
        if self.work == Work::Blobs {
            self.check_blobs(&left);
        } else {
            self.check_messages(&left);
        }
        let torn = self.open_and_append(&left).await;
        let after = Audit::of(&self.context);
        after.expect_whole("after the next append");
        assert_eq!(after.messages.len(), left.messages.len() + 1);
        assert_eq!(after.tail, b"");
        torn
    }

    fn check_blobs(&self, audit: &Audit) {
        for n in &self.written.acked {
            let there = audit.blobs.contains(&sha256(&message::blob(*n)));
            assert!(there, "blob {n} was acknowledged and is gone");
        }
    }

    /// The messages in the log must be those acknowledged and perhaps a few begun ones.
    fn check_messages(&self, audit: &Audit) {
        let mut found = BTreeSet::new();
        for message in &audit.messages {
            let Some(n) = message["n"].as_u64() else { continue };
            assert!(found.last().is_none_or(|last| *last < n), "message {n} is out of order");
            assert!(*message == self.work.recorded(n), "message {n} is not what was appended");
            assert!(self.written.begun.contains(&n), "message {n} was never begun");
            found.insert(n);
        }
        let lost: Vec<_> = self.written.acked.difference(&found).collect();
        assert!(lost.is_empty(), "messages {lost:?} were acknowledged and are gone");
        assert_eq!(audit.messages.len() - found.len(), self.between, "messages of earlier recoveries");
    }

    async fn open_and_append(&mut self, left: &Audit) -> bool {
        let options = OpenOptions::default().with_lock_wait(Duration::from_secs(20));
        let mut conversation = Conversation::open(&self.context, options).await.expect("the log opens");
        let report = conversation.log_report().clone();
        assert_eq!(report.damaged_lines, 0, "{report:?}");
        assert_eq!(report.messages, left.messages.len() as u64, "{report:?}");
        assert_eq!(report.torn.is_some(), !left.tail.is_empty(), "{report:?}");
        if let Some(torn) = &report.torn {
            let copy = torn.kept_as.as_ref().expect("a writer keeps a torn tail");
            let copy = std::fs::read(copy).expect("the copy can be read");
            assert!(copy == left.tail, "the copy of the torn tail is another");
        }
        let message = json!({"role": "user", "content": "go on"});
        conversation.append(&message).await.expect("the next append works");
        self.between += 1;
        report.torn.is_some()
    }

    /// Sweeps away what the strikes left behind, and checks that all that was acknowledged is shown.
    ///
    /// # Panics
    /// Where it is not.
    pub async fn finish(self) {
        let call = |args: &[&str]| attache(args).arg("--json").arg("--conversation").arg(&self.context).run();
        call(&["sweep", "--grace", "0s"]).expect_code(0);
        let audit = Audit::of(&self.context);
        audit.expect_whole("after the sweep");
        assert_eq!(audit.strangers, BTreeSet::new(), "private files of dead writers");
        let named: BTreeSet<_> = audit.references.iter().map(|reference| reference.sha256.clone()).collect();
        assert_eq!(audit.blobs, named);
        let report = call(&["check"]).expect_code(0).json();
        assert_eq!((&report["ok"], &report["orphaned"]), (&json!(true), &json!([])), "{report}");
        if self.work != Work::Large {
            let view = View::open(&self.context, OpenOptions::default()).await.expect("the log opens");
            let messages = view.render(RenderOptions::newest(1000)).await.expect("the log renders");
            let body = Value::from(messages).to_string();
            assert!(!body.contains("[image unavailable"), "{body}");
        }
    }
}
