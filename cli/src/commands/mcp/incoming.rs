//! Lines of a client: each is a message, or is refused by the id of its request.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};

use rmcp::RoleServer;
use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::error::Category;

/// The longest message that is taken, in bytes.
pub(super) const MAX_MESSAGE: usize = 64 << 20;
/// How far a longer one is searched for the id that its refusal goes to, in bytes.
const MAX_SEARCHED: u64 = 1 << 30;

/// What a line was.
#[derive(Debug)]
pub(super) enum Incoming {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// The answer to a line that is no message.
    Refused(Box<TxJsonRpcMessage<RoleServer>>),
}

/// The messages of an input, one a line.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    longest: usize,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, longest: MAX_MESSAGE }
    }

    /// `None` at the end of the input.
    pub(super) fn next(&mut self) -> Option<Incoming> {
        loop {
            match self.line() {
                Ok(Some(Line::Whole(line))) => match message(&line) {
                    Some(incoming) => return Some(incoming),
                    None => continue,
                },
                Ok(Some(Line::TooLong(head))) => match head.refused(too_long(self.longest)) {
                    Some(refused) => return Some(refused),
                    None => tracing::warn!(limit = self.longest, "a line is too long, and has no id to answer"),
                },
                Ok(None) => return None,
                Err(error) => {
                    tracing::warn!(%error, "the input cannot be read");
                    return None;
                }
            }
        }
    }

    fn line(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        (&mut self.input).take(self.longest as u64 + 1).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        if line.len() <= self.longest || line.ends_with(b"\n") {
            return Ok(Some(Line::Whole(line)));
        }
        let mut rest = RestOfLine { input: &mut self.input, ended: false };
        let head = Head::of_reader(BufReader::new(line.chain(&mut rest).take(MAX_SEARCHED)));
        io::copy(&mut rest, &mut io::sink())?;
        Ok(Some(Line::TooLong(head)))
    }
}

enum Line {
    Whole(Vec<u8>),
    TooLong(Head),
}

/// What is left of a line; its end is not given.
struct RestOfLine<'a, R> {
    input: &'a mut R,
    ended: bool,
}

impl<R: BufRead> Read for RestOfLine<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let available = self.input.fill_buf()?;
        let available = &available[..available.len().min(buffer.len())];
        let end = memchr::memchr(b'\n', available);
        let count = end.unwrap_or(available.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.ended = end.is_some() || available.is_empty();
        self.input.consume(count + usize::from(end.is_some()));
        Ok(count)
    }
}

/// `None` where nobody waits for an answer.
fn message(line: &[u8]) -> Option<Incoming> {
    let line = line.trim_ascii_end();
    // A byte order mark may be left out.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    if line.is_empty() {
        return None;
    }
    let error = match serde_json::from_slice(line) {
        Ok(message) => return Some(Incoming::Message(Box::new(message))),
        Err(error) => error,
    };
    let refused = Head::of_slice(line).refused(unreadable(&error));
    if refused.is_none() {
        tracing::warn!(%error, "a line is no message, and has no id to answer");
    }
    refused
}

fn unreadable(error: &serde_json::Error) -> ErrorData {
    let text = format!("the message cannot be read: {error}");
    match error.classify() {
        Category::Data => ErrorData::invalid_request(text, None),
        _ => ErrorData::parse_error(text, None),
    }
}

fn too_long(limit: usize) -> ErrorData {
    ErrorData::invalid_request(format!("the message is longer than {limit} bytes"), None)
}

/// What a line that is no message says of itself, as far as it can be read.
#[derive(Debug, Default, PartialEq)]
struct Head {
    id: Option<Value>,
    /// It answers a request, and so wants no answer.
    is_answer: bool,
    is_notification: bool,
    /// It is JSON, if not to the letter: what cannot be held is passed over.
    is_whole: bool,
}

impl Head {
    fn of_slice(line: &[u8]) -> Self {
        Self::of(serde_json::Deserializer::from_slice(line))
    }

    fn of_reader(line: impl Read) -> Self {
        Self::of(serde_json::Deserializer::from_reader(line))
    }

    fn of<'de>(mut line: serde_json::Deserializer<impl serde_json::de::Read<'de>>) -> Self {
        let mut head = Self::default();
        let mut has_method = false;
        let read = Fields { head: &mut head, has_method: &mut has_method }.deserialize(&mut line);
        head.is_whole = read.is_ok() && line.end().is_ok();
        head.is_notification = head.is_whole && has_method && head.id.is_none();
        head
    }

    /// The answer to whoever waits for one. What is no JSON and shows no id gets none: it may be no client's at all, and two sides
    /// that answer each other's rubbish never end.
    fn refused(self, error: ErrorData) -> Option<Incoming> {
        let id = self.id.and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let waits = id.is_some() || self.is_whole && !self.is_notification;
        (waits && !self.is_answer).then(|| Incoming::Refused(Box::new(JsonRpcMessage::error(error, id))))
    }
}

