//! The render pass over messages that a host holds as values.

use std::borrow::Cow;
use std::collections::HashMap;

use attache_blobstore::{BlobId, BlobStore};
use serde_json::{Value, json};

use crate::record::{blocks, file_block, text_block};
use crate::render::policy::RenderOptions;
use crate::render::resolve::{Candidate, Outcome, resolve};

/// Images that are withheld, each with the reason.
pub type Withheld = HashMap<BlobId, String>;

/// Renders messages for a driver: the newest `keep` record-form images become base64 blocks read from the store, older
/// ones and unavailable ones a line each. Length and order stay; messages without images are borrowed, not copied.
pub async fn render<'a>(messages: &'a [Value], keep: usize, store: &dyn BlobStore) -> Vec<Cow<'a, Value>> {
    pass(messages, RenderOptions::newest(keep), &Withheld::new(), Some(store)).await
}

/// Like [`render`], with every option.
pub async fn render_with<'a>(
    messages: &'a [Value],
    options: RenderOptions,
    withheld: &Withheld,
    store: &dyn BlobStore,
) -> Vec<Cow<'a, Value>> {
    pass(messages, options, withheld, Some(store)).await
}

/// Like [`render`] where there is no store: every image that would be shown becomes an unavailable line.
pub async fn render_unavailable(messages: &[Value], keep: usize) -> Vec<Cow<'_, Value>> {
    pass(messages, RenderOptions::newest(keep), &Withheld::new(), None).await
}

async fn pass<'a>(
    messages: &'a [Value],
    options: RenderOptions,
    withheld: &Withheld,
    store: Option<&dyn BlobStore>,
) -> Vec<Cow<'a, Value>> {
    let found: Vec<_> = messages
        .iter()
        .enumerate()
        .flat_map(|(message, value)| {
            blocks(value).filter_map(file_block).map(move |block| (message, role(value) == Some("user"), block))
        })
        .collect();
    let candidates: Vec<_> = found
        .iter()
        .map(|(message, by_user, block)| Candidate { block, message: *message, by_user: *by_user })
        .collect();
    let last_assistant = messages.iter().rposition(|message| role(message) == Some("assistant"));
    let outcomes = resolve(&candidates, options, last_assistant, withheld, store).await;
    let mut replacements = found.iter().map(|(message, ..)| *message).zip(outcomes).peekable();
    messages
        .iter()
        .enumerate()
        .map(|(at, message)| {
            if replacements.peek().is_none_or(|(next, _)| *next != at) {
                return Cow::Borrowed(message);
            }
            let mut outcomes = std::iter::from_fn(|| replacements.next_if(|(next, _)| *next == at)).map(|(_, o)| o);
            Cow::Owned(replace(message, &mut outcomes))
        })
        .collect()
}

fn role(message: &Value) -> Option<&str> {
    message.get("role")?.as_str()
}

/// Copies a holder of blocks, a message or a `tool_result`, with its image blocks replaced in order.
fn replace(holder: &Value, outcomes: &mut impl Iterator<Item = Outcome>) -> Value {
    let Value::Object(fields) = holder else { return holder.clone() };
    let fields = fields.iter().map(|(key, value)| {
        let value = match value {
            Value::Array(items) if key == "content" => {
                Value::Array(items.iter().map(|item| replace_block(item, outcomes)).collect())
            }
            other => other.clone(),
        };
        (key.clone(), value)
    });
    Value::Object(fields.collect())
}

fn replace_block(block: &Value, outcomes: &mut impl Iterator<Item = Outcome>) -> Value {
    if file_block(block).is_some() {
        return outcomes.next().map_or_else(|| block.clone(), block_of);
    }
    // Only blocks of the message itself are searched for nested ones, as in `blocks`.
    match block.get("type").and_then(Value::as_str) {
        Some("tool_result") => replace_inside_result(block, outcomes),
        _ => block.clone(),
    }
}

fn replace_inside_result(result: &Value, outcomes: &mut impl Iterator<Item = Outcome>) -> Value {
    let mut result = result.clone();
    for block in result.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if file_block(block).is_some()
            && let Some(outcome) = outcomes.next()
        {
            *block = block_of(outcome);
        }
    }
    result
}

fn block_of(outcome: Outcome) -> Value {
    match outcome {
        Outcome::Shown { media_type, bytes } => json!({
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": media_type.as_str(),
                "data": base64_simd::STANDARD.encode_to_string(&bytes),
            },
        }),
        Outcome::Aged(line) | Outcome::Withheld(line) | Outcome::Unavailable(line) => text_block(line),
    }
}

#[cfg(test)]
mod tests;
