//! What a peer's content comes to, before any image in it was looked at.

use std::borrow::Cow;

use attache_conversation::{Refusal, RefusalCode, clean};
use serde_json::Value;

use crate::accepted::{Note, NoteKind};
use crate::protocol::lift::{Lifted, lift};
use crate::protocol::payload::{Kind, is_image, is_image_url};
use crate::protocol::text::has_long_base64;

/// As many images as one request may ever show, of which one content has no more use than the other.
const MOST_SLOTS: usize = 1000;

/// The parts of a content in order, and the fields that hold images apart from them.
#[derive(Debug, Default)]
pub(super) struct Plan<'a> {
    pub(super) items: Vec<Item<'a>>,
    pub(super) slots: Vec<Slot<'a>>,
    /// How many images got a name from us.
    named: usize,
    /// How many fields there were beyond [`MOST_SLOTS`].
    pub(super) beyond: usize,
    pub(super) is_error: Option<bool>,
}

#[derive(Debug)]
pub(super) enum Item<'a> {
    Text {
        at: String,
        text: Cow<'a, str>,
    },
    Note(Note),
    /// An image in its own right: index into the slots.
    Slot(usize),
    Json(Json),
}

/// JSON of no known shape.
#[derive(Debug)]
pub(super) struct Json {
    pub(super) lifted: Lifted,
    /// Whether it is also shown as text; its images are shown in any case.
    pub(super) show: bool,
    /// Whether it is a result's structured content.
    pub(super) structured: bool,
}

/// A field that holds an image, or should.
#[derive(Debug)]
pub(super) struct Slot<'a> {
    /// What notes and the trace call it.
    pub(super) name: String,
    /// The type that the peer claims, if any.
    pub(super) label: String,
    pub(super) kind: Kind,
    /// The base64, or why there is none.
    pub(super) data: Result<Cow<'a, str>, Refusal>,
}

impl<'a> Plan<'a> {
    /// Text, which stays text; only what could not stay text anyway is looked at more closely.
    pub(super) fn text(&mut self, at: &str, text: &'a str) {
        if let Some(value) = images_in_text(text) {
            let lifted = lift(self, at, value);
            if !lifted.places.is_empty() {
                return self.items.push(Item::Json(Json { lifted, show: true, structured: false }));
            }
        }
        if has_long_base64(text) && (is_image_url(text) || is_image(text)) {
            return self.slot(at.to_owned(), "", Kind::Image, text);
        }
        self.items.push(Item::Text { at: at.to_owned(), text: Cow::Borrowed(text) });
    }

    /// JSON of no known shape: images in it are shown beside it.
    pub(super) fn json(&mut self, at: &str, value: Value, show: bool) {
        let lifted = lift(self, at, value);
        self.items.push(Item::Json(Json { lifted, show, structured: false }));
    }

    /// A field that holds an image or a file as base64.
    pub(super) fn slot(&mut self, name: String, label: &str, kind: Kind, data: impl Into<Cow<'a, str>>) {
        let slot = Slot { name, label: label.to_owned(), kind, data: Ok(data.into()) };
        self.add(slot);
    }

    /// An image that is refused without its bytes.
    pub(super) fn refuse(&mut self, name: String, label: &str, refusal: Refusal) {
        let slot = Slot { name, label: label.to_owned(), kind: Kind::Image, data: Err(refusal) };
        self.add(slot);
    }

    fn add(&mut self, slot: Slot<'a>) {
        if let Some(index) = self.reserve(slot) {
            self.items.push(Item::Slot(index));
        }
    }

    /// A slot that is placed by the caller; `None` once there are too many.
    pub(super) fn reserve(&mut self, slot: Slot<'a>) -> Option<usize> {
        if self.slots.len() == MOST_SLOTS {
            self.beyond += 1;
            return None;
        }
        self.slots.push(slot);
        Some(self.slots.len() - 1)
    }

    /// A line about a resource: what it is, and what the peer says of it.
    pub(super) fn resource(&mut self, what: &str, details: &[&str]) {
        let details: Vec<_> = details.iter().filter(|text| !text.trim().is_empty()).map(|text| quoted(text)).collect();
        let text = format!("[{what}: {}]", details.join(", "));
        self.items.push(Item::Note(Note::new(NoteKind::Resource, text)));
    }

    /// What to call the next image that brought no name.
    pub(super) fn next_name(&mut self, what: &str) -> String {
        self.named += 1;
        format!("{what} {}", self.named)
    }

    /// The refusal of everything beyond the limit, as one.
    pub(super) fn beyond(&self) -> Option<(String, Refusal)> {
        let name = match self.beyond {
            0 => return None,
            1 => format!("image {}", MOST_SLOTS + 1),
            n => format!("images {} to {}", MOST_SLOTS + 1, MOST_SLOTS + n),
        };
        let reason = format!("one content may bring {MOST_SLOTS} images");
        Some((name, Refusal::new(RefusalCode::TurnLimit, reason)))
    }
}

/// A URI or title for a line of ours. Data URLs say nothing to a reader beyond their type.
pub(super) fn quoted(text: &str) -> String {
    match text.trim_start().get(..5) {
        Some(scheme) if scheme.eq_ignore_ascii_case("data:") => {
            let head = text.split(',').next().unwrap_or_default();
            format!("{},…", clean(head))
        }
        _ => clean(text),
    }
}

/// Text that is JSON as a whole and cannot stay as it is, or that is an object of lists of image URLs: some servers have
/// no other way to return several images.
fn images_in_text(text: &str) -> Option<Value> {
    let trimmed = text.trim_ascii();
    let is_json = matches!(
        (trimmed.as_bytes().first(), trimmed.as_bytes().last()),
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']'))
    );
    let is_long = is_json && has_long_base64(text);
    let may_be_list = is_json && text.contains(";base64,");
    if !is_long && !may_be_list {
        return None;
    }
    let value: Value = serde_json::from_str(trimmed).ok()?;
    (is_long || has_image_list(&value)).then_some(value)
}

fn has_image_list(value: &Value) -> bool {
    match value {
        Value::Array(values) => {
            let all_images = values.iter().all(|value| value.as_str().is_some_and(is_image_url));
            (!values.is_empty() && all_images) || values.iter().any(has_image_list)
        }
        Value::Object(fields) => fields.values().any(has_image_list),
        _ => false,
    }
}
