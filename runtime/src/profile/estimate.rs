//! What an image costs, from its dimensions alone.

use std::num::{NonZeroU32, NonZeroU64};

use super::fit::Size;
use super::tokens::{Level, Multiplier, TokenEstimate, TokenRule, Tokens};

impl Tokens {
    /// The way of counting at a setting of detail; this one where that has none of its own.
    #[must_use]
    pub fn at(&self, detail: &str) -> &Self {
        self.details.get(detail).unwrap_or(self)
    }

    /// `None` where no rule is known, and for an image without pixels.
    pub(super) fn estimate(&self, size: Size, detail: &str) -> Option<TokenEstimate> {
        let tokens = self.rule.count(size, detail)?;
        Some(TokenEstimate { tokens, is_maximum: self.is_maximum, src: self.src })
    }
}

impl TokenRule {
    fn count(&self, size: Size, detail: &str) -> Option<u64> {
        if size.is_empty() {
            return None;
        }
        let within = |edge: &Option<NonZeroU32>| edge.map_or(size, |edge| size.within_edge(edge.get()));
        Some(match self {
            Self::Area { divisor, max_edge, max_tokens } => {
                let tokens = within(max_edge).pixels().div_ceil(divisor.get().into());
                max_tokens.map_or(tokens, |most| tokens.min(most.get()))
            }
            Self::Patch { patch, max_edge, max_tokens, budget, multiplier } => {
                let mut seen = within(max_edge);
                if let Some(most) = max_tokens {
                    let most = multiplier.patches_within(*most);
                    let edge = seen.long_side();
                    // Scaled once, from what was sent: a side that is rounded twice may be a patch longer.
                    seen = size.largest(|size| size.long_side() <= edge && patches(size, *patch) <= most);
                }
                let count = budget.map_or_else(|| patches(seen, *patch), |budget| whole_patches(seen, *patch, budget));
                multiplier.tokens(count)
            }
            Self::Tile { base, tile, size: side, fit, short_side } => {
                base.saturating_add(tile.get().saturating_mul(tiles(size, *side, *fit, *short_side)))
            }
            Self::ByLevel { low, medium, high, ultra, default } => match Level::named(detail).unwrap_or(*default) {
                Level::Low => low,
                Level::Medium => medium,
                Level::High => high,
                Level::Ultra => ultra,
            }
            .get(),
            Self::Fixed { n } => n.get(),
            Self::Unknown => return None,
        })
    }
}

/// How many squares of a side cover a size.
fn patches(size: Size, side: NonZeroU32) -> u64 {
    u64::from(size.width.div_ceil(side.get())) * u64::from(size.height.div_ceil(side.get()))
}

/// How many squares cover a size that is scaled to at most `budget` of them in area, and then further until one side is whole squares.
///
/// In squares the sides are then √(budget·w/h) and √(budget·h/w). Rounding down the one that loses more of itself by it fixes the scale;
/// the other follows.
fn whole_patches(size: Size, side: NonZeroU32, budget: NonZeroU64) -> u64 {
    let unscaled = patches(size, side);
    if unscaled <= budget.get() {
        return unscaled;
    }
    let (width, height) = (u128::from(size.width), u128::from(size.height));
    let budget = u128::from(budget.get());
    let across = (budget * width / height).isqrt();
    let down = (budget * height / width).isqrt();
    // An image that is narrower than a square has one of them across all the same.
    let count = match (across, down) {
        (0, _) => budget.min(height.div_ceil(side.get().into())),
        (_, 0) => budget.min(width.div_ceil(side.get().into())),
        _ if across * height <= down * width => across * (across * height).div_ceil(width),
        _ => down * (down * width).div_ceil(height),
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// How many tiles cover a size, once it fits a square and its short side is short enough. Nothing is rounded before the tiles are.
fn tiles(size: Size, side: NonZeroU32, fit: Option<NonZeroU32>, short_side: Option<NonZeroU32>) -> u64 {
    let (long, short) = (u128::from(size.long_side()), u128::from(size.short_side()));
    let (mut scaled, mut by) = (1, 1);
    if let Some(fit) = fit.map(|fit| u128::from(fit.get())).filter(|fit| long > *fit) {
        (scaled, by) = (fit, long);
    }
    if let Some(most) = short_side.map(|most| u128::from(most.get())).filter(|most| short * scaled > most * by) {
        (scaled, by) = (most, short);
    }
    let along = |side_of: u128| (side_of * scaled).div_ceil(by * u128::from(side.get()));
    u64::try_from(along(long) * along(short)).unwrap_or(u64::MAX)
}

impl Multiplier {
    /// Tokens of so many squares, rounded up.
    fn tokens(self, patches: u64) -> u64 {
        let tokens = (u128::from(patches) * u128::from(self.thousandths())).div_ceil(1000);
        u64::try_from(tokens).unwrap_or(u64::MAX)
    }

    /// How many squares cost at most so many tokens; one at least.
    fn patches_within(self, tokens: NonZeroU64) -> u64 {
        let patches = u128::from(tokens.get()) * 1000 / u128::from(self.thousandths());
        u64::try_from(patches).unwrap_or(u64::MAX).max(1)
    }
}

impl Level {
    fn named(name: &str) -> Option<Self> {
        match name {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            "ultra" => Some(Self::Ultra),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
