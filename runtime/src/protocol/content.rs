//! The content blocks that MCP and ACP have in common, and whatever servers make of them.

use attache_conversation::{Refusal, RefusalCode};
use serde_json::{Map, Value};

use crate::protocol::lift::{is_image_kind, lift, says_more};
use crate::protocol::payload::{Kind, is_image, is_image_label, is_image_url, link};
use crate::protocol::plan::{Item, Json, Plan, quoted};

/// A list of blocks, or what stands for one.
pub(super) fn list<'a>(plan: &mut Plan<'a>, at: &str, value: &'a Value) {
    match value {
        Value::Array(blocks) => {
            for (n, value) in blocks.iter().enumerate() {
                block(plan, &format!("{at}/{n}"), value);
            }
        }
        one => block(plan, at, one),
    }
}

/// One block.
pub(super) fn block<'a>(plan: &mut Plan<'a>, at: &str, value: &'a Value) {
    let fields = match value {
        Value::Null => return,
        Value::String(text) => return plan.text(at, text),
        Value::Object(fields) => fields,
        other => return odd(plan, at, other),
    };
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let label = text("mimeType").unwrap_or_default();
    let known: &[&str] = match (text("type").unwrap_or_default(), fields.get("resource"), text("data"), text("uri")) {
        ("text", ..) if text("text").is_some() => {
            plan.text(at, text("text").unwrap_or_default());
            &["text"]
        }
        ("image", _, Some(data), uri) => {
            let name = uri.map_or_else(|| plan.next_name("image"), quoted);
            plan.slot(name, label, Kind::Image, data);
            &["data", "mimeType", "uri"]
        }
        ("audio", _, Some(data), _) => {
            let name = plan.next_name("audio");
            plan.slot(name, label, Kind::Audio, data);
            &["data", "mimeType"]
        }
        ("resource", Some(Value::Object(inner)), ..) => {
            resource(plan, &format!("{at}/resource"), inner);
            &["resource"]
        }
        ("resource_link", _, _, Some(uri)) => {
            resource_link(plan, fields, uri);
            &["uri", "name", "title", "description", "mimeType", "size", "icons"]
        }
        _ => return odd(plan, at, value),
    };
    rest(plan, at, fields, known);
}

/// The contents of a resource: text, or a file as base64.
pub(super) fn resource<'a>(plan: &mut Plan<'a>, at: &str, fields: &'a Map<String, Value>) {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let (uri, label) = (text("uri").unwrap_or_default(), text("mimeType").unwrap_or_default());
    let name = |plan: &mut Plan<'_>| if uri.trim().is_empty() { plan.next_name("resource") } else { quoted(uri) };
    match (text("blob"), text("text")) {
        (None, None) if is_image_url(uri) => {
            let name = plan.next_name("resource");
            plan.slot(name, label, Kind::Image, uri);
        }
        (None, None) if ["blob", "text"].iter().any(|key| fields.contains_key(*key)) => {
            return plan.json(at, Value::Object(fields.clone()), true);
        }
        (None, None) => plan.resource("resource without content", &[uri, label]),
        (blob, text) => {
            if let Some(blob) = blob {
                let name = name(plan);
                plan.slot(name, label, Kind::File, blob);
            }
            match text {
                None => {}
                Some(text) if is_image_label(label) && (is_image_url(text) || is_image(text)) => {
                    let name = name(plan);
                    plan.slot(name, label, Kind::Image, text);
                }
                Some(text) => {
                    plan.resource("resource", &[uri, label]);
                    plan.text(at, text);
                }
            }
        }
    }
    rest(plan, at, fields, &["uri", "mimeType", "blob", "text", "name", "title", "size"]);
}

/// A link is told, and left to the model to follow by the means it has.
fn resource_link<'a>(plan: &mut Plan<'a>, fields: &'a Map<String, Value>, uri: &'a str) {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = text("name");
    if is_image_url(uri) {
        let name = if name.trim().is_empty() { plan.next_name("image") } else { name.to_owned() };
        return plan.slot(name, text("mimeType"), Kind::Image, uri);
    }
    let size = fields.get("size").and_then(Value::as_u64).map(|size| format!("{size} bytes")).unwrap_or_default();
    let details = [name, uri, text("mimeType"), &size, text("title"), text("description")];
    plan.resource("resource link, not fetched", &details);
}

/// A block of no known shape: its images, and the rest of it as JSON if that says anything.
fn odd<'a>(plan: &mut Plan<'a>, at: &str, value: &'a Value) {
    let lifted = lift(plan, at, value.clone());
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if lifted.places.is_empty() && is_image_kind(text("type").unwrap_or_default()) {
        let url = text("url").or_else(|| value.get("source")?.get("url")?.as_str()).or_else(|| text("uri"));
        let url = url.or_else(|| text("image_url")).or_else(|| value.get("image_url")?.get("url")?.as_str());
        let no_data = || Refusal::new(RefusalCode::Malformed, "the block has no base64 data");
        let name = plan.next_name("image");
        plan.refuse(name, text("mimeType").unwrap_or_default(), url.map_or_else(no_data, link));
    }
    let show = lifted.places.is_empty() || says_more(&lifted);
    plan.items.push(Item::Json(Json { lifted, show, structured: false }));
}

/// What else an object of a known shape holds: images in it are taken, all else is the protocol's own business.
pub(super) fn rest(plan: &mut Plan<'_>, at: &str, fields: &Map<String, Value>, known: &[&str]) {
    const ALWAYS: [&str; 3] = ["type", "annotations", "_meta"];

    let is_known = |key: &str| known.contains(&key) || ALWAYS.contains(&key);
    if fields.keys().all(|key| is_known(key)) {
        return;
    }
    let others = fields.iter().filter(|(key, _)| !is_known(key));
    let others = others.map(|(key, value)| (key.clone(), value.clone())).collect();
    let lifted = lift(plan, at, Value::Object(others));
    if !lifted.places.is_empty() {
        plan.items.push(Item::Json(Json { lifted, show: false, structured: false }));
    }
}
