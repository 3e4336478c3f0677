//! Messages that can be recognised: number `n` always has the same content, whoever makes it.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::{pictures, sha256};

/// The length of a large message's text: long enough that a kill falls into the middle of its write.
pub const LARGE: usize = 8 << 20;

/// A driver's image block with the bytes in it, which an append lifts out.
pub fn inline_image(media_type: &str, bytes: &[u8]) -> Value {
    let data = STANDARD.encode(bytes);
    json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
}

/// The block that the log keeps instead.
pub fn record(media_type: &str, bytes: &[u8]) -> Value {
    let (sha256, len) = (sha256(bytes), bytes.len());
    json!({"type": "image", "source": {"type": "file", "sha256": sha256, "media_type": media_type, "bytes": len}})
}

/// A text block.
pub fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

/// Messages as JSON lines.
pub fn lines(messages: &[Value]) -> String {
    messages.iter().fold(String::new(), |mut lines, message| {
        let _ = writeln!(lines, "{message}");
        lines
    })
}

/// The picture of message `n`, if it has one. Four numbers in a row share one, so that blobs are met again.
pub fn picture(n: u64) -> Option<Vec<u8>> {
    let series = n / 8;
    let len = 200 + usize::try_from(series % 5).expect("less than 5") * 60_000;
    n.is_multiple_of(2).then(|| pictures::png_of_len(len, series))
}

/// Message `n` as it is appended.
pub fn numbered(n: u64) -> Value {
    with_block(n, picture(n).map(|bytes| inline_image("image/png", &bytes)))
}

/// Message `n` as the log must hold it.
pub fn numbered_record(n: u64) -> Value {
    with_block(n, picture(n).map(|bytes| record("image/png", &bytes)))
}

/// Message `n` of those that are too long to be written in a moment.
pub fn large(n: u64) -> Value {
    let letter = char::from(b'a' + u8::try_from(n % 26).expect("less than 26"));
    json!({"role": "user", "n": n, "content": letter.to_string().repeat(LARGE)})
}

/// Blob `n` of those that are stored without a message.
pub fn blob(n: u64) -> Vec<u8> {
    let len = pictures::PNG_OF_LEN_MIN + usize::try_from(n * 7919 % 500_000).expect("less than 500 000");
    pictures::png_of_len(len, n)
}

fn with_block(n: u64, block: Option<Value>) -> Value {
    let filler = "lorem ipsum ".repeat(usize::try_from(n % 97).expect("less than 97"));
    let mut content = vec![text(format!("message {n} {filler}"))];
    content.extend(block);
    json!({"role": "user", "n": n, "content": content})
}
