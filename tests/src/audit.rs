//! What a context directory holds, read without any of attache's own code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The sha256 as it stands in records and blob names.
pub fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// A record of an image in the log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    /// The recorded sha256.
    pub sha256: String,
    /// The recorded length.
    pub bytes: u64,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    /// The messages of all whole lines, in order.
    pub messages: Vec<Value>,
    /// Each image record of those messages.
    pub references: BTreeSet<Reference>,
    /// What stands after the last newline.
    pub tail: Vec<u8>,
    /// Names in `blobs/` that are blobs.
    pub blobs: BTreeSet<String>,
    /// Names in `blobs/` that are something else.
    pub strangers: BTreeSet<String>,
    /// The copies of torn tails.
    pub torn_copies: Vec<PathBuf>,
    /// Everything that breaks a promise: whole lines that are no JSON, references that do not resolve to the right
    /// bytes.
    pub faults: Vec<String>,
    /// Blobs with other bytes than their name says, which no record names. Only where a file system cannot rename
    /// may a failed write leave one.
    pub unnamed_damage: BTreeSet<String>,
}

impl Audit {
    /// Reads everything there is.
    ///
    /// # Panics
    /// Where the directory cannot be read.
    pub fn of(context: &Path) -> Self {
        let mut audit = Self::default();
        audit.read_log(context);
        audit.read_blobs(&context.join("blobs"));
        audit.resolve(&context.join("blobs"));
        audit.torn_copies = names(context)
            .into_iter()
            .filter(|name| name.starts_with("conversation.jsonl.torn-"))
            .map(|name| context.join(name))
            .collect();
        audit
    }

    /// Asserts that no promise is broken, and that no blob is damaged even if nobody names it.
    ///
    /// # Panics
    /// Where one is.
    #[track_caller]
    pub fn expect_whole(&self, when: &str) -> &Self {
        assert!(self.unnamed_damage.is_empty(), "{when}: damaged blobs {:#?}", self.unnamed_damage);
        self.expect_records_whole(when)
    }

    /// Asserts that no promise is broken.
    ///
    /// # Panics
    /// Where one is.
    #[track_caller]
    pub fn expect_records_whole(&self, when: &str) -> &Self {
        assert!(self.faults.is_empty(), "{when}: {:#?}", self.faults);
        self
    }

    fn read_log(&mut self, context: &Path) {
        let Ok(log) = fs::read(context.join("conversation.jsonl")) else { return };
        let end = log.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        self.tail = log[end..].to_vec();
        for (number, line) in (1..).zip(log[..end].split_inclusive(|byte| *byte == b'\n')) {
            match serde_json::from_slice::<Value>(line) {
                Ok(value) if value["role"].is_string() => {
                    self.collect_references(&value);
                    self.messages.push(value);
                }
                Ok(_) => {}
                Err(error) => self.faults.push(format!("line {number} is no JSON: {error}")),
            }
        }
    }

    fn collect_references(&mut self, value: &Value) {
        let source = &value["source"];
        if value["type"] == "image"
            && source["type"] == "file"
            && let (Some(sha256), Some(bytes)) = (source["sha256"].as_str(), source["bytes"].as_u64())
        {
            self.references.insert(Reference { sha256: sha256.to_owned(), bytes });
        }
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.collect_references(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.collect_references(field)),
            _ => {}
        }
    }

    fn read_blobs(&mut self, blobs: &Path) {
        for name in names(blobs) {
            let is_blob = name.len() == 64 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if is_blob {
                self.blobs.insert(name);
            } else {
                self.strangers.insert(name);
            }
        }
    }

    fn resolve(&mut self, blobs: &Path) {
        for name in &self.blobs {
            let bytes = fs::read(blobs.join(name)).unwrap_or_else(|error| panic!("blob {name}: {error}"));
            let lengths: Vec<_> = self.references.iter().filter(|found| found.sha256 == *name).collect();
            if sha256(&bytes) != *name {
                if lengths.is_empty() {
                    self.unnamed_damage.insert(name.clone());
                } else {
                    self.faults.push(format!("the {} bytes of blob {name} are others", bytes.len()));
                }
            }
            let wrong = lengths.into_iter().filter(|found| found.bytes != bytes.len() as u64);
            self.faults.extend(wrong.map(|found| format!("{found:?}, but the blob has {} bytes", bytes.len())));
        }
        let missing = self.references.iter().filter(|reference| !self.blobs.contains(&reference.sha256));
        self.faults.extend(missing.map(|reference| format!("{reference:?} has no blob")));
    }
}

fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry can be read").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// An oracle that sees nothing would pass everything.
    #[test]
    fn each_broken_promise_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let context = dir.path();
        fs::create_dir(context.join("blobs")).unwrap();
        let [good, gone, bad] = ["good", "gone", "bad"].map(|text| sha256(text.as_bytes()));
        let record = |sha: &str, bytes: u64| json!({"type": "image", "source": {"type": "file", "sha256": sha, "media_type": "", "bytes": bytes}});
        let nested = json!({"type": "tool_result", "content": [record(&gone, 4)]});
        let message = json!({"role": "user", "content": [record(&good, 4), record(&good, 5), record(&bad, 3), nested]});
        fs::write(context.join("conversation.jsonl"), format!("{message}\n{{\"role\":\n{{\"ro")).unwrap();
        fs::write(context.join("blobs").join(&good), b"good").unwrap();
        fs::write(context.join("blobs").join(&bad), b"dab").unwrap();
        fs::write(context.join("blobs").join(sha256(b"other")), b"good").unwrap();
        fs::write(context.join("blobs/.tmp-1-2"), b"").unwrap();
        fs::write(context.join("conversation.jsonl.torn-1"), b"").unwrap();

        let audit = Audit::of(context);
        assert_eq!((audit.messages.len(), audit.references.len()), (1, 4));
        assert_eq!(audit.tail, b"{\"ro");
        assert_eq!(audit.strangers, BTreeSet::from([".tmp-1-2".to_owned()]));
        assert_eq!(audit.torn_copies.len(), 1);
        assert_eq!(audit.unnamed_damage, BTreeSet::from([sha256(b"other")]));
        let faults = audit.faults.join("\n");
        assert_eq!(audit.faults.len(), 4, "{faults}");
        for part in ["line 2 is no JSON", "but the blob has 4 bytes", "are others", "has no blob"] {
            assert!(faults.contains(part), "{part}: {faults}");
        }
    }
}
