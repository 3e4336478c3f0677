//! Makes a message ready for the log: checked, on one line, its inline images lifted into blobs.

use std::borrow::Cow;
use std::collections::HashMap;

use attache_blobstore::{BlobStore, Lease, blocking};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::ConversationError;
use crate::intake::{Intake, decode_base64};
use crate::lenient::with_whole_characters;
use crate::log::MAX_LINE;
use crate::record::{FileBlock, record_block, text_block};
use crate::refusal::{Refusal, RefusalCode};
use crate::scan::{Found, Line, Look, Scan, scan_line};

/// What stands in for the only block of a message when that is an empty text: model services refuse empty content too.
const EMPTY_MESSAGE: &str = "(empty message)";

/// A message as it goes into the log.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Its text, on one line, without the newline.
    pub(crate) line: String,
    pub(crate) scan: Scan,
    /// How many inline images became blobs.
    pub(crate) lifted: usize,
    /// What was changed or refused, for the caller to show.
    pub(crate) notes: Vec<String>,
    /// Keep the blobs from being swept until the record is durable.
    pub(crate) leases: Vec<Lease>,
}

/// Checks that a text can be a message, without changing or storing anything.
pub(crate) fn check_message(json: &str) -> Result<Scan, ConversationError> {
    match scan_line(json, Look::ForAll).map_err(ConversationError::invalid_message)? {
        Line::Message(Scan { repeated_key: Some(key), .. }) => {
            Err(ConversationError::invalid_message(format!("the key {key} stands twice in one object")))
        }
        Line::Message(scan) => Ok(scan),
        Line::Ours(_) | Line::Aside(_) | Line::Other => {
            Err(ConversationError::invalid_message("not a message: it needs to be an object with a string \"role\""))
        }
    }
}

/// Is this a line that attache itself writes into logs (a header, a withholding, a line beside the messages)? Those are no
/// messages.
#[must_use]
pub fn is_log_entry(json: &str) -> bool {
    matches!(scan_line(json, Look::ForFiles), Ok(Line::Ours(_) | Line::Aside(_)))
}

/// Prepares a message. Blobs are staged, not yet synced.
pub(crate) async fn prepare(json: &str, intake: Intake, store: &dyn BlobStore) -> Result<Prepared, ConversationError> {
    let scan = check_message(json)?;
    // White space is all that a newline can be in valid JSON; a log has one message a line.
    let line = json.trim_ascii().replace(['\n', '\r'], " ");
    let untouched = scan.blocks.iter().all(|block| matches!(block.found, Found::File(_)));
    let mut prepared = Prepared { line, scan, lifted: 0, notes: Vec::new(), leases: Vec::new() };
    if !untouched || prepared.line.len() != json.len() {
        prepared.drop_empty_texts()?;
        prepared.lift(intake, store).await?;
        prepared.scan = check_message(&prepared.line)?;
    }
    if prepared.line.len() >= MAX_LINE {
        let text = format!("the message has {} bytes and may have {MAX_LINE}", prepared.line.len());
        return Err(ConversationError::invalid_message(text));
    }
    prepared.note_absent_blobs(store).await;
    Ok(prepared)
}

impl Prepared {
    /// No empty text block is ever written: services refuse it, and the message with it, for ever after.
    fn drop_empty_texts(&mut self) -> Result<(), ConversationError> {
        let scan = check_message(&self.line)?;
        let empty = scan.blocks.iter().filter(|block| matches!(block.found, Found::EmptyText));
        let mut line = String::with_capacity(self.line.len());
        let mut copied = 0;
        for block in empty {
            line.push_str(&self.line[copied..block.start]);
            copied = end_without_element(&mut line, &self.line, block.end);
            self.notes.push("an empty text block was left out".to_owned());
        }
        if copied > 0 {
            line.push_str(&self.line[copied..]);
            self.line = line;
        }
        Ok(())
    }

    /// A record that came with the message, from another log perhaps, may name a blob that did not. It is kept, since
    /// the blob may follow, but the caller is told.
    async fn note_absent_blobs(&mut self, store: &dyn BlobStore) {
        let named = self.scan.blocks.iter().filter_map(|block| match &block.found {
            Found::File(FileBlock::Record(record)) => record.sha256.id(),
            _ => None,
        });
        let named: Vec<_> = named.collect();
        if named.is_empty() {
            return;
        }
        // All at once: a call's images are many, and each question by itself would cost a way to another thread.
        let found = store.contains_many(&named).await;
        for (id, _) in named.iter().zip(found).filter(|(_, found)| matches!(found, Ok(None))) {
            self.notes.push(format!("the message names the blob {id}, which is not in the store"));
        }
    }

    async fn lift(&mut self, intake: Intake, store: &dyn BlobStore) -> Result<(), ConversationError> {
        let scan = check_message(&self.line)?;
        let inline = scan.blocks.iter().filter(|block| matches!(block.found, Found::Inline));
        let mut line = String::new();
        let mut copied = 0;
        for (n, block) in (1..).zip(inline) {
            let text = &self.line[block.start..block.end];
            let instead = match lift_block(text, intake, store).await {
                Ok((record, lease)) => {
                    self.lifted += 1;
                    self.leases.push(lease);
                    record
                }
                Err(refusal) => {
                    let note = refusal.note(&format!("inline image {n}"));
                    let block = text_block(note.clone()).to_string();
                    self.notes.push(note);
                    block
                }
            };
            line.push_str(&self.line[copied..block.start]);
            line.push_str(&instead);
            copied = block.end;
        }
        line.push_str(&self.line[copied..]);
        self.line = line;
        Ok(())
    }
}

/// Ends `before`, which holds everything in front of an element of an array that ends at `end` of `line`, so that the
/// element goes and one comma with it. Returns where to go on.
fn end_without_element(before: &mut String, line: &str, end: usize) -> usize {
    if let Some(rest) = line[end..].trim_ascii_start().strip_prefix(',') {
        return line.len() - rest.trim_ascii_start().len();
    }
    match before.trim_ascii_end().strip_suffix(',') {
        Some(elements) => before.truncate(elements.len()),
        None => before.push_str(&text_block(EMPTY_MESSAGE).to_string()),
    }
    end
}

/// Stores the image of one inline block; the bytes alone decide its type.
async fn lift_block(block: &str, intake: Intake, store: &dyn BlobStore) -> Result<(String, Lease), Refusal> {
    let data = inline_data(&with_whole_characters(block))?.into_owned();
    let checked = blocking(move || {
        let bytes = decode_base64(&data, intake.max_bytes)?;
        intake.check(&bytes, None).map(|checked| (checked.media_type, bytes))
    });
    let (media_type, bytes) = checked.await?;
    let stored = store
        .stage(Bytes::from(bytes))
        .await
        .map_err(|error| Refusal::new(RefusalCode::StoreFailed, error.to_string()))?;
    Ok((record_block(stored.id, media_type, stored.len).to_string(), stored.lease))
}

/// The `source.data` of a block.
fn inline_data(block: &str) -> Result<Cow<'_, str>, Refusal> {
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    fn field<'a>(object: &'a str, key: &str) -> Option<&'a str> {
        let fields: HashMap<String, &RawValue> = serde_json::from_str(object).ok()?;
        fields.get(key).map(|value| value.get())
    }
    field(block, "source")
        .and_then(|source| field(source, "data"))
        .and_then(|data| serde_json::from_str::<Text<'_>>(data).ok())
        .map(|text| text.0)
        .ok_or_else(|| Refusal::new(RefusalCode::Malformed, "the block has no string \"data\""))
}

#[cfg(test)]
mod tests;
