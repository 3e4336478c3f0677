//! Finds what matters in one line of a log without building its values: who speaks, and where its images stand.
//!
//! A log may hold gigabytes of text and a few thousand images. Each line is checked to be JSON, but only blocks that
//! may be images are looked into, and what is kept of them is their position.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::entry::{PREFIX, is_own_kind};
use crate::json::{Fault, MAX_DEPTH, check, elements, members};
use crate::lenient::read_value;
use crate::record::{FileBlock, file_block};

/// What a line of a log is.
#[derive(Debug)]
pub(crate) enum Line {
    /// An object with a string `role`.
    Message(Scan),
    /// An object without one whose `type` is of a line that the log goes by.
    Ours(Value),
    /// One with any other `type` that begins with `attache.`: what follows that. It is not looked into.
    Aside(Box<str>),
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
    /// A key that stands twice in the message or in one of its blocks, as JSON text. Readers disagree about which of the
    /// two values counts, and the other one could hold anything. Only looked for with [`Look::ForAll`].
    pub(crate) repeated_key: Option<Box<str>>,
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
    if !line.trim_ascii_start().starts_with('{') {
        check(line).map_err(|fault| plain(fault, line))?;
        return Ok(Line::Other);
    }
    let fields = Fields::of(line).map_err(|fault| plain(fault, line))?;
    if let Some(role) = fields.role.and_then(string) {
        let role = match &*role {
            "assistant" => Role::Assistant,
            "user" => Role::User,
            _ => Role::Other,
        };
        let mut scan = Scan { role, blocks: Vec::new(), repeated_key: None };
        scan.note_repetition(&fields, look);
        if let Some(content) = fields.content.filter(|_| look == Look::ForAll || fields.may_hold_image) {
            collect(line, content, look, Depth::Message, &mut scan);
        }
        return Ok(Line::Message(scan));
    }
    let kind = fields.kind.and_then(string);
    match kind.as_deref().and_then(|kind| kind.strip_prefix(PREFIX)) {
        Some(kind) if is_own_kind(kind) => read_value(line).map(Line::Ours).map_err(|error| words(&error)),
        Some(kind) => Ok(Line::Aside(kind.into())),
        None => Ok(Line::Other),
    }
}

impl Scan {
    fn note_repetition(&mut self, fields: &Fields<'_>, look: Look) {
        if look == Look::ForAll && self.repeated_key.is_none() {
            self.repeated_key = fields.repeated.map(Into::into);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Message,
    ToolResult,
}

fn collect(line: &str, content: &str, look: Look, depth: Depth, into: &mut Scan) {
    // Only an array has elements; the line was checked, so that nothing else can be wrong.
    let _ = elements(content, |item| {
        let Ok(fields) = Fields::of(item) else { return };
        into.note_repetition(&fields, look);
        let found = match fields.kind.and_then(string).as_deref() {
            Some("image") => image(item, &fields, look, into),
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
            let start = offset_in(line, item);
            into.blocks.push(FoundBlock { start, end: start + item.len(), found });
        }
    });
}

fn image(block: &str, fields: &Fields<'_>, look: Look, into: &mut Scan) -> Option<Found> {
    let source = Fields::of(fields.source?).ok()?;
    into.note_repetition(&source, look);
    match &*source.kind.and_then(string)? {
        "file" => {
            let block = read_value(block).ok()?;
            file_block(&block).map(Found::File)
        }
        "base64" if look == Look::ForAll => Some(Found::Inline),
        _ => None,
    }
}

fn empty_text(fields: &Fields<'_>) -> Option<Found> {
    (fields.text? == "\"\"").then_some(Found::EmptyText)
}

/// The fields that any object of a message may have and attache reads, still as JSON text. As in every JSON map of this
/// library, the last of equal keys counts.
#[derive(Default)]
struct Fields<'a> {
    role: Option<&'a str>,
    kind: Option<&'a str>,
    content: Option<&'a str>,
    source: Option<&'a str>,
    text: Option<&'a str>,
    /// One of these keys that stands there more than once.
    repeated: Option<&'a str>,
    /// Could a block of type `image` stand anywhere in the object?
    may_hold_image: bool,
}

impl<'a> Fields<'a> {
    fn of(object: &'a str) -> Result<Self, Fault> {
        let mut fields = Self::default();
        let may_hold_image = members(object, |key, value| {
            let field = match string(key).as_deref() {
                Some("role") => &mut fields.role,
                Some("type") => &mut fields.kind,
                Some("content") => &mut fields.content,
                Some("source") => &mut fields.source,
                Some("text") => &mut fields.text,
                _ => return,
            };
            if field.replace(value).is_some() {
                fields.repeated = Some(key);
            }
        })?;
        Ok(Self { may_hold_image, ..fields })
    }
}

/// The value, if it is a string. `value` is JSON.
fn string(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { serde_json::from_str(value).ok().map(Cow::Owned) } else { Some(Cow::Borrowed(inner)) }
}

/// Where `part`, a slice of `line`, begins in it.
pub(crate) fn offset_in(line: &str, part: &str) -> usize {
    part.as_ptr() as usize - line.as_ptr() as usize
}

/// What is wrong with a line, in words; the parser's complaint where it has one.
fn plain(fault: Fault, line: &str) -> String {
    match (fault, serde_json::from_str::<IgnoredAny>(line)) {
        (Fault::TooDeep, _) => format!("nested deeper than {MAX_DEPTH} levels"),
        (Fault::NotJson, Err(error)) => words(&error),
        (Fault::NotJson, Ok(_)) => "not JSON".to_owned(),
    }
}

/// The parser's complaint without its line number, which would be 1 for every line of a log.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rfind(" at line ") {
        Some(at) => format!("{} at column {}", &text[..at], error.column()),
        None => text,
    }
}

#[cfg(test)]
mod tests;
