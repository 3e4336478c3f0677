//! A work folder and a conversation for one test.

use std::fs;
use std::path::PathBuf;

use attache_tests::{Audit, Call, Finished, attache, message};
use serde_json::Value;
use tempfile::TempDir;

/// Paths on its command lines are relative to it, so that what is printed is the same everywhere.
pub(crate) struct Session {
    dir: TempDir,
}

impl Session {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        Self { dir }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.path("work").join(name)
    }

    pub(crate) fn context(&self) -> PathBuf {
        self.path("ctx")
    }

    pub(crate) fn blob(&self, sha256: &str) -> PathBuf {
        self.context().join("blobs").join(sha256)
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.context().join("conversation.jsonl")).unwrap()
    }

    /// Writes a file of the work folder.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.work(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// `attache` with these words, in the session's directory.
    pub(crate) fn call(&self, words: &str) -> Call {
        attache(words.split_whitespace()).current_dir(self.dir.path())
    }

    /// `attache` with these words, run.
    pub(crate) fn run(&self, words: &str) -> Finished {
        self.call(words).run()
    }

    /// What `attache WORDS -c ctx --json` prints, which has to end well.
    #[track_caller]
    pub(crate) fn json(&self, words: &str) -> Value {
        self.run(&format!("{words} -c ctx --json")).expect_code(0).json()
    }

    /// The same for a command without a conversation.
    #[track_caller]
    pub(crate) fn json_alone(&self, words: &str) -> Value {
        self.run(&format!("{words} --json")).expect_code(0).json()
    }

    /// Attaches entries that contain no white space.
    #[track_caller]
    pub(crate) fn attach(&self, words: &str) -> Value {
        self.json(&format!("attach --workdir work {words}"))
    }

    /// Attaches what a tool result names.
    #[track_caller]
    pub(crate) fn attach_result(&self, result: &Value, words: &str) -> Value {
        let call = self.call(&format!("attach -c ctx --workdir work --json --from - {words}"));
        call.stdin(result.to_string()).run().expect_code(0).json()
    }

    #[track_caller]
    pub(crate) fn append(&self, messages: &[Value]) -> Value {
        self.call("append -c ctx --json").stdin(message::lines(messages)).run().expect_code(0).json()
    }

    #[track_caller]
    pub(crate) fn render(&self, words: &str) -> Vec<Value> {
        self.json(&format!("render {words}")).as_array().unwrap().clone()
    }

    /// The content blocks of all rendered messages.
    #[track_caller]
    pub(crate) fn rendered_blocks(&self, words: &str) -> Vec<Value> {
        let content = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
        self.render(words).iter().flat_map(content).collect()
    }

    pub(crate) fn audit(&self) -> Audit {
        Audit::of(&self.context())
    }
}

/// The code that a refusal note ends in.
#[track_caller]
pub(crate) fn code_of(note: &Value) -> &str {
    let note = note.as_str().unwrap();
    let (_, code) = note.strip_suffix(')').and_then(|note| note.rsplit_once('(')).unwrap_or_else(|| panic!("{note}"));
    code
}

/// The codes and media types of a trace, in order.
pub(crate) fn outcomes(document: &Value) -> Vec<String> {
    let outcome = |entry: &Value| match entry["refused"].as_str() {
        Some(code) => code.to_owned(),
        None => entry["media_type"].as_str().unwrap().to_owned(),
    };
    document["attachments"].as_array().unwrap().iter().map(outcome).collect()
}

/// A PNG of 68 bytes or so whose header claims these sides.
pub(crate) fn png_claiming(width: u32, height: u32) -> Vec<u8> {
    let mut png = attache_tests::pictures::png(1, 1, 0);
    png[16..20].copy_from_slice(&width.to_be_bytes());
    png[20..24].copy_from_slice(&height.to_be_bytes());
    let crc = crc32fast::hash(&png[12..29]);
    png[29..33].copy_from_slice(&crc.to_be_bytes());
    png
}
