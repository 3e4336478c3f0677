//! What a scripted model does, request by request.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::driver::{Chunk, DriverError, Modality, ModelInfo, Reply, ToolCall};
use crate::replay::quote::Quotes;

/// What scripted models do, request by request, read from JSON:
///
/// ```
/// use attache_runtime::Script;
///
/// let script = Script::from_json(r#"{
///   "models": [{"id": "seer", "input_modalities": ["text", "image"]}, {"id": "undeclared"}],
///   "entries": [
///     {"chunks": [{"text": "Let me "}, {"text": "look."},
///                 {"tool_call": {"id": "call_1", "name": "read_image", "input": {"file_path": "a.png"}}}]},
///     {"throw": {"chunks": [{"text": "I s"}], "code": "overloaded", "message": "try later"}},
///     "hang"
///   ],
///   "sessions": {"other": [{"chunks": [{"text": "Hello."}]}]}
/// }"#)?;
///
/// let error = Script::from_json(r#"{"models": [{"id": "m", "input_modalities": ["text", "audio"]}]}"#).unwrap_err();
/// assert_eq!(error.to_string(), r#"model "m" declares the input modality "audio"; there are "text" and "image""#);
/// # drop(script);
/// # Ok::<(), attache_runtime::ScriptError>(())
/// ```
///
/// | field | meaning | if it is absent |
/// |---|---|---|
/// | `models` | what may be asked; the first where a request names none | one, `scripted`, that declares nothing |
/// | `entries` | what each session gets that has none of its own, from the first on | none |
/// | `sessions` | the entries of one session, by its name | none |
///
/// # Quoting the request
///
/// `{{fromRequest:REGEX}}` in any string of an entry stands for the last match in the request, or for the match's first group
/// if the regex has one and it takes part. The request is searched as compact JSON text, `{"model":…,"tools":[…],"messages":[…]}`, so
/// that the last match is the newest, and what is quoted is still escaped as in JSON. No match is an error that names the regex.
/// The regex ends at the first `}}` that no third `}` follows. Needs the feature `replay`.
#[derive(Clone, Debug)]
pub struct Script {
    pub(super) models: Vec<ModelInfo>,
    pub(super) entries: Vec<ScriptEntry>,
    pub(super) sessions: BTreeMap<String, Vec<ScriptEntry>>,
    pub(super) quotes: Quotes,
}

/// What a scripted model does at one request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScriptEntry {
    /// Answers, in these pieces.
    Chunks(Vec<Chunk>),
    /// Gives these pieces, and then fails.
    Throw {
        /// What is heard before.
        chunks: Vec<Chunk>,
        /// What it fails with.
        error: DriverError,
    },
    /// Answers nothing until it is cancelled.
    Hang,
}

/// A script cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is not JSON, or not of the form.
    #[error("the script cannot be read: {0}")]
    Form(#[from] serde_json::Error),
    /// A model takes something that there is not.
    #[error("model \"{model}\" declares the input modality \"{modality}\"; there are \"text\" and \"image\"")]
    Modality {
        /// The model.
        model: String,
        /// What it declares.
        modality: String,
    },
    /// Two models have one name.
    #[error("two models are called \"{0}\"")]
    SameModel(String),
    /// A quote does not end, is no regex, or is too large.
    #[error("the quote \"{quote}\" cannot be used: {reason}")]
    Quote {
        /// It, with its braces where it ends.
        quote: String,
        /// Why.
        reason: String,
    },
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// See [`ScriptError`]. Fields that are not known are errors too.
    pub fn from_json(json: &str) -> Result<Self, ScriptError> {
        let Document { models, entries, sessions } = serde_json::from_str(json)?;
        let mut script = Self::new(entries.into_iter().map(ScriptEntry::from));
        if let Some(models) = models.filter(|models| !models.is_empty()) {
            script.models = models.into_iter().map(Model::read).collect::<Result<_, _>>()?;
        }
        for (at, model) in script.models.iter().enumerate() {
            if script.models[..at].iter().any(|other| other.id == model.id) {
                return Err(ScriptError::SameModel(model.id.clone()));
            }
        }
        let read = |entries: Vec<Entry>| entries.into_iter().map(ScriptEntry::from).collect();
        script.sessions = sessions.into_iter().map(|(name, entries)| (name, read(entries))).collect();
        for entry in script.entries.iter().chain(script.sessions.values().flatten()) {
            entry.each_string(&mut |text| script.quotes.learn(text))?;
        }
        Ok(script)
    }

    /// A script of these entries for every session, of a model that declares nothing. Strings are taken as they are.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = ScriptEntry>) -> Self {
        Self {
            models: vec![ModelInfo { id: "scripted".to_owned(), input_modalities: None }],
            entries: entries.into_iter().collect(),
            sessions: BTreeMap::new(),
            quotes: Quotes::default(),
        }
    }

    /// Sets the one model.
    #[must_use]
    pub fn with_model(mut self, model: ModelInfo) -> Self {
        self.models = vec![model];
        self
    }
}

impl ScriptEntry {
    /// Fails at once.
    #[must_use]
    pub fn throw(error: DriverError) -> Self {
        Self::Throw { chunks: Vec::new(), error }
    }

    /// Shows every string that may quote.
    fn each_string(&self, visit: &mut dyn FnMut(&str) -> Result<(), ScriptError>) -> Result<(), ScriptError> {
        // What is put in their place here is not used.
        self.map_strings(&mut |text| visit(text).map(|()| String::new())).map(drop)
    }

