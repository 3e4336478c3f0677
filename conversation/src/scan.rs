//! Finds what matters in one line of a log without building its values: who speaks, and where its images stand.
//!
//! A log may hold gigabytes of text and a few thousand images. Each line is checked to be JSON, but only blocks that
//! may be images are looked into, and what is kept of them is their position.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::record::{FileBlock, file_block};

/// Deepest nesting of arrays and objects in a message. `serde_json` reads 128 levels, a request body adds a few.
pub(crate) const MAX_DEPTH: usize = 120;

/// What a line of a log is.
#[derive(Debug)]
pub(crate) enum Line {
    /// An object with a string `role`.
    Message(Scan),
    /// An object without one whose `type` begins with `attache.`.
    Ours(Value),
    /// Any other JSON.
    Other,
}

/// Who speaks, as far as ageing cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Assistant,
    User,
    Other,
}

/// What was found in a message.
#[derive(Debug)]
pub(crate) struct Scan {
    pub(crate) role: Role,
    pub(crate) blocks: Vec<FoundBlock>,
}

/// A block at bytes `start..end` of its line.
#[derive(Debug)]
pub(crate) struct FoundBlock {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) found: Found,
}

/// The blocks that attache does something about.
#[derive(Debug)]
pub(crate) enum Found {
    File(FileBlock),
    /// An image whose bytes stand in the message as base64.
    Inline,
    /// A `text` block of no characters, which model services refuse.
    EmptyText,
}

/// Which blocks to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Only references: what a stored line is indexed by.
    ForFiles,
    /// All of [`Found`]: what has to be put right before a line is stored.
    ForAll,
}

/// Reads one line.
///
/// # Errors
/// Why it is not JSON that attache can carry, in plain words.
pub(crate) fn scan_line(line: &str, look: Look) -> Result<Line, String> {
    if may_be_too_deep(line) && depth(line) > MAX_DEPTH {
        return Err(format!("nested deeper than {MAX_DEPTH} levels"));
    }
    if !line.trim_start().starts_with('{') {
        serde_json::from_str::<IgnoredAny>(line).map_err(|error| plain(&error))?;
        return Ok(Line::Other);
    }
    let fields: Fields = serde_json::from_str(line).map_err(|error| plain(&error))?;
    if let Some(role) = fields.role.and_then(string) {
        let role = match role.as_str() {
            "assistant" => Role::Assistant,
            "user" => Role::User,
            _ => Role::Other,
        };
        let blocks = fields.content.map_or_else(Vec::new, |content| find_blocks(line, content, look));
        return Ok(Line::Message(Scan { role, blocks }));
    }
    let is_ours = fields.kind.and_then(string).is_some_and(|kind| kind.starts_with("attache."));
    if is_ours { serde_json::from_str(line).map(Line::Ours).map_err(|error| plain(&error)) } else { Ok(Line::Other) }
}

fn find_blocks(line: &str, content: &RawValue, look: Look) -> Vec<FoundBlock> {
    let mut blocks = Vec::new();
    if look == Look::ForAll || may_hold_image(content.get()) {
        collect(line, content, look, Depth::Message, &mut blocks);
    }
    blocks
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Message,
    ToolResult,
}

fn collect(line: &str, content: &RawValue, look: Look, depth: Depth, into: &mut Vec<FoundBlock>) {
    let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(content.get()) else { return };
    for item in items.into_iter().filter(|item| item.get().starts_with('{')) {
        let Ok(fields) = serde_json::from_str::<Fields>(item.get()) else { continue };
        let found = match fields.kind.and_then(string).as_deref() {
            Some("image") => image(item, &fields, look),
            Some("text") if look == Look::ForAll => empty_text(&fields),
            Some("tool_result") if depth == Depth::Message => {
                if let Some(inner) = fields.content {
                    collect(line, inner, look, Depth::ToolResult, into);
                }
                None
            }
            _ => None,
        };
        if let Some(found) = found {
            let start = offset_in(line, item.get());
            into.push(FoundBlock { start, end: start + item.get().len(), found });
        }
    }
}

fn image(block: &RawValue, fields: &Fields<'_>, look: Look) -> Option<Found> {
    let source: Fields = serde_json::from_str(fields.source?.get()).ok()?;
    match source.kind.and_then(string)?.as_str() {
        "file" => {
            let block: Value = serde_json::from_str(block.get()).ok()?;
            file_block(&block).map(Found::File)
        }
        "base64" if look == Look::ForAll => Some(Found::Inline),
        _ => None,
    }
}

fn empty_text(fields: &Fields<'_>) -> Option<Found> {
    (fields.text?.get() == "\"\"").then_some(Found::EmptyText)
}

/// The fields that any object of a message may have and attache reads, still as text. As in every JSON map of this
/// library, the last of equal keys counts.
#[derive(Default)]
struct Fields<'a> {
    role: Option<&'a RawValue>,
    kind: Option<&'a RawValue>,
    content: Option<&'a RawValue>,
    source: Option<&'a RawValue>,
    text: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;
        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields<'de>, A::Error> {
                let mut fields = Fields::default();
                while let Some(key) = map.next_key::<Key>()? {
                    let field = match key {
                        Key::Role => &mut fields.role,
                        Key::Type => &mut fields.kind,
                        Key::Content => &mut fields.content,
                        Key::Source => &mut fields.source,
                        Key::Text => &mut fields.text,
                        Key::Other => {
                            map.next_value::<IgnoredAny>()?;
                            continue;
                        }
                    };
                    *field = Some(map.next_value()?);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(FieldsVisitor)
    }
}

enum Key {
    Role,
    Type,
    Content,
    Source,
    Text,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E>(self, key: &str) -> Result<Key, E> {
                Ok(match key {
                    "role" => Key::Role,
                    "type" => Key::Type,
                    "content" => Key::Content,
                    "source" => Key::Source,
                    "text" => Key::Text,
                    _ => Key::Other,
                })
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

/// The value, if it is a string.
fn string(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// Where `part`, a slice of `line`, begins in it.
pub(crate) fn offset_in(line: &str, part: &str) -> usize {
    part.as_ptr() as usize - line.as_ptr() as usize
}

/// Could a block of type `image` stand in this text? The word may be spelled with escapes, whose letters are all
/// `\u006?`.
fn may_hold_image(text: &str) -> bool {
    let text = text.as_bytes();
    memchr::memmem::find(text, b"\"image\"").is_some() || memchr::memmem::find(text, b"\\u006").is_some()
}

/// A cheap upper bound of the nesting: most lines have fewer brackets than the limit.
fn may_be_too_deep(line: &str) -> bool {
    memchr::memchr2_iter(b'[', b'{', line.as_bytes()).nth(MAX_DEPTH).is_some()
}

/// The nesting of JSON text; of text that is not JSON, any number.
fn depth(line: &str) -> usize {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0usize, 0, false, false);
    for byte in line.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The parser's complaint without its line number, which would be 1 for every line of a log.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => format!("{} at column {}", &text[..at], error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests;
