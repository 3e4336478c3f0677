//! How many images, how large: each number with its unit, its source and its date.

use std::fmt;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The limits of a route on images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ImageLimits {
    /// Bytes of one image.
    pub per_image: Limit,
    /// Pixels of a side, by the number of images in the request. The last one has no number, and is for any.
    pub edge_by_count: Vec<EdgeLimit>,
    /// Pixels of one image.
    pub pixels: Limit,
    /// Images in one request.
    pub images_per_request: CountLimit,
    /// Bytes of one request.
    pub request_bytes: Limit,
}

/// A largest number of something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Limit {
    /// The number, inclusive: the strictest one where sources disagree.
    pub max: Cap,
    /// What is counted.
    pub unit: Unit,
    /// Whether it is for each image or for all of a request.
    #[serde(default)]
    pub scope: Scope,
    /// What another source says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<u64>,
    /// Do sources of today disagree?
    #[serde(default)]
    pub conflict: bool,
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

/// A longest side, in pixels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EdgeLimit {
    /// Up to how many images it is for; any number where nothing is said.
    #[serde(default)]
    pub when_images_lte: Option<u32>,
    /// The number, inclusive.
    pub max_edge: Cap,
    /// Is it for images that were sent before, too, once there are as many?
    #[serde(default)]
    pub retroactive: bool,
    /// Who says so.
    #[serde(default)]
    pub src: Grade,
    /// As in [`Limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A largest number of images.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CountLimit {
    /// The number, inclusive.
    pub max: Cap,
    /// Where models of larger contexts take more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_context: Vec<ByContext>,
    /// As in [`Limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<u64>,
    /// As in [`Limit`].
    #[serde(default)]
    pub conflict: bool,
    /// Who says so.
    #[serde(default)]
    pub src: Grade,
    /// As in [`Limit`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<AsOf>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A number for models of a larger context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ByContext {
    /// For a context of more tokens than this.
    pub gt: u64,
    /// The number, inclusive.
    pub max: u64,
}

/// A largest number, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cap {
    /// This many.
    At(u64),
    /// The sources state no limit.
    None,
    /// The model or how it is served decides.
    Model,
    /// Nobody could be found who says so.
    Unknown,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Unit {
    /// Characters of base64.
    B64Chars,
    /// Characters of a whole `data:` URL.
    DataUrlChars,
    /// Bytes of the image file.
    RawBytes,
    /// Bytes of the request's body.
    HttpBody,
    /// Pixels.
    Pixels,
}

/// What a limit is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Scope {
    /// Each image.
    #[default]
    Each,
    /// All images of a request together.
    Total,
}

/// How good a source is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Grade {
    /// A client library or schema of the vendor.
    S,
    /// Tried, with a control that passed.
    T,
    /// The vendor's documentation.
    D,
    /// A third party's report.
    I,
    /// A constant in somebody else's library.
    L,
    /// Not confirmed.
    #[serde(rename = "?")]
    Unconfirmed,
    /// Whoever wrote the profile, without a word about it.
    #[default]
    #[serde(rename = "set")]
    Set,
}

/// The month or day of a source, `2026-09` or `2026-09-06`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AsOf(String);

impl AsOf {
    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AsOf {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let pieces: Vec<&str> = text.split('-').collect();
        let within = |piece: &str, digits: usize, most: u32| {
            piece.len() == digits
                && piece.bytes().all(|byte| byte.is_ascii_digit())
                && piece.parse().is_ok_and(|number: u32| (1..=most).contains(&number))
        };
        let is_date = match *pieces {
            [year, month] => within(year, 4, 9999) && within(month, 2, 12),
            [year, month, day] => within(year, 4, 9999) && within(month, 2, 12) && within(day, 2, 31),
            _ => false,
        };
        if is_date { Ok(Self(text)) } else { Err(format!("{text:?} is no month or day, such as \"2026-09\"")) }
    }
}

impl From<AsOf> for String {
    fn from(date: AsOf) -> Self {
        date.0
    }
}

impl Cap {
    /// The number, if there is one.
    #[must_use]
    pub fn get(self) -> Option<u64> {
        match self {
            Self::At(max) => Some(max),
            Self::None | Self::Model | Self::Unknown => None,
        }
    }
}

impl fmt::Display for Cap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(max) => max.fmt(f),
            Self::None => f.pad("none"),
            Self::Model => f.pad("model"),
            Self::Unknown => f.pad("unknown"),
        }
    }
}

impl Serialize for Cap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::At(max) => serializer.serialize_u64(*max),
            other => serializer.collect_str(other),
        }
    }
}

impl<'de> Deserialize<'de> for Cap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Caps;

        impl Visitor<'_> for Caps {
            type Value = Cap;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, \"none\", \"model\" or \"unknown\"")
            }

            fn visit_u64<E: Error>(self, max: u64) -> Result<Cap, E> {
                Ok(Cap::At(max))
            }

            fn visit_i64<E: Error>(self, max: i64) -> Result<Cap, E> {
                u64::try_from(max).map(Cap::At).map_err(|_| E::invalid_value(Unexpected::Signed(max), &self))
            }

            fn visit_str<E: Error>(self, word: &str) -> Result<Cap, E> {
                match word {
                    "none" => Ok(Cap::None),
                    "model" => Ok(Cap::Model),
                    "unknown" => Ok(Cap::Unknown),
                    _ => Err(E::invalid_value(Unexpected::Str(word), &self)),
                }
            }
        }

        deserializer.deserialize_any(Caps)
    }
}

impl Unit {
    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::B64Chars => "characters of base64",
            Self::DataUrlChars => "characters of data URL",
            Self::RawBytes => "bytes of file",
            Self::HttpBody => "bytes of body",
            Self::Pixels => "pixels",
        }
    }
}

impl Grade {
    /// As it stands in a profile.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::T => "T",
            Self::D => "D",
            Self::I => "I",
            Self::L => "L",
            Self::Unconfirmed => "?",
            Self::Set => "set",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for good in ["2026-09", "2026-09-06", "2026-12-31"] {
            assert_eq!(AsOf::try_from(good.to_owned()).unwrap().as_str(), good);
        }
        for bad in
            ["", "2026", "2026-9", "2026-13", "2026-00", "2026-09-32", "2026-09-06-01", "2026-+9", "26-09", "September"]
        {
            assert!(AsOf::try_from(bad.to_owned()).is_err(), "{bad}");
        }
    }
}
