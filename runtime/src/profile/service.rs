//! How a service treats what it is sent: resizing, caching, room, errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::limits::{AsOf, Cap, Grade};
use super::pattern::Pattern;

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
    pub order: Vec<CacheTier>,
    /// What a changed image makes new.
    #[serde(default)]
    pub image_edit_scope: Option<EditScope>,
    /// How long it may last, as `5m`, `1h`.
    #[serde(default)]
    pub ttl: Vec<String>,
    /// Who says so.
    #[serde(default)]
    pub src: Grade,
    /// How old that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
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

/// A part of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CacheTier {
    /// The tools.
    Tools,
    /// The system's message.
    System,
    /// All other messages.
    Messages,
}

/// What is read anew once an image changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EditScope {
    /// The messages, from the image on; never tools and system.
    Messages,
    /// Everything from the image on.
    Prefix,
}

/// How images make room for newer ones.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Eviction {
    /// When.
    pub trigger: EvictionTrigger,
    /// How many go at once.
    pub count_quantum: u32,
    /// How many bytes of base64 go at once.
    pub byte_quantum: u64,
    /// What stands in their place.
    pub placeholder: Placeholder,
    /// Is an image, once sent, always sent in the same bytes?
    pub freeze_encoding: bool,
}

/// When images make room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EvictionTrigger {
    /// Once a limit of the route would be passed.
    Limit,
}

/// What stands in an image's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Placeholder {
    /// A text that never changes again.
    #[serde(rename = "fixed text")]
    FixedText,
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
