//! What requests of a route look like.

use std::fmt;

use serde::de::{Error, SeqAccess, Unexpected, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The shape of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Wire {
    /// Anthropic's Messages.
    #[serde(rename = "anthropic.messages")]
    AnthropicMessages,
    /// OpenAI's Chat Completions.
    #[serde(rename = "openai.chat")]
    OpenaiChat,
    /// OpenAI's Responses.
    #[serde(rename = "openai.responses")]
    OpenaiResponses,
    /// Gemini's generateContent.
    #[serde(rename = "gemini.generate_content")]
    GeminiGenerateContent,
    /// Bedrock's Converse.
    #[serde(rename = "bedrock.converse")]
    BedrockConverse,
    /// Ollama's own chat.
    #[serde(rename = "ollama.chat")]
    OllamaChat,
    /// The messages as they are rendered.
    #[serde(rename = "blocks")]
    Blocks,
}

impl Wire {
    /// As it stands in a profile.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic.messages",
            Self::OpenaiChat => "openai.chat",
            Self::OpenaiResponses => "openai.responses",
            Self::GeminiGenerateContent => "gemini.generate_content",
            Self::BedrockConverse => "bedrock.converse",
            Self::OllamaChat => "ollama.chat",
            Self::Blocks => "blocks",
        }
    }
}

/// Do models see?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Vision {
    /// They do.
    Yes,
    /// They do not: no image is ever sent.
    No,
    /// It depends on the model.
    Unknown,
}

/// Where images may stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Placement {
    /// In a user's message.
    pub user: RolePlacement,
    /// In the system's.
    pub system: RolePlacement,
    /// In the assistant's.
    pub assistant: RolePlacement,
    /// In a tool's result.
    pub tool_result: ToolResultPlacement,
    /// The first model that takes them in a tool's result, where not all do.
    #[serde(default)]
    pub tool_result_min_model: Option<String>,
    /// Is an image in the wrong place ignored, without an error?
    #[serde(default)]
    pub silent_failure: bool,
}

/// Whether a message may hold images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RolePlacement {
    /// It may.
    Native,
    /// It may not.
    TextOnly,
    /// Not confirmed: none are put there.
    Unknown,
}

/// Where the images of a tool's result go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolResultPlacement {
    /// Into the result.
    Native,
    /// Into a user's message behind the whole run of results.
    HoistNextUser,
    /// Nowhere.
    Reject,
}

/// How an image may be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Source {
    /// By its bytes.
    Base64,
    /// By an address.
    Url,
    /// By the id or address of a file that was uploaded to the service.
    FileId,
    /// By its place in S3.
    S3,
}

/// How an image's bytes and type are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Encoding {
    /// Its bytes.
    pub base64_form: Base64Form,
    /// Its type.
    pub type_field: TypeField,
}

/// How base64 is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Base64Form {
    /// As it is.
    Bare,
    /// As a `data:` URL.
    DataUrl,
}

/// How a type is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TypeField {
    /// `image/png`.
    Mime,
    /// `png`.
    ShortFormat,
    /// Not at all.
    None,
}

/// Are moving images taken?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Animated {
    /// They are.
    Yes,
    /// They are not: one frame only.
    No,
    /// Not confirmed.
    Unknown,
}

/// The setting of how closely a model looks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Detail {
    /// The field of an image's part, where there is one.
    #[serde(default)]
    pub field: Option<String>,
    /// What it may say.
    #[serde(default)]
    pub values: Vec<String>,
    /// Must it be there?
    #[serde(default)]
    pub required: bool,
    /// What it says unless something else is wanted; what is meant where it is left out.
    #[serde(default)]
    pub default: Option<String>,
}

/// A list, or why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Listed<T> {
    /// These.
    These(Vec<T>),
    /// The model decides.
    Model,
    /// Not confirmed.
    Unknown,
}

impl<T> Listed<T> {
    /// The list, where there is one.
    #[must_use]
    pub fn get(&self) -> Option<&[T]> {
        match self {
            Self::These(list) => Some(list),
            Self::Model | Self::Unknown => None,
        }
    }
}

impl<T: Serialize> Serialize for Listed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::These(list) => list.serialize(serializer),
            Self::Model => serializer.serialize_str("model"),
            Self::Unknown => serializer.serialize_str("unknown"),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lists<T>(std::marker::PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Lists<T> {
            type Value = Listed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list, \"model\" or \"unknown\"")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Listed<T>, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Listed::These)
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Listed<T>, E> {
                match word {
                    "model" => Ok(Listed::Model),
                    "unknown" => Ok(Listed::Unknown),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }

        deserializer.deserialize_any(Lists(std::marker::PhantomData))
    }
}
