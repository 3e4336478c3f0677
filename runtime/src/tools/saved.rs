//! What the file tools keep with a conversation: lines beside its messages.
//!
//! ```text
//! {"type":"attache.observed","files":{"KEY":{"state":"present","version":"…"}}}     only what changed
//! {"type":"attache.meta","tool_call_id":"…","tool":"read","meta":{…}}               behind the result's message
//! ```

use attache_conversation::{ConversationError, NewAside, View};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::driver::ToolCall;
use crate::tools::policy::{Observation, Observations};

const OBSERVED: &str = "observed";
const META: &str = "meta";

/// What a file tool kept of a call for whoever presents it. The model does not read it.
///
/// The value of a `read` is for [`read_view`](crate::read_view), that of a `write` or an `edit` for
/// [`DiffMeta::from_value`](crate::DiffMeta::from_value); that of a call that failed is `{"error":{"code","message"}}`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CallMeta {
    /// The number of the message with the result, from 0.
    pub message: usize,
    /// The call's id.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// What was kept, by whomever.
    pub value: Value,
}

/// What the file tools kept of the calls of a conversation, oldest first. What is not of the form is passed over.
///
/// # Errors
/// `Io`.
pub async fn call_metas(conversation: &View) -> Result<Vec<CallMeta>, ConversationError> {
    let asides = conversation.asides(META).await?;
    let read = asides.into_iter().filter_map(|mut aside| {
        let text = |key: &str| aside.value.get(key).and_then(Value::as_str).map(str::to_owned);
        let meta = text("tool_call_id").zip(text("tool")).zip(aside.message);
        let Some(((call_id, tool), message)) = meta else {
            tracing::warn!(message = aside.message, "what was kept of a call is not of the form");
            return None;
        };
        let value = aside.value.get_mut("meta").map(Value::take).unwrap_or_default();
        Some(CallMeta { message, call_id, tool, value })
    });
    Ok(read.collect())
}

/// The line that keeps what a tool says of a call.
pub(crate) fn call_meta(call: &ToolCall, meta: &Value) -> Option<NewAside> {
    aside(META, json!({"tool_call_id": call.id, "tool": call.name, "meta": meta}))
}

/// Neither kind is the log's own, so that only its length can be wrong: what is not saved is unseen, or has a generic view.
fn aside(kind: &str, fields: Value) -> Option<NewAside> {
    NewAside::new(kind, fields).inspect_err(|error| tracing::warn!(kind, %error, "not kept with the conversation")).ok()
}

/// What was seen, as far as it was saved: the last observation of each file.
pub(crate) async fn load(conversation: &View) -> Result<Observations, ConversationError> {
    let mut seen = Observations::default();
    for aside in conversation.asides(OBSERVED).await? {
        let Some(files) = aside.value.get("files").and_then(Value::as_object) else {
            tracing::warn!(message = aside.message, "what was seen is not of the form");
            continue;
        };
        for (key, observation) in files {
            match Observation::deserialize(observation) {
                Ok(observation) => seen.observe(key.as_str(), observation),
                Err(error) => {
                    tracing::warn!(message = aside.message, %error, "what was seen of a file is not of the form");
                }
            }
        }
    }
    Ok(seen)
}

impl Observations {
    /// The line that keeps them with a conversation, for
    /// [`append_items`](attache_conversation::Conversation::append_items); `None` where nothing was seen.
    #[must_use]
    pub fn to_aside(&self) -> Option<NewAside> {
        if self.is_empty() { None } else { aside(OBSERVED, json!({"files": self})) }
    }
}