/// Fills in what is read, though the line should break off.
struct Fields<'a> {
    head: &'a mut Head,
    has_method: &'a mut bool,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "id" => {
                    self.head.id = Some(map.next_value()?);
                    continue;
                }
                "result" | "error" => self.head.is_answer = true,
                "method" => *self.has_method = true,
                _ => {}
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], longest: usize) -> Vec<Value> {
        let mut lines = Lines { input: text, longest };
        let shown = |incoming| match incoming {
            Incoming::Message(message) => serde_json::to_value(message).expect("a message is JSON"),
            Incoming::Refused(refusal) => {
                let refusal = serde_json::to_value(refusal).expect("a message is JSON");
                serde_json::json!([refusal["id"], refusal["error"]["code"]])
            }
        };
        std::iter::from_fn(|| lines.next()).map(shown).collect()
    }

    fn one(text: &str) -> Value {
        let mut all = all(text.as_bytes(), 4_000);
        assert!(all.len() < 2, "{all:?}");
        all.pop().unwrap_or_default()
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

    #[test]
    fn messages_are_found_however_their_lines_end() {
        for text in [format!("{PING}\n"), format!("{PING}\r\n"), format!("\n\r\n{PING}"), format!("\u{feff}{PING}\n")] {
            assert_eq!(one(&text)["id"], 7, "{text:?}");
        }
        assert_eq!(all(format!("{PING}\n{PING}\n").as_bytes(), 4_000).len(), 2);
        assert_eq!(one(""), Value::Null);
    }

    #[test]
    fn a_request_that_cannot_be_held_is_refused_by_its_id_wherever_that_stands() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for value in [r#""\ud800""#, r#""\udc00x""#, "1e400", &*deep] {
            for line in [
                format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"x":{value}}}}}"#),
                format!(r#"{{"method":"tools/call","params":{{"x":{value}}},"jsonrpc":"2.0","id":"a"}}"#),
            ] {
                assert_eq!(one(&line), serde_json::json!(["a", -32_700]), "{line}");
            }
        }
    }

    #[test]
    fn what_breaks_off_is_refused_by_the_id_before_it() {
        assert_eq!(one(r#"{"id":3,"method":"ping","params":{"a":"#), serde_json::json!([3, -32_700]));
        assert_eq!(one(&format!("{PING}}}")), serde_json::json!([7, -32_700]));
        for line in
            ["hello", "{", r#"{"method":"#, r#"{"method":"ping","params":{"#, r#"{"id":3,"result":{"#, "\"\\ud800\""]
        {
            assert_eq!(one(line), Value::Null, "{line}");
        }
    }

    #[test]
    fn json_that_is_no_message_is_refused_without_an_id() {
        for line in [
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            r#"{"a":1}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        ] {
            assert_eq!(one(line), serde_json::json!([null, -32_600]), "{line}");
        }
        // An answer, and something that is only told.
        for line in [r#"{"jsonrpc":"2.0","id":{},"result":{}}"#, r#"{"jsonrpc":"1.0","method":"hello"}"#] {
            assert_eq!(one(line), Value::Null, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_the_next_is_read() {
        let long = "x".repeat(200_000);
        for line in [
            format!(r#"{{"method":"tools/call","params":{{"x":"{long}"}},"jsonrpc":"2.0","id":9}}"#),
            format!(r#"{{"id":9,"method":"tools/call","params":{{"x":"{long}"}}}}"#),
            format!(r#"{{"id":9,"method":"tools/call","params":{{"x":"{long}"#),
        ] {
            let found = all(format!("{line}\n{PING}\n").as_bytes(), 4_000);
            assert_eq!(found.len(), 2, "{found:?}");
            assert_eq!((&found[0], &found[1]["id"]), (&serde_json::json!([9, -32_600]), &Value::from(7)));
        }
        assert_eq!(all(format!("{long}\n{PING}\n").as_bytes(), 4_000).len(), 1);
        // The limit itself is allowed, with an end or without.
        for end in ["", "\n"] {
            assert_eq!(all(format!("{PING}{end}").as_bytes(), PING.len())[0]["id"], 7);
            assert_eq!(all(format!("{PING}{end}").as_bytes(), PING.len() - 1), [serde_json::json!([7, -32_600])]);
        }
    }
}
