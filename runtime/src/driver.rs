//! The seam to a model.

use std::fmt::Debug;

use async_trait::async_trait;
use attache_conversation::text_block;
use attache_workdir_fs::Cancel;
use serde_json::{Value, json};

use crate::tool::ToolSpec;

/// Something that answers a conversation: a client of a model service, or a script.
#[async_trait]
pub trait Driver: Debug + Send + Sync {
    /// What is known of the model that is asked where a request names none.
    fn info(&self) -> ModelInfo;

    /// What is known of a model by its name; `None` where it is not reached here.
    fn model(&self, id: &str) -> Option<ModelInfo> {
        Some(self.info()).filter(|info| info.id == id)
    }

    /// One answer. Images in the request are `image` blocks with base64, as rendered.
    ///
    /// # Errors
    /// Whatever kept the model from answering, [`DriverError::CANCELLED`] once `cancel` is asked.
    async fn complete(&self, request: Request<'_>, cancel: &Cancel) -> Result<Reply, DriverError>;

    /// Like [`complete`](Self::complete), and tells each piece of the answer as it comes; whoever fails midway has told some. A driver
    /// that does not stream tells them all at the end.
    ///
    /// # Errors
    /// As [`complete`](Self::complete).
    async fn stream(&self, request: Request<'_>, hear: &mut Hear<'_>, cancel: &Cancel) -> Result<Reply, DriverError> {
        let reply = self.complete(request, cancel).await?;
        for chunk in reply.clone().into_chunks() {
            hear(&chunk);
        }
        Ok(reply)
    }
}

/// Told each piece of an answer.
pub type Hear<'a> = dyn FnMut(&Chunk) + Send + 'a;

/// What is known of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelInfo {
    /// Its name.
    pub id: String,
    /// What it takes; `None` where nobody said, and images are then sent.
    pub input_modalities: Option<Vec<Modality>>,
}

/// A kind of input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Modality {
    /// Text.
    Text,
    /// Still images.
    Image,
}

/// What a model is asked.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The rendered messages, oldest first.
    pub messages: &'a [Value],
    /// The tools it may call.
    pub tools: &'a [ToolSpec],
    /// The model; that of [`Driver::info`] where none is named.
    pub model: Option<&'a str>,
    /// Which session it is of, for a driver that keeps them apart; empty where there is only one.
    pub session: &'a str,
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Its text, maybe empty.
    pub text: String,
    /// The calls it makes, in order.
    pub tool_calls: Vec<ToolCall>,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Chunk {
    /// More of the text.
    Text(String),
    /// A whole call.
    Call(ToolCall),
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that pairs it with its result.
    pub id: String,
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub input: Value,
}

/// A model did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct DriverError {
    code: String,
    message: String,
}

impl ModelInfo {
    /// May images be sent to it?
    #[must_use]
    pub fn takes_images(&self) -> bool {
        self.input_modalities.as_ref().is_none_or(|modalities| modalities.contains(&Modality::Image))
    }
}

impl Reply {
    /// An answer without calls.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), tool_calls: Vec::new() }
    }

    /// Adds a call.
    #[must_use]
    pub fn with_call(mut self, id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        self.tool_calls.push(ToolCall { id: id.into(), name: name.into(), input });
        self
    }

    /// The answer that these pieces make: their text on end, and their calls in order.
    #[must_use]
    pub fn from_chunks(chunks: impl IntoIterator<Item = Chunk>) -> Self {
        let mut reply = Self::default();
        for chunk in chunks {
            match chunk {
                Chunk::Text(text) => reply.text.push_str(&text),
                Chunk::Call(call) => reply.tool_calls.push(call),
            }
        }
        reply
    }

    /// The answer in pieces: its text, if there is any, and each call.
    #[must_use]
    pub fn into_chunks(self) -> Vec<Chunk> {
        let text = (!self.text.is_empty()).then_some(Chunk::Text(self.text));
        text.into_iter().chain(self.tool_calls.into_iter().map(Chunk::Call)).collect()
    }

    /// The message that goes into the conversation; `None` for an answer that says and calls nothing, since services
    /// refuse a message without content.
    #[must_use]
    pub fn to_message(&self) -> Option<Value> {
        let text = (!self.text.trim().is_empty()).then(|| text_block(self.text.clone()));
        let calls = self
            .tool_calls
            .iter()
            .map(|ToolCall { id, name, input }| json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        let content: Vec<Value> = text.into_iter().chain(calls).collect();
        (!content.is_empty()).then(|| json!({"role": "assistant", "content": content}))
    }
}

impl DriverError {
    /// The code of a call that was cancelled.
    pub const CANCELLED: &str = "cancelled";

    /// Makes an error of a stable code and a message for people.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self { code: code.into(), message: message.into() }
    }

    /// The error of a call that was cancelled.
    #[must_use]
    pub fn cancelled() -> Self {
        Self::new(Self::CANCELLED, "the call was cancelled")
    }

    /// What went wrong, for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The stable code.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_becomes_a_message_unless_it_is_empty() {
        let reply = Reply::text("Let me look.").with_call("c1", "shot", json!({"n": 1}));
        let expected = json!({"role": "assistant", "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "c1", "name": "shot", "input": {"n": 1}},
        ]});
        assert_eq!(reply.to_message(), Some(expected));
        assert_eq!(Reply::text(" \n").to_message(), None);
    }

    #[test]
    fn images_are_sent_unless_the_model_declares_that_it_takes_none() {
        for (modalities, takes) in [
            (None, true),
            (Some(vec![]), false),
            (Some(vec![Modality::Text]), false),
            (Some(vec![Modality::Text, Modality::Image]), true),
        ] {
            let info = ModelInfo { id: "m".to_owned(), input_modalities: modalities };
            assert_eq!(info.takes_images(), takes, "{info:?}");
        }
    }
}
