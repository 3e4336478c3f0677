//! What was made of a peer's content.

use attache_blobstore::Lease;
use attache_conversation::text_block;
use serde_json::Value;

use crate::accepted::{Accepted, Note, TraceEntry};
use crate::message::tool_message_with_status;
use crate::settings::Settings;

/// What was made of a peer's content: everything it brought, in its order, as text, images in record form, and notes
/// about what is neither. Keep it until the message that it went into is appended: no sweep of this process takes the
/// blobs before it is dropped.
#[derive(Debug, Default)]
#[must_use]
pub struct Taken {
    /// The content in order. No text is blank, and none holds long base64.
    pub parts: Vec<Part>,
    /// A result's structured content for the host, its images replaced by the lines that name them. What a model is to
    /// see of it is among the parts.
    pub structured: Option<Value>,
    /// The call's own status, where the peer named one.
    pub is_error: Option<bool>,
    /// One entry for each image that the content brought, in order; none has bytes.
    pub trace: Vec<TraceEntry>,
    pub(crate) leases: Vec<Lease>,
}

/// A part of a [`Taken`].
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// The peer's own text: not to be trusted.
    Text(String),
    /// An image block in record form.
    Image(Value),
    /// A line of ours, in the place of what was refused or left out.
    Note(Note),
}

impl Taken {
    /// The parts as content blocks, in order: for messages of a user or another agent. Text is not fenced here.
    #[must_use]
    pub fn blocks(&self) -> Vec<Value> {
        let block = |part: &Part| match part {
            Part::Text(text) => text_block(text),
            Part::Image(block) => block.clone(),
            Part::Note(note) => text_block(note.as_str()),
        };
        self.parts.iter().map(block).collect()
    }

    /// The notes, in order.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.parts.iter().filter_map(|part| match part {
            Part::Note(note) => Some(note),
            _ => None,
        })
    }

    /// The images, in order.
    pub fn images(&self) -> impl Iterator<Item = &Value> {
        self.parts.iter().filter_map(|part| match part {
            Part::Image(block) => Some(block),
            _ => None,
        })
    }

    /// The peer's own text, a line break between two parts.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The message of a tool's result, as [`tool_message`](crate::tool_message) makes it: the text, fenced where the
    /// settings say so, the notes, then the images.
    #[must_use]
    pub fn tool_message(&self, call_id: &str, tool_name: &str, settings: &Settings) -> Value {
        let accepted = Accepted {
            blocks: self.images().cloned().collect(),
            notes: self.notes().cloned().collect(),
            ..Accepted::default()
        };
        tool_message_with_status(call_id, tool_name, &self.text(), self.is_error, &accepted, settings)
    }
}
