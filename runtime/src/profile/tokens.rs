//! How a model counts an image, as data.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};

use serde::{Deserialize, Serialize};

use super::flat::Flat;
use super::limits::{AsOf, Grade};

/// A way of counting, and where it is from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Flat", into = "Flat")]
#[non_exhaustive]
pub struct Tokens {
    /// How it is counted.
    pub rule: TokenRule,
    /// Is it only near what the service counts?
    pub is_estimate: bool,
    /// Is it the most that an image can cost, and may it cost less?
    pub is_maximum: bool,
    /// Do sources disagree?
    pub conflict: bool,
    /// Who says so.
    pub src: Grade,
    /// How old that is.
    pub as_of: Option<AsOf>,
    /// For people.
    pub note: Option<String>,
    /// Other ways of counting, by the setting of detail.
    pub details: BTreeMap<String, Tokens>,
}

/// How an image is counted. All of it follows from width and height.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TokenRule {
    /// Pixels by a divisor, once the image is within an edge.
    Area {
        /// Pixels a token.
        divisor: NonZeroU32,
        /// The longest side that is looked at.
        max_edge: Option<NonZeroU32>,
        /// The most that is counted.
        max_tokens: Option<NonZeroU64>,
    },
    /// Squares that cover the image, once it is within an edge and a number of them.
    Patch {
        /// The side of a square.
        patch: NonZeroU32,
        /// The longest side that is looked at.
        max_edge: Option<NonZeroU32>,
        /// The most that is counted: the image becomes the largest of its aspect that counts no more.
        max_tokens: Option<NonZeroU64>,
        /// The most squares: the image is scaled to their area, and then further until one of its sides is whole squares.
        budget: Option<NonZeroU64>,
        /// Tokens a square.
        multiplier: Multiplier,
    },
    /// Tiles that cover the image, and something for the whole.
    Tile {
        /// For the whole.
        base: u64,
        /// For each tile.
        tile: NonZeroU64,
        /// The side of a tile.
        size: NonZeroU32,
        /// The side of the square that it is made to fit first.
        fit: Option<NonZeroU32>,
        /// What its short side has at most, second.
        short_side: Option<NonZeroU32>,
    },
    /// The same for every image of a level.
    ByLevel {
        /// At `low`.
        low: NonZeroU64,
        /// At `medium`.
        medium: NonZeroU64,
        /// At `high`.
        high: NonZeroU64,
        /// At `ultra`.
        ultra: NonZeroU64,
        /// The level unless another is asked for.
        default: Level,
    },
    /// The same for every image.
    Fixed {
        /// For each.
        n: NonZeroU64,
    },
    /// Nobody could be found who says so.
    Unknown,
}

/// How closely a model looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Level {
    /// The least.
    Low,
    /// More.
    Medium,
    /// Much.
    High,
    /// The most.
    Ultra,
}

/// Tokens a square, in steps of a thousandth, from 0.001 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Multiplier(u32);

/// What an image would cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub struct TokenEstimate {
    /// How much, at least 1.
    pub tokens: u64,
    /// May it cost less?
    pub is_maximum: bool,
    /// How good the source of the rule is.
    pub src: Grade,
}

impl Multiplier {
    /// In thousandths.
    pub(super) fn thousandths(self) -> u32 {
        self.0
    }
}

impl TryFrom<f64> for Multiplier {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        let thousandths = (value * 1000.0).round();
        let exact = (value * 1000.0 - thousandths).abs() < 1e-6;
        match exact && (1.0..=1e6).contains(&thousandths) {
            true => Ok(Self(thousandths as u32)),
            false => Err(format!("{value} is no number from 0.001 to 1000 with at most three decimal places")),
        }
    }
}

impl From<Multiplier> for f64 {
    fn from(multiplier: Multiplier) -> Self {
        Self::from(multiplier.0) / 1000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers() {
        for (value, thousandths) in [(1.0, 1000), (1.2, 1200), (1.62, 1620), (0.001, 1), (1000.0, 1_000_000)] {
            let multiplier = Multiplier::try_from(value).unwrap();
            assert_eq!((multiplier.thousandths(), f64::from(multiplier)), (thousandths, value));
        }
        for bad in [0.0, -1.0, 0.0001, 1.2345, 1000.001, f64::NAN, f64::INFINITY] {
            assert!(Multiplier::try_from(bad).is_err(), "{bad}");
        }
    }
}
