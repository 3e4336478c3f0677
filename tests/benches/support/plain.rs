//! The plain implementation that attache is measured against: what a careful runtime does that thinks of correctness
//! and not of this. Its bodies are the same bytes.
//!
//! It holds the conversation as values. A render clones them, puts a base64 string in the place of every image that
//! is shown and a line in the place of the others, and serialises the whole. An accept reads the file, hashes it to
//! check it and again to store it, writes a temporary file and renames it, and hands the messages on as a copy.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use attache_conversation::aged_line;
use attache_media::{MediaType, sniff};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A conversation in memory, and the folder of its blobs.
#[derive(Debug)]
pub(crate) struct Plain {
    pub(crate) messages: Vec<Value>,
    blobs: PathBuf,
}

impl Plain {
    /// Reads the log in `dir`, line by line, into values.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let log = fs::read_to_string(dir.join("conversation.jsonl"))?;
        let values = log.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        let messages = values.into_iter().filter(|value| value.get("role").is_some_and(Value::is_string)).collect();
        Ok(Self { messages, blobs: dir.join("blobs") })
    }

    /// An empty conversation with its blobs in `dir`.
    pub(crate) fn new(dir: &Path) -> io::Result<Self> {
        let blobs = dir.join("blobs");
        fs::create_dir_all(&blobs)?;
        Ok(Self { messages: Vec::new(), blobs })
    }

    /// The request body that shows the newest `keep` images.
    pub(crate) fn render(&self, keep: usize) -> io::Result<Vec<u8>> {
        let mut messages = self.messages.clone();
        let mut images: Vec<&mut Value> = Vec::new();
        for message in &mut messages {
            collect_images(message, &mut images);
        }
        let aged = images.len().saturating_sub(keep);
        for (at, image) in images.into_iter().enumerate() {
            *image = if at < aged { aged_block(image, keep) } else { self.shown_block(image)? };
        }
        Ok(serde_json::to_vec(&messages)?)
    }

    fn shown_block(&self, image: &Value) -> io::Result<Value> {
        let source = &image["source"];
        let (sha256, media_type) = (text(source, "sha256"), text(source, "media_type"));
        let bytes = fs::read(self.blobs.join(sha256))?;
        let whole = source["bytes"] == bytes.len() && digest(&bytes) == sha256;
        if !whole || sniff(&bytes).map(MediaType::as_str) != Some(media_type) {
            return Err(io::Error::other("a blob is damaged"));
        }
        let data = BASE64_STANDARD.encode(&bytes);
        Ok(json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}}))
    }

    /// Takes the files a tool named as its result: checks and stores each, appends one message, and returns the
    /// messages for the next request.
    pub(crate) fn accept(&mut self, paths: &[PathBuf], max_bytes: u64) -> io::Result<Vec<Value>> {
        let mut content = vec![json!({"type": "text", "text": "done"})];
        for path in paths {
            content.push(self.accept_one(path, max_bytes)?);
        }
        self.messages.push(json!({"role": "tool", "tool_call_id": "call", "content": content}));
        Ok(self.messages.clone())
    }

    fn accept_one(&self, path: &Path, max_bytes: u64) -> io::Result<Value> {
        let bytes = fs::read(path)?;
        let media_type = sniff(&bytes).filter(|_| bytes.len() as u64 <= max_bytes);
        let media_type = media_type.ok_or_else(|| io::Error::other("not an image that is accepted"))?;
        // The reader names what it read …
        let sha256 = digest(&bytes);
        let stored = self.store(&bytes)?;
        if stored != sha256 {
            return Err(io::Error::other("the bytes changed on their way"));
        }
        let source = json!({"type": "file", "sha256": sha256, "media_type": media_type.as_str(), "bytes": bytes.len()});
        Ok(json!({"type": "image", "source": source}))
    }

    /// … and the store, which trusts nobody, names it again.
    fn store(&self, bytes: &[u8]) -> io::Result<String> {
        let sha256 = digest(bytes);
        let path = self.blobs.join(&sha256);
        if !path.exists() {
            let temporary = self.blobs.join(format!("{sha256}.tmp"));
            fs::write(&temporary, bytes)?;
            fs::rename(&temporary, &path)?;
        }
        Ok(sha256)
    }
}

/// The image blocks of a message, and of the tool results in it, in order.
fn collect_images<'a>(holder: &'a mut Value, images: &mut Vec<&'a mut Value>) {
    let Some(content) = holder.get_mut("content").and_then(Value::as_array_mut) else { return };
    for block in content {
        match text(block, "type") {
            "image" if text(&block["source"], "type") == "file" => images.push(block),
            "tool_result" => collect_images(block, images),
            _ => {}
        }
    }
}

fn aged_block(image: &Value, keep: usize) -> Value {
    let source = &image["source"];
    let bytes = source["bytes"].as_u64().unwrap_or(0);
    json!({"type": "text", "text": aged_line(text(source, "media_type"), bytes, text(source, "sha256"), keep)})
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn digest(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
