//! What a tool says it made: one entry of its result's `attachments`.

use attache_conversation::{Refusal, RefusalCode, clean};
use attache_media::{MediaType, normalise};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// A file that a tool names, and the type it claims for it. Nothing about it is trusted.
///
/// ```
/// use attache_runtime::Attachment;
/// use serde_json::json;
///
/// let declared = Attachment::new("shot.png", "image/png");
/// assert_eq!(declared, Attachment::from_value(&json!({"media_type": "image/png", "path": "shot.png"})));
///
/// // Not an error: it will be refused as `malformed`, with a note that says so.
/// let broken = Attachment::from_value(&json!({"path": 7}));
/// assert_eq!(broken.path(), "");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attachment {
    path: String,
    label: Label,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Label {
    /// As the tool wrote it.
    Declared(String),
    /// There is none, by intent: the bytes decide.
    Absent,
    /// The JSON was no attachment; why, and the type if there was a string in its place.
    Broken { why: &'static str, media_type: String },
}

impl Attachment {
    /// A file with a declared type, which must be that of its bytes.
    #[must_use]
    pub fn new(path: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self { path: path.into(), label: Label::Declared(media_type.into()) }
    }

    /// A file whose bytes alone decide its type: for callers that name files themselves, such as a person at a
    /// command line.
    #[must_use]
    pub fn by_bytes(path: impl Into<String>) -> Self {
        Self { path: path.into(), label: Label::Absent }
    }

    /// Reads `{"media_type": …, "path": …}`. Other keys are left alone; anything that is not of this shape becomes an
    /// attachment that will be refused as `malformed`, since a tool's slip must not cost its result.
    #[must_use]
    pub fn from_value(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (path, media_type) = (text("path"), text("media_type"));
        let why = match value {
            Value::Object(_) if value.get("path").is_none() => Some("it has no path"),
            Value::Object(_) if path.is_none() => Some("its path is not a string"),
            Value::Object(_) if value.get("media_type").is_none() => Some("it has no media type"),
            Value::Object(_) if media_type.is_none() => Some("its media type is not a string"),
            Value::Object(_) => None,
            _ => Some("it is not an object with a media type and a path"),
        };
        let media_type = media_type.unwrap_or_default().to_owned();
        let label = match why {
            Some(why) => Label::Broken { why, media_type },
            None => Label::Declared(media_type),
        };
        Self { path: path.unwrap_or_default().to_owned(), label }
    }

    /// Reads the `attachments` of a tool's result: an array, or nothing (`null`). Anything else is one attachment
    /// that will be refused.
    #[must_use]
    pub fn list_from_value(value: &Value) -> Vec<Self> {
        match value {
            Value::Null => Vec::new(),
            Value::Array(items) => items.iter().map(Self::from_value).collect(),
            other => vec![Self::from_value(other)],
        }
    }

    /// The path as the tool wrote it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The type as the tool wrote it; `None` where the bytes decide.
    #[must_use]
    pub fn media_type(&self) -> Option<&str> {
        match &self.label {
            Label::Declared(text) => Some(text),
            Label::Broken { media_type, .. } => Some(media_type),
            Label::Absent => None,
        }
    }

    /// Is there a path, and a type unless the bytes decide? Then, is the type allowed?
    pub(crate) fn declared(&self) -> Result<Option<MediaType>, Refusal> {
        let path_is_blank = self.path.trim().is_empty();
        let why = match &self.label {
            Label::Broken { why, .. } => why,
            Label::Declared(text) if text.trim().is_empty() && path_is_blank => "its path and media type are blank",
            Label::Declared(text) if text.trim().is_empty() => "its media type is blank",
            _ if path_is_blank => "its path is blank",
            Label::Absent => return Ok(None),
            Label::Declared(text) => return allowed(text).map(Some),
        };
        Err(Refusal::new(RefusalCode::Malformed, why))
    }
}

/// The type that a label means.
pub(crate) fn allowed(declared: &str) -> Result<MediaType, Refusal> {
    normalise(declared).ok_or_else(|| {
        let types = MediaType::ALL.map(MediaType::as_str).join(", ");
        let reason = format!("the media type \"{}\" is none of {types}", clean(declared));
        Refusal::new(RefusalCode::MediaTypeNotAllowed, reason)
    })
}

impl<'de> Deserialize<'de> for Attachment {
    /// As [`from_value`](Self::from_value): never fails on valid JSON.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self::from_value(&value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_no_attachment_is_malformed_and_says_why() {
        for (value, why) in [
            (json!({"path": "a.png"}), "it has no media type"),
            (json!({"path": "a.png", "media_type": null}), "its media type is not a string"),
            (json!({"path": 7, "media_type": "image/png"}), "its path is not a string"),
            (json!({"media_type": "image/png"}), "it has no path"),
            (json!("a.png"), "it is not an object with a media type and a path"),
            (json!({"path": " ", "media_type": "image/png"}), "its path is blank"),
            (json!({"path": "a.png", "media_type": "\t"}), "its media type is blank"),
            (json!({"path": "", "media_type": ""}), "its path and media type are blank"),
        ] {
            let refusal = Attachment::from_value(&value).declared().unwrap_err();
            assert_eq!((refusal.code, refusal.reason.as_str()), (RefusalCode::Malformed, why), "{value}");
        }
    }

    #[test]
    fn declared_types_are_normalised_before_they_are_judged() {
        for (text, expected) in [
            ("image/jpg", Ok(MediaType::Jpeg)),
            ("IMAGE/PNG", Ok(MediaType::Png)),
            ("image/png; charset=binary", Ok(MediaType::Png)),
            ("image/*", Err(RefusalCode::MediaTypeNotAllowed)),
            ("png", Err(RefusalCode::MediaTypeNotAllowed)),
        ] {
            let found = Attachment::new("a", text).declared();
            assert_eq!(found.map(|found| found.unwrap()).map_err(|refusal| refusal.code), expected, "{text}");
        }
        assert_eq!(Attachment::by_bytes("a").declared(), Ok(None));
    }

    #[test]
    fn a_list_is_an_array_or_nothing() {
        assert_eq!(Attachment::list_from_value(&Value::Null), []);
        let two = Attachment::list_from_value(&json!([{"path": "a", "media_type": "image/gif"}, 3]));
        assert_eq!(two.len(), 2);
        assert_eq!(Attachment::list_from_value(&json!("a.png")).len(), 1);
    }
}
