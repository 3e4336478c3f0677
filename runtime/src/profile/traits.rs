//! What a route looks like, apart from its limits.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, SeqAccess, Unexpected, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits::{Cap, Grade};
use super::pattern::Pattern;

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

/// What a service does with images that are larger than its models look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerResize {
    /// What it does.
    pub mode: ServerResizeMode,
    /// The field that decides, where there is one.
    #[serde(default)]
    pub control: Option<String>,
}

/// What is done with larger images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ServerResizeMode {
    /// Scaled down, and nobody is told.
    Silent,
    /// Refused.
    Error,
    /// Nothing.
    None,
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

/// How prefixes of a prompt are cached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Cache {
    /// By whose doing.
    pub mode: CacheMode,
    /// How many marks a request may have.
    #[serde(default)]
    pub max_breakpoints: Option<u32>,
    /// How many blocks before a mark are looked at.
    #[serde(default)]
    pub lookback_blocks: Option<u32>,
    /// The shortest prefix that is cached, in tokens.
    pub min_tokens: Cap,
    /// The same for models of some names; the longest pattern counts.
    #[serde(default)]
    pub min_tokens_by_model: BTreeMap<String, u32>,
    /// What comes first in a prefix.
    #[serde(default)]
    pub order: Vec<String>,
    /// What a changed image makes new, `messages` or the `prefix` from it on.
    #[serde(default)]
    pub image_edit_scope: Option<String>,
    /// How long it lasts.
    #[serde(default)]
    pub ttl: Vec<String>,
    /// Who says so.
    #[serde(default)]
    pub src: Grade,
    /// The month or day of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// By whose doing a prefix is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheMode {
    /// Whoever asks marks it.
    Explicit,
    /// The service does it.
    Implicit,
    /// Either.
    Both,
    /// It is not.
    None,
    /// Not confirmed.
    Unknown,
}

/// How images make room for newer ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Eviction {
    /// When: at the `limit` of the route.
    pub trigger: String,
    /// How many go at once.
    pub count_quantum: u32,
    /// How many bytes of base64 go at once.
    pub byte_quantum: u64,
    /// What stands in their place.
    pub placeholder: String,
    /// Is an image, once sent, always sent in the same bytes?
    pub freeze_encoding: bool,
}

/// What an error means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ErrorRule {
    /// What its text holds; `*` stands for anything.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<Pattern>,
    /// Its status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What it means.
    pub class: FaultClass,
}

/// Why a service refused a request with images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FaultClass {
    /// A side is too long.
    EdgeLimit,
    /// An image has too many bytes.
    ByteLimit,
    /// The request has.
    RequestBytes,
    /// There are too many images.
    CountLimit,
    /// An image is of a type that is not taken.
    MediaType,
    /// An image cannot be read.
    BadImage,
    /// An image is where none may be.
    Placement,
    /// What it shows is not allowed.
    Policy,
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
