//! What became of the attachments of a tool call.

use std::fmt;
use std::ops::Deref;

use attache_blobstore::{BlobId, Lease};
use attache_conversation::{Checked, Refusal, attached_line, clean, record_block};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::keep::Kept;
use crate::settings::Settings;

/// What became of the attachments of a tool call. Keep it until the message that it went into is appended: no sweep of
/// this process takes the blobs before it is dropped.
#[derive(Debug, Default)]
#[must_use]
pub struct Accepted {
    /// An image block in record form for each accepted attachment, in order.
    pub blocks: Vec<Value>,
    /// What the model is told, in the order of the attachments.
    pub notes: Vec<Note>,
    /// One entry for each attachment, in order.
    pub trace: Vec<TraceEntry>,
    pub(crate) leases: Vec<Lease>,
}

/// A line for the model, which no path or type in it can break. It dereferences to its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    kind: NoteKind,
    text: String,
}

/// What a [`Note`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// An attachment was refused: `attachment '<path>' was not attached: <reason> (<code>)`.
    Refused,
    /// An accepted image: `[image attached: <path>, <media_type>, <bytes> bytes]`, where images are announced.
    Attached,
    /// An accepted image goes by the type of its bytes, which is not the declared one.
    Relabelled,
    /// Something other than an image was left out of a peer's content, or cut.
    LeftOut,
    /// A resource that a peer names: `[resource: …]` before its text, `[resource link, not fetched: …]`.
    Resource,
}

/// What became of one attachment, for logs and for the caller. It never holds bytes. As JSON it is
/// `{"path", "media_type", "bytes", "sha256"}` or `{"path", "media_type", "refused"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TraceEntry {
    /// It was accepted.
    Accepted {
        /// The path as the tool wrote it, cleaned.
        path: String,
        /// The type of the bytes.
        media_type: &'static str,
        /// The length in bytes.
        bytes: u64,
        /// The name of the blob.
        sha256: String,
    },
    /// It was refused.
    Refused {
        /// The path as the tool wrote it, cleaned.
        path: String,
        /// The type as the tool wrote it, cleaned; empty where there was none.
        media_type: String,
        /// The stable code of the check that failed.
        refused: &'static str,
    },
}

/// An accepted image, before it is worded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    pub(crate) id: BlobId,
    pub(crate) checked: Checked,
    pub(crate) bytes: u64,
}

impl Accepted {
    /// Adds what became of one more attachment, and tells the log.
    pub(crate) fn add(
        &mut self,
        path: &str,
        declared: Option<&str>,
        outcome: Result<Kept, Refusal>,
        settings: &Settings,
    ) {
        let outcome = outcome.map(|Kept { checked, stored }| {
            let taken = Taken { id: stored.id, checked, bytes: stored.len };
            self.blocks.push(record_block(taken.id, checked.media_type, taken.bytes));
            self.leases.push(stored.lease);
            taken
        });
        self.notes.extend(notes(path, &outcome, settings.announce));
        self.trace.push(TraceEntry::new(path, declared, &outcome));
    }

    /// The notes about refusals alone.
    pub fn refusals(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.kind == NoteKind::Refused)
    }
}

impl Note {
    /// Every piece of foreign text in `text` has to be cleaned already.
    pub(crate) fn new(kind: NoteKind, text: String) -> Self {
        Self { kind, text }
    }

    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> NoteKind {
        self.kind
    }

    /// The line.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// What there is to say about an attachment: its refusal, or its line and its new label.
pub(crate) fn notes(path: &str, outcome: &Result<Taken, Refusal>, announce: bool) -> impl Iterator<Item = Note> {
    let [first, second] = match outcome {
        Err(refusal) => [Some(Note { kind: NoteKind::Refused, text: refusal.note(path) }), None],
        Ok(taken) => {
            let line = || attached_line(path, taken.checked.media_type.as_str(), taken.bytes);
            let attached = announce.then(|| Note { kind: NoteKind::Attached, text: line() });
            [attached, relabelled(path, taken.checked)]
        }
    };
    first.into_iter().chain(second)
}

fn relabelled(path: &str, checked: Checked) -> Option<Note> {
    let (declared, found) = (checked.relabelled_from?, checked.media_type);
    let text = format!(
        "attachment '{}' was declared as {declared}, but its bytes are {found}; it is labelled {found}",
        clean(path)
    );
    Some(Note { kind: NoteKind::Relabelled, text })
}

impl Deref for Note {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Note {
    /// As its text.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl TraceEntry {
    /// The entry of an attachment, which is also emitted as an event.
    pub(crate) fn new(path: &str, declared: Option<&str>, outcome: &Result<Taken, Refusal>) -> Self {
        let path = clean(path);
        let entry = match outcome {
            Ok(taken) => Self::Accepted {
                path,
                media_type: taken.checked.media_type.as_str(),
                bytes: taken.bytes,
                sha256: taken.id.to_string(),
            },
            Err(refusal) => {
                let media_type = clean(declared.unwrap_or_default());
                Self::Refused { path, media_type, refused: refusal.code.as_str() }
            }
        };
        entry.emit();
        entry
    }

    fn emit(&self) {
        const TARGET: &str = "attache::attachment";
        match self {
            Self::Accepted { path, media_type, bytes, sha256 } => {
                tracing::info!(target: TARGET, path, media_type, bytes, sha256, "attachment accepted");
            }
            Self::Refused { path, media_type, refused } => {
                tracing::info!(target: TARGET, path, media_type, refused, "attachment refused");
            }
        }
    }
}
