//! What one route to a model accepts, as data: limits with their sources, where images may stand, what they cost.

#[cfg(feature = "profiles")]
mod builtin;
mod check;
mod estimate;
mod fit;
mod flat;
mod limits;
#[cfg(feature = "profiles")]
mod merge;
mod pattern;
mod service;
mod shape;
#[cfg(feature = "profiles")]
mod text;
mod tokens;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use check::ProfileError;
pub use fit::Size;
pub use limits::{AsOf, ByContext, Cap, CountLimit, EdgeLimit, Grade, ImageLimits, Limit, Scope, Unit};
pub use pattern::Pattern;
pub use service::{
    Cache, CacheMode, CacheTier, EditScope, ErrorRule, Eviction, EvictionTrigger, FaultClass, Placeholder,
    ServerResize, ServerResizeMode,
};
pub use shape::{
    Animated, Base64Form, Detail, Encoding, Listed, Placement, RolePlacement, Source, ToolResultPlacement, TypeField,
    Vision, Wire,
};
pub use tokens::{Level, Multiplier, TokenEstimate, TokenRule, Tokens};

/// One route to a model: what its requests look like and what they may hold.
///
/// A profile holds limits and no code: every number is data with its source and date, and where sources disagree the stricter one
/// counts. It reads and writes as JSON with serde, and with the feature `profiles` it reads as TOML too.
///
/// With that feature the known routes are built in, and a file changes single values of one:
///
/// ```
/// # #[cfg(feature = "profiles")] {
/// use attache_runtime::profile::{Cap, Profile, Profiles};
///
/// let anthropic = Profiles::builtin().get("anthropic").unwrap();
/// assert_eq!(anthropic.limits.per_image.max, Cap::At(5_242_880));
/// assert_eq!(anthropic.fit(4032, 3024).to_string(), "2000x1500");
/// assert_eq!(anthropic.image_tokens(Some("claude-haiku-4-5"), 1024, 1024).unwrap().tokens, 1369);
///
/// let mine = Profile::from_toml("extends = 'anthropic'\nid = 'mine'\nlimits.per_image.max = 10_485_760")?;
/// assert_eq!(mine.limits.per_image.max, Cap::At(10_485_760));
/// assert_eq!(mine.limits.request_bytes, anthropic.limits.request_bytes);
/// # }
/// # Ok::<(), attache_runtime::profile::ProfileError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Profile {
    /// Its name: lower-case letters, digits and `-`.
    pub id: String,
    /// The shape of its requests.
    pub wire: Wire,
    /// Which models it is for.
    #[serde(rename = "match")]
    pub matches: Match,
    /// Whether its models see.
    pub vision: Vision,
    /// Where images may stand.
    pub placement: Placement,
    /// How an image may be given.
    pub sources: Vec<Source>,
    /// How its bytes and type are written.
    pub encoding: Encoding,
    /// The types it takes.
    pub media_types: Listed<String>,
    /// Whether it takes images that move.
    pub animated: Animated,
    /// How many, how large.
    pub limits: ImageLimits,
    /// What the service does with larger images.
    pub server_resize: ServerResize,
    /// The setting of how closely an image is looked at.
    pub detail: Detail,
    /// What an image costs, unless a family says otherwise.
    pub tokens: Tokens,
    /// Models that count otherwise. Of several that name a model, the one with the longest pattern is its family.
    #[serde(default)]
    pub families: BTreeMap<String, Family>,
    /// How prefixes are cached.
    pub cache: Cache,
    /// How images make room.
    pub eviction: Eviction,
    /// What its errors mean, the first that fits.
    #[serde(default)]
    pub errors: Vec<ErrorRule>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Which models something is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Match {
    /// Names of models; `*` stands for anything.
    pub models: Vec<Pattern>,
}

/// Models that count alike, and not as the profile's others do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Family {
    /// Which models these are.
    #[serde(rename = "match")]
    pub matches: Match,
    /// What an image costs.
    pub tokens: Tokens,
}

