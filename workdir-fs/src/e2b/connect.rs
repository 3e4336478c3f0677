//! The framing of a Connect stream: one byte of flags, four of length, then JSON.

use serde_json::Value;

/// The longest message of a stream that is taken, in bytes.
const MAX_MESSAGE: usize = 4 << 20;

/// This message is the last: no content, but why the stream ended.
const END: u8 = 0b10;
const COMPRESSED: u8 = 0b01;

/// A request of a single message.
pub(super) fn envelope(message: &Value) -> Vec<u8> {
    let mut bytes = vec![0; 5];
    let json = message.to_string();
    // A command's arguments are a few paths.
    let length = u32::try_from(json.len()).expect("a request of ours has less than 4 GiB");
    bytes[1..].copy_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(json.as_bytes());
    bytes
}

/// A message of a stream.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    Content(Value),
    /// The end, with what the service says of it.
    End(Value),
}

/// Takes a stream apart, whatever the pieces in which it arrives.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pending: Vec<u8>,
}

impl Messages {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
    }

    /// The next whole message. An error is for good.
    pub(super) fn next(&mut self) -> Result<Option<Message>, &'static str> {
        let Some((&[flags, a, b, c, d], rest)) = self.pending.split_first_chunk() else {
            return Ok(None);
        };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if flags & COMPRESSED != 0 {
            return Err("a message is compressed, which nobody asked for");
        }
        if length > MAX_MESSAGE {
            return Err("a message is too long");
        }
        let Some(json) = rest.get(..length) else {
            return Ok(None);
        };
        let value = if json.is_empty() { Ok(Value::Null) } else { serde_json::from_slice(json) };
        let value = value.map_err(|_| "a message is no JSON")?;
        self.pending.drain(..5 + length);
        Ok(Some(if flags & END == 0 { Message::Content(value) } else { Message::End(value) }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn drain(messages: &mut Messages) -> Result<Vec<Message>, &'static str> {
        std::iter::from_fn(|| messages.next().transpose()).collect()
    }

    #[test]
    fn a_stream_comes_apart_wherever_it_is_cut() {
        let mut bytes = envelope(&json!({"a": "ü"}));
        bytes.extend(envelope(&json!([])));
        bytes.extend([END, 0, 0, 0, 2]);
        bytes.extend(b"{}");
        let expected = [Message::Content(json!({"a": "ü"})), Message::Content(json!([])), Message::End(json!({}))];
        for cut in 0..=bytes.len() {
            let mut messages = Messages::default();
            messages.push(&bytes[..cut]);
            let mut found = drain(&mut messages).unwrap();
            messages.push(&bytes[cut..]);
            found.extend(drain(&mut messages).unwrap());
            assert_eq!(found, expected, "cut at {cut}");
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in [&[COMPRESSED, 0, 0, 0, 0][..], &[0, 255, 0, 0, 0], b"\0\0\0\0\x01x"] {
            let mut messages = Messages::default();
            messages.push(bytes);
            assert!(messages.next().is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_arrives_panics(pieces: Vec<Vec<u8>>) {
            let mut messages = Messages::default();
            for piece in pieces {
                messages.push(&piece);
                if drain(&mut messages).is_err() {
                    break;
                }
            }
        }
    }
}
