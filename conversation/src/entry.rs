//! The lines of a log that are attache's own: objects without a `role` whose `type` begins with `attache.`.
//! Other readers skip them. Those of other kinds than the ones here are [asides](crate::Aside).

use attache_blobstore::BlobId;
use serde_json::{Value, json};

/// What the `type` of every line of ours begins with.
pub(crate) const PREFIX: &str = "attache.";

/// Is this the kind, without the prefix, of a line that the log itself goes by?
pub(crate) fn is_own_kind(kind: &str) -> bool {
    matches!(kind, "header" | "withhold" | "restore")
}

/// The version of the log's form that this crate writes.
pub(crate) const LOG_VERSION: u64 = 1;

/// An entry of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Stands first in a log that attache began.
    Header { version: u64 },
    /// From here on an image is shown as a line with the reason.
    Withhold { id: BlobId, reason: String },
    /// Ends a withholding.
    Restore { id: BlobId },
    /// Malformed; it has no effect.
    Unknown,
}

impl Entry {
    pub(crate) fn read(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let id = || text("sha256").and_then(BlobId::parse);
        match text("type") {
            Some("attache.header") => {
                value.get("version").and_then(Value::as_u64).map_or(Self::Unknown, |version| Self::Header { version })
            }
            Some("attache.withhold") => id().map_or(Self::Unknown, |id| Self::Withhold {
                id,
                reason: text("reason").unwrap_or_default().to_owned(),
            }),
            Some("attache.restore") => id().map_or(Self::Unknown, |id| Self::Restore { id }),
            _ => Self::Unknown,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Header { version } => json!({"type": "attache.header", "version": version}),
            Self::Withhold { id, reason } => {
                json!({"type": "attache.withhold", "sha256": id.to_string(), "reason": reason})
            }
            Self::Restore { id } => json!({"type": "attache.restore", "sha256": id.to_string()}),
            Self::Unknown => Value::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_survive_the_log() {
        let id = BlobId::of(b"x");
        for entry in [
            Entry::Header { version: LOG_VERSION },
            Entry::Withhold { id, reason: "too \"big\"\n".to_owned() },
            Entry::Restore { id },
        ] {
            assert_eq!(Entry::read(&entry.to_value()), entry);
        }
        for unknown in [json!({"type": "attache.later"}), json!({"type": "attache.withhold", "sha256": "x"}), json!({})]
        {
            assert_eq!(Entry::read(&unknown), Entry::Unknown);
        }
    }
}
