//! The Model Context Protocol: the results of servers' tools, revisions 2024-11-05 to 2026-07-28, and what servers
//! return in their place.

use attache_blobstore::BlobStore;
use serde_json::{Map, Value};

use crate::protocol::content::{block, list, resource};
use crate::protocol::lift::lift;
use crate::protocol::plan::{Item, Json, Plan};
use crate::protocol::show::{Images, show, to_block};
use crate::protocol::taken::Taken;
use crate::settings::Settings;

/// Takes the result of a tool call (or of reading a resource), whole or in its JSON-RPC response.
///
/// Every image is taken once: image blocks, blobs of embedded resources, and images in structured content or in blocks
/// of no known shape. Labels are hints; the bytes decide. What is not an image becomes text or a note in its place:
/// nothing is dropped silently, except for what the protocol does not mean for models (`_meta`, annotations, icons).
///
/// Text stays as it is, also where it holds a data URL. Left out with a note are base64 of more than 1024 characters in
/// one run (16 384 in all where it is the data of URLs, or wrapped into lines), JSON of no known shape beyond 64 KiB, and
/// text beyond 1 MiB in all; a text that is an image as a whole, and too long to stay, becomes one.
///
/// The limit of a turn does not apply.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use attache_runtime::{MemoryStore, Settings, mcp};
/// use serde_json::json;
///
/// let result = json!({
///     "content": [
///         {"type": "text", "text": "Here it is."},
///         {"type": "image", "data": "R0lGODlh", "mimeType": "image/JPEG"},
///         {"type": "audio", "data": "UklGRgAAAABXQVZF", "mimeType": "audio/wav"},
///     ],
///     "structuredContent": {"width": 8},
/// });
/// let taken = mcp::take_result(&result, &MemoryStore::new(), &Settings::default()).await;
/// let blocks = taken.blocks();
/// assert_eq!(blocks[0]["text"], "Here it is.");
/// assert_eq!(blocks[1]["source"]["media_type"], "image/gif");
/// assert!(blocks[2]["text"].as_str().unwrap().starts_with("attachment 'audio 2' was not attached: it is audio"));
/// assert_eq!(blocks[3]["text"], r#"{"width":8}"#);
/// # });
/// ```
pub async fn take_result(result: &Value, store: &dyn BlobStore, settings: &Settings) -> Taken {
    let mut plan = Plan::default();
    let response = result.as_object().filter(|fields| fields.contains_key("jsonrpc"));
    whole(&mut plan, response.and_then(|fields| fields.get("result")).unwrap_or(result));
    plan.settle(store, settings).await
}

/// Takes a list of content blocks, as [`take_result`] does those of a result.
pub async fn take_content(content: &[Value], store: &dyn BlobStore, settings: &Settings) -> Taken {
    let mut plan = Plan::default();
    for (n, value) in content.iter().enumerate() {
        block(&mut plan, &format!("content/{n}"), value);
    }
    plan.settle(store, settings).await
}

/// Makes content blocks of ours into MCP's: text and images. Records are read from the store; what cannot be shown
/// becomes the line that says so, and a block that MCP has no form for a line that names it.
pub async fn to_content(blocks: &[Value], store: &dyn BlobStore) -> Vec<Value> {
    let shown = show(blocks, Images::Read(store)).await;
    shown.into_iter().map(to_block).collect()
}

/// The fields of results that are the protocol's own business.
const OURS: [&str; 11] = [
    "content",
    "contents",
    "structuredContent",
    "isError",
    "_meta",
    "resultType",
    "nextCursor",
    "ttlMs",
    "cacheScope",
    "jsonrpc",
    "id",
];

