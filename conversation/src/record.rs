//! The record form: the small JSON block that a log keeps instead of an image's bytes.

use attache_blobstore::BlobId;
use attache_media::MediaType;
use serde_json::{Value, json};

/// What a record says of its image, as it stands in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRecord {
    /// The name of the blob.
    pub sha256: RecordedSha,
    /// The recorded type; `""` where the record has none. Logs of other writers may hold anything.
    pub media_type: RecordedType,
    /// The recorded length.
    pub bytes: u64,
}

/// A record's `sha256`: a blob's name, or a string that is none and therefore never touches a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedSha {
    /// 64 lowercase hex digits.
    Id(BlobId),
    /// Anything else.
    Other(Box<str>),
}

impl RecordedSha {
    /// Reads the string of a record.
    #[must_use]
    pub fn new(text: &str) -> Self {
        BlobId::parse(text).map_or_else(|| Self::Other(text.into()), Self::Id)
    }

    /// The blob's name, if this is one.
    #[must_use]
    pub fn id(&self) -> Option<BlobId> {
        match self {
            Self::Id(id) => Some(*id),
            Self::Other(_) => None,
        }
    }
}

impl std::fmt::Display for RecordedSha {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Other(text) => f.write_str(text),
        }
    }
}

/// A record's `media_type`: one of the four, or whatever another writer put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordedType {
    /// One of the four, spelled canonically.
    Known(MediaType),
    /// Anything else.
    Other(Box<str>),
}

impl RecordedType {
    /// Reads the string of a record.
    #[must_use]
    pub fn new(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Other(text.into()), Self::Known)
    }

    /// The text as recorded.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Known(known) => known.as_str(),
            Self::Other(text) => text,
        }
    }

    /// The type meant, aliases of older writers included.
    #[must_use]
    pub fn meaning(&self) -> Option<MediaType> {
        match self {
            Self::Known(known) => Some(*known),
            Self::Other(text) => attache_media::normalise(text),
        }
    }
}

/// An `image` block whose source is a `file` with a `sha256`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileBlock {
    /// In record form.
    Record(ImageRecord),
    /// Meant as a record, but its `sha256` is no string or its `bytes` no whole number. It must not reach a driver.
    Malformed {
        /// The recorded type, or `""`.
        media_type: Box<str>,
        /// What stands for the length, as JSON text.
        bytes: Box<str>,
        /// What stands for the name, as text.
        sha256: Box<str>,
    },
}

/// Reads a content block; `None` for every block that the render pass leaves alone (text, other image sources, a
/// provider's own `file` reference, which has no `sha256`).
#[must_use]
pub fn file_block(block: &Value) -> Option<FileBlock> {
    if block.get("type")?.as_str()? != "image" {
        return None;
    }
    let source = block.get("source")?;
    if source.get("type")?.as_str()? != "file" {
        return None;
    }
    let sha256 = source.get("sha256")?;
    let media_type = source.get("media_type").and_then(Value::as_str).unwrap_or("");
    let bytes = source.get("bytes");
    Some(match (sha256.as_str(), bytes.and_then(Value::as_u64)) {
        (Some(sha256), Some(bytes)) => FileBlock::Record(ImageRecord {
            sha256: RecordedSha::new(sha256),
            media_type: RecordedType::new(media_type),
            bytes,
        }),
        (text, _) => FileBlock::Malformed {
            media_type: media_type.into(),
            bytes: bytes.map_or_else(|| "unknown".into(), |value| value.to_string().into()),
            sha256: text.map_or_else(|| sha256.to_string(), str::to_owned).into(),
        },
    })
}

/// Makes a block in record form. It has these keys and no others: logs are exchanged with other readers of the form.
#[must_use]
pub fn record_block(id: BlobId, media_type: MediaType, bytes: u64) -> Value {
    json!({
        "type": "image",
        "source": {"type": "file", "sha256": id.to_string(), "media_type": media_type.as_str(), "bytes": bytes},
    })
}

