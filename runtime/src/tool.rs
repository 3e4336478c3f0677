//! The seam to a tool.

use std::fmt::Debug;

use async_trait::async_trait;
use attache_blobstore::Lease;
use serde_json::{Value, json};

use crate::attachment::Attachment;
use crate::tools::Scheduling;

/// Something that a model may call.
#[async_trait]
pub trait Tool: Debug + Send + Sync {
    /// What the model is told about it.
    fn spec(&self) -> ToolSpec;

    /// Whether its calls may run beside others of this kind that follow each other in one answer; they run alone unless it says so.
    fn scheduling(&self) -> Scheduling {
        Scheduling::Exclusive
    }

    /// Runs it. A failure is a result too: [`ToolOutput::error`].
    async fn call(&self, input: &Value) -> ToolOutput;
}

/// What a model is told about a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name by which it is called.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its input.
    pub input_schema: Value,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// The files that the tool made for the model to see.
    pub attachments: Vec<Attachment>,
    /// Images that the tool has checked and stored itself.
    pub images: Vec<ReadyImage>,
    /// The call's own status, if it has one. What becomes of the attachments does not change it.
    pub is_error: Option<bool>,
    /// The stable code of a call that failed, where the tool has one. The model does not read it.
    pub code: Option<String>,
    /// The result for programs and for whoever presents it. The model does not read it.
    pub structured: Option<Value>,
}

/// An image that was checked and is durably stored: its block in record form. While a clone of it lives, no sweep of this
/// process takes the blob; keep it until the message that it went into is appended.
#[derive(Clone, Debug)]
pub struct ReadyImage {
    block: Value,
    lease: Lease,
}

impl ToolSpec {
    /// A tool without a description that takes any object.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: String::new(), input_schema: json!({"type": "object"}) }
    }
}

impl ToolOutput {
    /// A result of text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The result of a call that failed.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: Some(true), ..Self::text(text) }
    }

    /// Adds a file.
    #[must_use]
    pub fn with_attachment(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Adds an image that is stored.
    #[must_use]
    pub fn with_image(mut self, image: ReadyImage) -> Self {
        self.images.push(image);
        self
    }

    /// Sets [`code`](Self::code).
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// Sets [`structured`](Self::structured).
    #[must_use]
    pub fn with_structured(mut self, structured: Value) -> Self {
        self.structured = Some(structured);
        self
    }

    /// Reads a result as tools print it: `{"content": "…", "attachments": [{"media_type", "path"}, …]}`, and `is_error`
    /// if it is there. Content that is not a string is taken as JSON text; attachments are read leniently, as
    /// [`Attachment::list_from_value`] does.
    ///
    /// Returns `None` for anything but an object.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let text = match fields.get("content") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let attachments = fields.get("attachments").map(Attachment::list_from_value).unwrap_or_default();
        let is_error = fields.get("is_error").and_then(Value::as_bool);
        Some(Self { text, attachments, is_error, ..Self::default() })
    }
}

impl ReadyImage {
    /// An image in record form, and the hold on its blob.
    #[must_use]
    pub fn new(block: Value, lease: Lease) -> Self {
        Self { block, lease }
    }

    /// The block in record form.
    #[must_use]
    pub fn block(&self) -> &Value {
        &self.block
    }

    pub(crate) fn into_parts(self) -> (Value, Lease) {
        (self.block, self.lease)
    }
}

/// By the block: the hold on the blob is no part of what it is.
impl PartialEq for ReadyImage {
    fn eq(&self, other: &Self) -> bool {
        self.block == other.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_as_tools_print_them() {
        let value = json!({"content": "done", "attachments": [{"media_type": "image/png", "path": "a.png"}]});
        let expected = ToolOutput::text("done").with_attachment(Attachment::new("a.png", "image/png"));
        assert_eq!(ToolOutput::from_value(&value), Some(expected));
        let value = json!({"content": {"rows": 3}, "is_error": true});
        assert_eq!(ToolOutput::from_value(&value), Some(ToolOutput::error("{\"rows\":3}")));
        assert_eq!(ToolOutput::from_value(&json!({})), Some(ToolOutput::default()));
        assert_eq!(ToolOutput::from_value(&json!("text")), None);
    }
}
