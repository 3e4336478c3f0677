//! The form of a way of counting in a file.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use super::limits::{AsOf, Grade};
use super::tokens::{Level, Multiplier, TokenRule, Tokens};

/// The form in a file: one table, with a field `kind` that says which other fields there are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flat {
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    divisor: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patch: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_edge: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_tokens: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    multiplier: Option<Multiplier>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tile: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    size: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fit: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    short_side: Option<NonZeroU32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    low: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    medium: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    high: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ultra: Option<NonZeroU64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    default: Option<Level>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<NonZeroU64>,
    #[serde(default = "yes")]
    is_estimate: bool,
    #[serde(default)]
    is_maximum: bool,
    #[serde(default)]
    conflict: bool,
    #[serde(default)]
    src: Grade,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    as_of: Option<AsOf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    details: BTreeMap<String, Tokens>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Area,
    Patch,
    Tile,
    ByLevel,
    Fixed,
    Unknown,
}

fn yes() -> bool {
    true
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Area => "area",
            Self::Patch => "patch",
            Self::Tile => "tile",
            Self::ByLevel => "by_level",
            Self::Fixed => "fixed",
            Self::Unknown => "unknown",
        }
    }
}

impl Flat {
    /// Takes the fields of its kind out.
    fn rule(&mut self) -> Result<TokenRule, String> {
        let kind = self.kind;
        macro_rules! need {
            ($field:ident) => {
                self.$field
                    .take()
                    .ok_or_else(|| format!("kind \"{}\" needs `{}`", kind.as_str(), stringify!($field)))?
            };
        }
        Ok(match kind {
            Kind::Area => TokenRule::Area {
                divisor: need!(divisor),
                max_edge: self.max_edge.take(),
                max_tokens: self.max_tokens.take(),
            },
            Kind::Patch => TokenRule::Patch {
                patch: need!(patch),
                max_edge: self.max_edge.take(),
                max_tokens: self.max_tokens.take(),
                budget: self.budget.take(),
                multiplier: need!(multiplier),
            },
            Kind::Tile => TokenRule::Tile {
                base: need!(base),
                tile: need!(tile),
                size: need!(size),
                fit: self.fit.take(),
                short_side: self.short_side.take(),
            },
            Kind::ByLevel => TokenRule::ByLevel {
                low: need!(low),
                medium: need!(medium),
                high: need!(high),
                ultra: need!(ultra),
                default: need!(default),
            },
            Kind::Fixed => TokenRule::Fixed { n: need!(n) },
            Kind::Unknown => TokenRule::Unknown,
        })
    }

    /// The first field that its kind does not have.
    fn left_over(&self) -> Option<&'static str> {
        macro_rules! first {
            ($($field:ident)*) => {
                [$((stringify!($field), self.$field.is_some())),*].into_iter().find(|(_, given)| *given)
            };
        }
        let left = first!(divisor patch budget max_edge max_tokens multiplier base tile size fit short_side low medium high ultra default n);
        left.map(|(name, _)| name)
    }
}

impl TryFrom<Flat> for Tokens {
    type Error = String;

    fn try_from(mut flat: Flat) -> Result<Self, String> {
        let rule = flat.rule()?;
        if let Some(name) = flat.left_over() {
            return Err(format!("kind \"{}\" has no `{name}`", flat.kind.as_str()));
        }
        let Flat { is_estimate, is_maximum, conflict, src, as_of, note, details, .. } = flat;
        Ok(Self { rule, is_estimate, is_maximum, conflict, src, as_of, note, details })
    }
}

impl From<Tokens> for Flat {
    fn from(tokens: Tokens) -> Self {
        let Tokens { rule, is_estimate, is_maximum, conflict, src, as_of, note, details } = tokens;
        let flat = Self {
            kind: Kind::Unknown,
            divisor: None,
            patch: None,
            budget: None,
            max_edge: None,
            max_tokens: None,
            multiplier: None,
            base: None,
            tile: None,
            size: None,
            fit: None,
            short_side: None,
            low: None,
            medium: None,
            high: None,
            ultra: None,
            default: None,
            n: None,
            is_estimate,
            is_maximum,
            conflict,
            src,
            as_of,
            note,
            details,
        };
        match rule {
            TokenRule::Area { divisor, max_edge, max_tokens } => {
                Self { kind: Kind::Area, divisor: Some(divisor), max_edge, max_tokens, ..flat }
            }
            TokenRule::Patch { patch, max_edge, max_tokens, budget, multiplier } => {
                let (patch, multiplier) = (Some(patch), Some(multiplier));
                Self { kind: Kind::Patch, patch, max_edge, max_tokens, budget, multiplier, ..flat }
            }
            TokenRule::Tile { base, tile, size, fit, short_side } => {
                let (base, tile, size) = (Some(base), Some(tile), Some(size));
                Self { kind: Kind::Tile, base, tile, size, fit, short_side, ..flat }
            }
            TokenRule::ByLevel { low, medium, high, ultra, default } => {
                let (low, medium, high, ultra) = (Some(low), Some(medium), Some(high), Some(ultra));
                Self { kind: Kind::ByLevel, low, medium, high, ultra, default: Some(default), ..flat }
            }
            TokenRule::Fixed { n } => Self { kind: Kind::Fixed, n: Some(n), ..flat },
            TokenRule::Unknown => flat,
        }
    }
}