    /// The entry with every string that may quote replaced.
    pub(super) fn map_strings<E>(&self, map: &mut dyn FnMut(&str) -> Result<String, E>) -> Result<Self, E> {
        let chunks_of = |chunks: &[Chunk], map: &mut dyn FnMut(&str) -> Result<String, E>| {
            chunks.iter().map(|chunk| map_chunk(chunk, map)).collect::<Result<Vec<_>, E>>()
        };
        Ok(match self {
            Self::Chunks(chunks) => Self::Chunks(chunks_of(chunks, map)?),
            Self::Throw { chunks, error } => {
                let chunks = chunks_of(chunks, map)?;
                let error = DriverError::new(map(error.code())?, map(error.message())?);
                Self::Throw { chunks, error }
            }
            Self::Hang => Self::Hang,
        })
    }
}

fn map_chunk<E>(chunk: &Chunk, map: &mut dyn FnMut(&str) -> Result<String, E>) -> Result<Chunk, E> {
    Ok(match chunk {
        Chunk::Text(text) => Chunk::Text(map(text)?),
        Chunk::Call(ToolCall { id, name, input }) => {
            Chunk::Call(ToolCall { id: map(id)?, name: map(name)?, input: map_value(input, map)? })
        }
    })
}

/// Keys are left as they are. What was read from JSON is nested no deeper than its reader goes.
fn map_value<E>(value: &Value, map: &mut dyn FnMut(&str) -> Result<String, E>) -> Result<Value, E> {
    Ok(match value {
        Value::String(text) => Value::String(map(text)?),
        Value::Array(items) => Value::Array(items.iter().map(|item| map_value(item, map)).collect::<Result<_, _>>()?),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| Ok((key.clone(), map_value(value, map)?)));
            Value::Object(fields.collect::<Result<_, E>>()?)
        }
        other => other.clone(),
    })
}

impl From<Reply> for ScriptEntry {
    fn from(reply: Reply) -> Self {
        Self::Chunks(reply.into_chunks())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    models: Option<Vec<Model>>,
    #[serde(default)]
    entries: Vec<Entry>,
    #[serde(default)]
    sessions: BTreeMap<String, Vec<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    id: String,
    input_modalities: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Chunks(Vec<Piece>),
    Throw(Throw),
    Hang,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Throw {
    #[serde(default)]
    chunks: Vec<Piece>,
    code: String,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Piece {
    Text(String),
    ToolCall(Call),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: String,
    name: String,
    input: Value,
}

impl Model {
    fn read(self) -> Result<ModelInfo, ScriptError> {
        let Self { id, input_modalities } = self;
        let read = |name: String| match &*name {
            "text" => Ok(Modality::Text),
            "image" => Ok(Modality::Image),
            _ => Err(ScriptError::Modality { model: id.clone(), modality: name }),
        };
        let input_modalities = input_modalities.map(|names| names.into_iter().map(read).collect()).transpose()?;
        Ok(ModelInfo { id, input_modalities })
    }
}

impl From<Entry> for ScriptEntry {
    fn from(entry: Entry) -> Self {
        let chunks = |pieces: Vec<Piece>| pieces.into_iter().map(Chunk::from).collect();
        match entry {
            Entry::Chunks(pieces) => Self::Chunks(chunks(pieces)),
            Entry::Throw(Throw { chunks: pieces, code, message }) => {
                Self::Throw { chunks: chunks(pieces), error: DriverError::new(code, message) }
            }
            Entry::Hang => Self::Hang,
        }
    }
}

impl From<Piece> for Chunk {
    fn from(piece: Piece) -> Self {
        match piece {
            Piece::Text(text) => Self::Text(text),
            Piece::ToolCall(Call { id, name, input }) => Self::Call(ToolCall { id, name, input }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_script_fails_when_it_is_loaded_and_says_why() {
        for (json, why) in [
            ("", "EOF while parsing"),
            ("17", "invalid type"),
            (r#"{"entry": []}"#, "unknown field `entry`"),
            (r#"{"entries": [{"chunk": []}]}"#, "unknown variant `chunk`"),
            (r#"{"entries": [{"chunks": [{"image": "x"}]}]}"#, "unknown variant `image`"),
            (r#"{"entries": [{"throw": {"message": "m"}}]}"#, "missing field `code`"),
            (r#"{"entries": [{"chunks": [{"tool_call": {"id": "c", "name": "n"}}]}]}"#, "missing field `input`"),
            (
                r#"{"models": [{"id": "m", "input_modalities": ["Image"]}]}"#,
                "\"m\" declares the input modality \"Image\"",
            ),
            (r#"{"models": [{"id": "m", "input_modalities": [""]}]}"#, "the input modality \"\""),
            (r#"{"models": [{"id": "m"}, {"id": "m"}]}"#, "two models are called \"m\""),
            (r#"{"entries": [{"chunks": [{"text": "{{fromRequest:a"}]}]}"#, "it has no end"),
            (r#"{"sessions": {"s": [{"throw": {"code": "{{fromRequest:a"}}]}}"#, "it has no end"),
        ] {
            let error = Script::from_json(json).unwrap_err().to_string();
            assert!(error.contains(why), "{json}: {error}");
        }
    }

    #[test]
    fn what_models_take_is_read_as_it_is_declared() {
        let json = r#"{"models": [{"id": "a"}, {"id": "b", "input_modalities": []},
            {"id": "c", "input_modalities": ["text", "image"]}]}"#;
        let declared: Vec<_> =
            Script::from_json(json).unwrap().models.into_iter().map(|model| model.input_modalities).collect();
        assert_eq!(declared, [None, Some(vec![]), Some(vec![Modality::Text, Modality::Image])]);
    }

    #[test]
    fn what_a_program_writes_is_taken_as_it_is() {
        let script = Script::new([ScriptEntry::from(Reply::text("{{fromRequest:("))]);
        assert_eq!(script.entries, [ScriptEntry::Chunks(vec![Chunk::Text("{{fromRequest:(".to_owned())])]);
    }
}
