//! The Agent2Agent protocol: the parts of messages and artifacts, versions 0.3 and 1.0.

use attache_blobstore::BlobStore;
use attache_media::MediaType;
use serde_json::{Map, Value, json};

use crate::protocol::content::{block, rest};
use crate::protocol::lift::TYPE_KEYS;
use crate::protocol::payload::{Kind, is_image_url, link};
use crate::protocol::plan::Plan;
use crate::protocol::show::{Images, Shown, show};
use crate::protocol::taken::Taken;
use crate::settings::Settings;

/// How parts are written down. Each version's readers refuse the other's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Version {
    /// `{"kind":"file","file":{"bytes":…,"mimeType":…}}`
    V0_3,
    /// `{"raw":…,"mediaType":…}`
    V1_0,
}

/// Takes one part, of either version.
pub async fn take_part(part: &Value, store: &dyn BlobStore, settings: &Settings) -> Taken {
    take_parts(std::slice::from_ref(part), store, settings).await
}

/// Takes the parts of a message or artifact, of either version. A file with bytes is an image if its bytes are, whatever
/// its media type says; a text file becomes text; any other is refused with a note, and so is a `url`, which is never
/// fetched. Images in the JSON of a data part are shown beside it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use attache_runtime::{MemoryStore, Settings, a2a};
/// use serde_json::json;
///
/// let parts = [
///     json!({"raw": "R0lGODlh", "filename": "a.gif"}),
///     json!({"url": "https://example.org/b.png", "filename": "b.png", "mediaType": "image/png"}),
/// ];
/// let taken = a2a::take_parts(&parts, &MemoryStore::new(), &Settings::default()).await;
/// assert_eq!(taken.blocks()[0]["source"]["media_type"], "image/gif");
/// assert_eq!(
///     taken.notes().next().unwrap().as_str(),
///     "attachment 'b.png' was not attached: it is a link (\"https://example.org/b.png\"), \
///      and links are not fetched (malformed)"
/// );
/// # });
/// ```
pub async fn take_parts(parts: &[Value], store: &dyn BlobStore, settings: &Settings) -> Taken {
    let mut plan = Plan::default();
    for (n, part) in parts.iter().enumerate() {
        take(&mut plan, &format!("part {}", n + 1), part);
    }
    plan.settle(store, settings).await
}

/// Makes content blocks of ours into parts. Records are read from the store; what cannot be shown becomes the line that
/// says so, and a block that A2A has no form for a line that names it.
pub async fn to_parts(blocks: &[Value], version: Version, store: &dyn BlobStore) -> Vec<Value> {
    let shown = show(blocks, Images::Read(store)).await;
    shown.into_iter().map(|shown| part(shown, version)).collect()
}

fn part(shown: Shown, version: Version) -> Value {
    match (shown, version) {
        (Shown::Text(text), Version::V0_3) => json!({"kind": "text", "text": text}),
        (Shown::Text(text), Version::V1_0) => json!({"text": text}),
        (Shown::Image { media_type, data }, Version::V0_3) => {
            json!({"kind": "file", "file": {"bytes": data, "mimeType": media_type.as_str(), "name": file_name(media_type)}})
        }
        (Shown::Image { media_type, data }, Version::V1_0) => {
            json!({"raw": data, "mediaType": media_type.as_str(), "filename": file_name(media_type)})
        }
        (Shown::Link { url }, Version::V0_3) => json!({"kind": "file", "file": {"uri": url}}),
        (Shown::Link { url }, Version::V1_0) => json!({"url": url}),
    }
}

/// Receivers store files by name and open them by its ending.
fn file_name(media_type: MediaType) -> String {
    format!("image.{}", media_type.extension())
}

/// One part: in version 0.3 with the file in an object of its own, in version 1.0 flat.
fn take<'a>(plan: &mut Plan<'a>, at: &str, part: &'a Value) {
    // Neither version has a `type`: it is a block of some other protocol.
    let Some(fields) = part.as_object().filter(|fields| !fields.contains_key("type")) else {
        return block(plan, at, part);
    };
    let text = fields.get("text").and_then(Value::as_str);
    let inner = fields.get("file").and_then(Value::as_object);
    let file = inner.unwrap_or(fields);
    let data = fields.get("data");
    if let Some(text) = text {
        plan.text(at, text);
    }
    let has_file = take_file(plan, at, file);
    if let Some(data) = data {
        plan.json(at, data.clone(), true);
    }
    if !has_file && text.is_none() && data.is_none() {
        return block(plan, at, part);
    }
    rest(plan, at, fields, &KEYS);
    if let Some(file) = inner {
        rest(plan, &format!("{at}/file"), file, &KEYS);
    }
}

/// The keys of parts and files, in any version and spelling.
const KEYS: [&str; 20] = [
    "kind",
    "text",
    "file",
    "data",
    "metadata",
    "raw",
    "bytes",
    "fileWithBytes",
    "file_with_bytes",
    "url",
    "uri",
    "fileWithUri",
    "file_with_uri",
    "filename",
    "name",
    "mimeType",
    "mime_type",
    "mediaType",
    "media_type",
    "extensions",
];

/// The file of a part, if it has one: bytes, or a link to them.
fn take_file<'a>(plan: &mut Plan<'a>, at: &str, file: &'a Map<String, Value>) -> bool {
    let text = |keys: &[&str]| keys.iter().find_map(|key| file.get(*key)?.as_str());
    let name = text(&["filename", "name"]).filter(|name| !name.trim().is_empty()).unwrap_or(at).to_owned();
    let label = text(&TYPE_KEYS).unwrap_or_default();
    let bytes = text(&["raw", "bytes", "fileWithBytes", "file_with_bytes"]);
    let url = text(&["url", "uri", "fileWithUri", "file_with_uri"]);
    match (bytes, url) {
        (Some(bytes), _) => plan.slot(name, label, Kind::File, bytes),
        (None, Some(url)) if is_image_url(url) => plan.slot(name, label, Kind::Image, url),
        (None, Some(url)) => plan.refuse(name, label, link(url)),
        (None, None) => return false,
    }
    true
}