impl Match {
    /// How much of the longest pattern that fits is spelled out; `None` where none fits.
    fn closeness(&self, model: &str) -> Option<usize> {
        self.models.iter().filter(|pattern| pattern.fits(model)).map(Pattern::spelled_out).max()
    }
}

impl Profile {
    /// Is it for this model?
    #[must_use]
    pub fn serves(&self, model: &str) -> bool {
        self.matches.closeness(model).is_some()
    }

    /// How a model's images are counted. Without a name it is the profile's own rule; `None` for a model that neither a family nor
    /// the profile names.
    #[must_use]
    pub fn tokens_of(&self, model: Option<&str>) -> Option<&Tokens> {
        let Some(model) = model else {
            return Some(&self.tokens);
        };
        let family = self.families.values().filter_map(|family| Some((family.matches.closeness(model)?, family)));
        match family.max_by_key(|(closeness, _)| *closeness) {
            Some((_, family)) => Some(&family.tokens),
            None => self.serves(model).then_some(&self.tokens),
        }
    }

    /// What the service would count for an image of this size, at the setting of detail that goes without saying. `None` where no
    /// rule is known, where the profile's models see nothing, and for an image without pixels.
    ///
    /// The size is that of the image as it is sent: see [`fit`](Self::fit).
    #[must_use]
    pub fn image_tokens(&self, model: Option<&str>, width: u32, height: u32) -> Option<TokenEstimate> {
        self.image_tokens_at(model, self.detail.default.as_deref().unwrap_or_default(), width, height)
    }

    /// The same at a given setting of detail, such as `low` or `high`. One that has no rule of its own counts as the usual one does.
    #[must_use]
    pub fn image_tokens_at(&self, model: Option<&str>, detail: &str, width: u32, height: u32) -> Option<TokenEstimate> {
        if self.vision == Vision::No {
            return None;
        }
        self.tokens_of(model)?.at(detail).estimate(Size { width, height }, detail)
    }

    /// What an image of this size costs once it is made to fit.
    #[must_use]
    pub fn tokens_as_sent(&self, model: Option<&str>, width: u32, height: u32) -> Option<TokenEstimate> {
        let Size { width, height } = self.fit(width, height);
        self.image_tokens(model, width, height)
    }

    /// The longest side that an image may always have, in pixels, whatever the number of images beside it; `None` where no limit is
    /// known. Whoever keeps to it from the first image on never has to send an older one anew.
    #[must_use]
    pub fn max_edge(&self) -> Option<u32> {
        let edges = self.limits.edge_by_count.iter().filter_map(|limit| limit.max_edge.get()).min()?;
        Some(u32::try_from(edges).unwrap_or(u32::MAX))
    }

    /// The size at which an image is sent: as it is, or scaled down until its edges and pixels are within the limits. The aspect is
    /// kept as far as whole pixels go, and no side of an image becomes zero. Bytes are not looked at: those of a smaller size are known
    /// once it is encoded, and may ask for one that is smaller still.
    #[must_use]
    pub fn fit(&self, width: u32, height: u32) -> Size {
        let mut size = Size { width, height };
        if let Some(edge) = self.max_edge() {
            size = size.within_edge(edge);
        }
        if let Some(pixels) = self.limits.pixels.max.get() {
            size = size.within_pixels(pixels);
        }
        size
    }
}

/// Profiles by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profiles(BTreeMap<String, Profile>);

impl Profiles {
    /// The one of this id.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<&Profile> {
        self.0.get(id)
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Profile> {
        self.0.values()
    }

    /// Adds one, and gives back the one whose place it takes.
    pub fn insert(&mut self, profile: Profile) -> Option<Profile> {
        self.0.insert(profile.id.clone(), profile)
    }
}

impl FromIterator<Profile> for Profiles {
    fn from_iter<I: IntoIterator<Item = Profile>>(profiles: I) -> Self {
        Self(profiles.into_iter().map(|profile| (profile.id.clone(), profile)).collect())
    }
}

#[cfg(all(test, feature = "profiles"))]
#[path = "profile_tests.rs"]
mod tests;
