//! Lines beside the messages: what an embedder keeps with a conversation and no model reads.

use serde_json::{Map, Value, json};

use crate::entry::{PREFIX, is_own_kind};
use crate::error::ConversationError;
use crate::log::MAX_LINE;
use crate::scan::{Look, scan_line};

/// Something to append: a message, or a line beside the messages.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Item<'a> {
    /// A message as JSON text.
    Message(&'a str),
    /// A line beside the messages.
    Aside(NewAside),
}

/// A line beside the messages that is to be appended: `{"type":"attache.KIND", …fields}`. It has no `role`, so that no reader takes
/// it for a message, and no model is sent it.
///
/// ```
/// use attache_conversation::NewAside;
/// use serde_json::json;
///
/// assert!(NewAside::new("meta", json!({"tool_call_id": "call_1"})).is_ok());
/// assert!(NewAside::new("header", json!({})).is_err(), "the log's own");
/// assert!(NewAside::new("meta", json!({"role": "user"})).is_err(), "would be a message");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewAside {
    kind: Box<str>,
    line: String,
}

/// A line beside the messages, as it was found in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Aside {
    /// The number of the message that it follows, from 0; `None` in front of the first.
    pub message: Option<usize>,
    /// The line. Whoever wrote the log wrote it, so it may hold anything.
    pub value: Value,
}

impl NewAside {
    /// A line of this kind, with these fields. The kinds of an embedder have its name and a dot in front.
    ///
    /// # Errors
    /// `InvalidMessage` if the kind is empty, is one of the log's own (`header`, `withhold`, `restore`) or has other characters than
    /// `a`–`z`, `0`–`9`, `_`, `-` and `.`; if the fields are no object, or have one named `type` or `role`; if the line would be
    /// longer than 128 MiB, or is nested deeper than 120 levels.
    pub fn new(kind: &str, fields: Value) -> Result<Self, ConversationError> {
        let invalid = |why: &str| ConversationError::invalid_message(format!("no line beside the messages: {why}"));
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
        if kind.is_empty() || !kind.chars().all(is_plain) || is_own_kind(kind) {
            return Err(invalid("its kind is not free"));
        }
        let Value::Object(fields) = fields else { return Err(invalid("its fields are no object")) };
        if fields.contains_key("type") || fields.contains_key("role") {
            return Err(invalid("a field is named \"type\" or \"role\""));
        }
        let mut value = Map::from_iter([("type".to_owned(), json!(format!("{PREFIX}{kind}")))]);
        value.extend(fields);
        let line = Value::Object(value).to_string();
        if line.len() >= MAX_LINE {
            return Err(invalid("it is too long"));
        }
        // What would be damage when the log is opened again must never get there: nothing is swept then.
        if let Err(why) = scan_line(&line, Look::ForFiles) {
            return Err(invalid(&why));
        }
        Ok(Self { kind: kind.into(), line })
    }

    pub(crate) fn into_parts(self) -> (Box<str>, String) {
        (self.kind, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_written_that_could_not_be_read() {
        let nested = |depth| (0..depth).fold(json!(0), |inner, _| json!([inner]));
        assert!(NewAside::new("a", json!({"deep": nested(119)})).is_ok());
        let error = NewAside::new("a", json!({"deep": nested(120)})).unwrap_err();
        assert!(error.to_string().contains("nested deeper than"), "{error}");
    }

    #[test]
    fn a_line_beside_the_messages_is_never_anything_else() {
        let line = NewAside::new("host.note-1", json!({"a": "b\nc"})).unwrap().into_parts().1;
        assert_eq!(line, r#"{"type":"attache.host.note-1","a":"b\nc"}"#);
        for (kind, fields) in [
            ("", json!({})),
            ("header", json!({})),
            ("withhold", json!({})),
            ("restore", json!({})),
            ("a b", json!({})),
            ("A", json!({})),
            ("é", json!({})),
            ("a\"", json!({})),
            ("a", json!([])),
            ("a", json!(null)),
            ("a", json!({"type": "x"})),
            ("a", json!({"role": "user"})),
        ] {
            let error = NewAside::new(kind, fields.clone()).unwrap_err();
            assert_eq!(error.kind(), crate::ConversationErrorKind::InvalidMessage, "{kind} {fields}");
        }
    }
}