fn whole<'a>(plan: &mut Plan<'a>, result: &'a Value) {
    let Some(fields) = result.as_object().filter(|fields| OURS[..3].iter().any(|key| fields.contains_key(*key))) else {
        // A lone block, a list of blocks, or an object that was meant as structured content.
        return list(plan, "content", result);
    };
    plan.is_error = fields.get("isError").and_then(Value::as_bool);
    let structured = fields.get("structuredContent").filter(|value| !value.is_null());
    let lifted = structured.map(|value| lift(plan, "structuredContent", value.clone()));
    let content = fields.get("content").unwrap_or(&Value::Null);
    let repeats = structured.map(|structured| Repeats::find(structured, content)).unwrap_or_default();
    // Where it holds images, it is shown without them, and the texts that repeat it with them are not shown.
    let instead = lifted.as_ref().is_some_and(|lifted| !lifted.places.is_empty() || lifted.left_out > 0);
    match content {
        Value::Array(blocks) => {
            let shown = blocks.iter().enumerate().filter(|(n, _)| !(instead && repeats.blocks.contains(n)));
            for (n, value) in shown {
                block(plan, &format!("content/{n}"), value);
            }
        }
        other => list(plan, "content", other),
    }
    if let Some(contents) = fields.get("contents") {
        read(plan, contents);
    }
    if let Some(lifted) = lifted {
        plan.items.push(Item::Json(Json { lifted, show: instead || !repeats.all, structured: true }));
    }
    let extras: Map<_, _> = fields.iter().filter(|(key, _)| !OURS.contains(&key.as_str())).map(owned).collect();
    if !extras.is_empty() {
        plan.json("result", Value::Object(extras), true);
    }
}

fn owned((key, value): (&String, &Value)) -> (String, Value) {
    (key.clone(), value.clone())
}

/// What reading a resource gives.
fn read<'a>(plan: &mut Plan<'a>, contents: &'a Value) {
    for (n, value) in contents.as_array().into_iter().flatten().enumerate() {
        let at = format!("contents/{n}");
        match value {
            Value::Object(fields) if fields.contains_key("uri") => resource(plan, &at, fields),
            other => block(plan, &at, other),
        }
    }
}

/// The text blocks that say what the structured content says: servers send them for clients that know no structured
/// content.
#[derive(Debug, Default, PartialEq)]
struct Repeats {
    /// Which blocks they are.
    blocks: Vec<usize>,
    /// Whether they say all of it.
    all: bool,
}

impl Repeats {
    /// One text repeats the whole, or, where the server's library wrapped a list or a text into `{"result": …}`, one text
    /// each repeats an element.
    fn find(structured: &Value, content: &Value) -> Self {
        let wrapped = structured.as_object().filter(|fields| fields.len() == 1).and_then(|fields| fields.get("result"));
        let elements = wrapped.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let mut repeats = Self::default();
        let mut found = 0;
        for (n, text) in texts(content) {
            let value = serde_json::from_str::<Value>(text).ok();
            let says = |whole: &Value| whole.as_str() == Some(text) || value.as_ref() == Some(whole);
            let is_whole = says(structured) || wrapped.is_some_and(says);
            let is_next = elements.get(found).is_some_and(says);
            found += usize::from(is_next);
            if is_whole || is_next {
                repeats.blocks.push(n);
            }
            repeats.all |= is_whole || (is_next && found == elements.len());
        }
        repeats
    }
}

fn texts(content: &Value) -> impl Iterator<Item = (usize, &str)> {
    let blocks = content.as_array().into_iter().flatten().enumerate();
    blocks.filter_map(|(n, block)| {
        (block.get("type")?.as_str()? == "text").then_some(())?;
        Some((n, block.get("text")?.as_str()?))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_that_repeat_the_structured_content_are_known() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let rows = json!({"result": [{"a": 1}, "two"]});
        for (structured, content, blocks, all) in [
            (json!({"a": 1}), json!([text("x"), text("{ \"a\": 1 }")]), vec![1], true),
            (json!({"a": 1}), json!([text("{\"a\": 2}")]), vec![], false),
            (json!({"result": "done"}), json!([text("done")]), vec![0], true),
            (json!({"result": 3}), json!([text("3")]), vec![0], true),
            (rows.clone(), json!([text("{\"a\":1}"), {"type": "image"}, text("two")]), vec![0, 2], true),
            (rows.clone(), json!([text("{\"a\":1}")]), vec![0], false),
            (rows.clone(), json!([text(&rows.to_string())]), vec![0], true),
            (json!({"result": []}), json!([]), vec![], false),
            (json!({"a": 1}), json!("{\"a\":1}"), vec![], false),
        ] {
            assert_eq!(Repeats::find(&structured, &content), Repeats { blocks, all }, "{structured} {content}");
        }
    }
}
