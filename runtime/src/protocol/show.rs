//! The way out: content blocks of ours, whatever form they are in, ready to be written in a protocol's.

use attache_blobstore::BlobStore;
use attache_conversation::{FileBlock, clean, file_block, render, unavailable_line};
use attache_media::MediaType;
use serde_json::{Value, json};

use crate::protocol::payload::respelled;

/// What is done with images.
#[derive(Clone, Copy)]
pub(super) enum Images<'s> {
    /// Records are read from the store.
    Read(&'s dyn BlobStore),
    /// The receiver takes none: a line tells of each, and nothing is read.
    Tell,
}

/// A block that every protocol has a form for.
#[derive(Debug, PartialEq)]
pub(super) enum Shown {
    Text(String),
    Image {
        media_type: MediaType,
        data: String,
    },
    /// An image elsewhere.
    Link {
        url: String,
    },
}

/// Takes the blocks apart, those of tool results included. What cannot be shown becomes a line.
pub(super) async fn show(blocks: &[Value], images: Images<'_>) -> Vec<Shown> {
    let mut flat = Vec::new();
    flatten(blocks, &mut flat);
    let mut records = rendered(&flat, images).await.into_iter();
    flat.into_iter()
        .map(|block| match (block, file_block(block)) {
            (Value::String(text), _) => Shown::Text(text.clone()),
            (_, None) => shown(block, images),
            (_, Some(_)) => records.next().map_or_else(|| Shown::Text(told(block)), |block| shown(&block, images)),
        })
        .filter(|shown| !matches!(shown, Shown::Text(text) if text.trim().is_empty()))
        .collect()
}

/// As a content block of MCP or ACP.
pub(super) fn to_block(shown: Shown) -> Value {
    match shown {
        Shown::Text(text) => json!({"type": "text", "text": text}),
        Shown::Image { media_type, data } => json!({"type": "image", "data": data, "mimeType": media_type.as_str()}),
        Shown::Link { url } => json!({"type": "resource_link", "uri": url, "name": "image"}),
    }
}

fn flatten<'b>(blocks: &'b [Value], flat: &mut Vec<&'b Value>) {
    for block in blocks {
        let is_result = block.get("type").and_then(Value::as_str) == Some("tool_result");
        match block.get("content").filter(|_| is_result) {
            None => flat.push(block),
            Some(Value::Array(inner)) => flatten(inner, flat),
            Some(one) => flat.push(one),
        }
    }
}

/// The records among the blocks as a driver gets them; none where they are not to be read.
async fn rendered(flat: &[&Value], images: Images<'_>) -> Vec<Value> {
    let Images::Read(store) = images else { return Vec::new() };
    let records: Vec<_> =
        flat.iter().filter(|block| file_block(block).is_some()).map(|block| (*block).clone()).collect();
    if records.is_empty() {
        return records;
    }
    let message = [json!({"role": "user", "content": records})];
    let rendered = render(&message, usize::MAX, store).await.pop().map(std::borrow::Cow::into_owned);
    let content = rendered.and_then(|mut message| message.get_mut("content").map(Value::take));
    match content {
        Some(Value::Array(blocks)) => blocks,
        _ => Vec::new(),
    }
}

/// A block that is no record.
fn shown(block: &Value, images: Images<'_>) -> Shown {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let kind = text(block, "type").unwrap_or_default();
    let source = block.get("source").unwrap_or(&Value::Null);
    match (kind.as_str(), text(block, "text"), text(source, "data"), text(source, "url")) {
        ("text", Some(text), ..) => Shown::Text(text),
        ("image", _, Some(data), _) => inline(&data, images),
        ("image", _, _, Some(url)) => Shown::Link { url },
        ("image", ..) => Shown::Text("[image left out: only the service that keeps it can show it]".to_owned()),
        _ => Shown::Text(format!("[left out: a block of the type \"{}\"]", clean(&kind))),
    }
}

/// The bytes decide the type on the way out too.
fn inline(data: &str, images: Images<'_>) -> Shown {
    match (respelled(data), images) {
        (None, _) => Shown::Text("[image left out: its data is none]".to_owned()),
        (Some((media_type, data)), Images::Read(_)) => Shown::Image { media_type, data },
        (Some((media_type, _)), Images::Tell) => Shown::Text(format!("[image not sent: {media_type}; {NO_IMAGES}]")),
    }
}

const NO_IMAGES: &str = "the receiver takes no images";

/// The line of a record that is not read.
fn told(block: &Value) -> String {
    match file_block(block) {
        Some(FileBlock::Record(record)) => {
            let media_type = clean(record.media_type.as_str());
            let sha256 = clean(&record.sha256.to_string());
            format!("[image not sent: {media_type}, {} bytes, sha256 {sha256}; {NO_IMAGES}]", record.bytes)
        }
        Some(FileBlock::Malformed { media_type, bytes, sha256 }) => unavailable_line(&media_type, &bytes, &sha256),
        None => String::new(),
    }
}