/// Makes a `text` block.
#[must_use]
pub fn text_block(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

/// The blocks of a message that may be images: those of its `content`, and those of a `tool_result` block's own
/// `content`, in order.
pub fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    content(message).flat_map(|block| {
        let inner = (block.get("type").and_then(Value::as_str) == Some("tool_result")).then(|| content(block));
        std::iter::once(block).chain(inner.into_iter().flatten())
    })
}

fn content(holder: &Value) -> impl Iterator<Item = &Value> {
    holder.get("content").and_then(Value::as_array).into_iter().flatten()
}

/// Is there any block in record form?
#[must_use]
pub fn has_file_image(messages: &[Value]) -> bool {
    messages.iter().flat_map(blocks).any(|block| matches!(file_block(block), Some(FileBlock::Record(_))))
}

/// The `sha256` of every record-form block of a message, in order, duplicates kept.
#[must_use]
pub fn referenced_blobs(message: &Value) -> Vec<String> {
    blocks(message)
        .filter_map(|block| match file_block(block) {
            Some(FileBlock::Record(record)) => Some(record.sha256.to_string()),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(source: Value) -> Value {
        json!({"type": "image", "source": source})
    }

    #[test]
    fn a_record_has_exactly_the_agreed_bytes() {
        let id = BlobId::of(b"x");
        assert_eq!(
            record_block(id, MediaType::Png, 69).to_string(),
            format!(
                r#"{{"type":"image","source":{{"type":"file","sha256":"{id}","media_type":"image/png","bytes":69}}}}"#
            )
        );
    }

    #[test]
    fn record_form_is_told_from_everything_else() {
        let sha = "0".repeat(64);
        let is_record = |block: &Value| matches!(file_block(block), Some(FileBlock::Record(_)));
        let is_malformed = |block: &Value| matches!(file_block(block), Some(FileBlock::Malformed { .. }));
        for yes in [
            image(json!({"type": "file", "sha256": sha, "media_type": "image/png", "bytes": 1})),
            image(json!({"type": "file", "sha256": sha, "bytes": 0})),
            image(json!({"type": "file", "sha256": "../../etc/passwd", "bytes": u64::MAX})),
        ] {
            assert!(is_record(&yes), "{yes}");
        }
        for malformed in [
            image(json!({"type": "file", "sha256": 5, "bytes": 1})),
            image(json!({"type": "file", "sha256": null, "bytes": 1})),
            image(json!({"type": "file", "sha256": sha})),
            image(json!({"type": "file", "sha256": sha, "bytes": -1})),
            image(json!({"type": "file", "sha256": sha, "bytes": 1.0})),
            image(json!({"type": "file", "sha256": sha, "bytes": "1"})),
        ] {
            assert!(is_malformed(&malformed), "{malformed}");
        }
        for untouched in [
            image(json!({"type": "file", "file_id": "file_1"})),
            image(json!({"type": "url", "url": "https://example.org/a.png"})),
            image(json!({"type": "base64", "media_type": "image/png", "data": ""})),
            json!({"type": "document", "source": {"type": "file", "sha256": sha, "bytes": 1}}),
            json!({"type": "text", "text": "hi"}),
            json!("hi"),
            json!(null),
        ] {
            assert_eq!(file_block(&untouched), None, "{untouched}");
        }
    }

    #[test]
    fn references_are_found_in_tool_results_too_in_order_with_duplicates() {
        let [a, b] = [BlobId::of(b"a"), BlobId::of(b"b")];
        let record = |id| record_block(id, MediaType::Png, 1);
        let message = json!({"role": "user", "content": [
            record(b),
            {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x"}, record(a), record(a)]},
            {"type": "other", "content": [record(a)]},
            record(b),
        ]});
        assert_eq!(referenced_blobs(&message), [b, a, a, b].map(|id| id.to_string()));
        assert!(has_file_image(std::slice::from_ref(&message)));
        assert!(!has_file_image(&[json!({"role": "user", "content": "text"})]));
    }
}
