//! The size at which an image fits, from its dimensions alone.

use std::fmt;

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
}

impl Size {
    /// Is a side missing? No image has such a size.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.width == 0 || self.height == 0
    }

    /// How many pixels it has.
    #[must_use]
    pub fn pixels(self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The largest size of this aspect whose sides are at most `edge` pixels; itself where it is.
    #[must_use]
    pub fn within_edge(self, edge: u32) -> Self {
        if self.is_empty() || self.long_side() <= edge { self } else { self.with_long_side(edge.max(1)) }
    }

    /// The largest size of this aspect that has at most `pixels` pixels; itself where it has.
    #[must_use]
    pub fn within_pixels(self, pixels: u64) -> Self {
        if self.is_empty() { self } else { self.largest(|size| size.pixels() <= pixels) }
    }

    /// The largest size of this aspect, itself at most, that is `small_enough`; one pixel high or wide where none is. What is small enough
    /// must stay so when it shrinks.
    pub(super) fn largest(self, small_enough: impl Fn(Self) -> bool) -> Self {
        if small_enough(self) {
            return self;
        }
        let (mut fits, mut too_long) = (1, self.long_side().max(1));
        while too_long - fits > 1 {
            let middle = fits + (too_long - fits) / 2;
            if small_enough(self.with_long_side(middle)) { fits = middle } else { too_long = middle }
        }
        self.with_long_side(fits)
    }

    pub(super) fn long_side(self) -> u32 {
        self.width.max(self.height)
    }

    pub(super) fn short_side(self) -> u32 {
        self.width.min(self.height)
    }

    /// Scaled until its long side has `long` pixels, which is at most what it has and at least 1. The short one is rounded, and never zero.
    fn with_long_side(self, long: u32) -> Self {
        let (of_long, of_short) = (u64::from(self.long_side()), u64::from(self.short_side()));
        let short = (2 * u64::from(long) * of_short + of_long) / (2 * of_long);
        let short = u32::try_from(short).unwrap_or(long).max(1);
        if self.width >= self.height {
            Self { width: long, height: short }
        } else {
            Self { width: short, height: long }
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(width: u32, height: u32) -> Size {
        Size { width, height }
    }

    #[test]
    fn edges() {
        for (given, edge, expect) in [
            (size(2000, 2000), 2000, size(2000, 2000)),
            (size(2001, 2000), 2000, size(2000, 1999)),
            (size(3000, 4000), 2000, size(1500, 2000)),
            (size(4032, 3024), 1568, size(1568, 1176)),
            (size(100_000, 3), 2000, size(2000, 1)),
            (size(1, u32::MAX), 8000, size(1, 8000)),
            (size(u32::MAX, u32::MAX), 8000, size(8000, 8000)),
            (size(7, 5), 1, size(1, 1)),
            (size(7, 5), 0, size(1, 1)),
            (size(0, 9000), 8000, size(0, 9000)),
        ] {
            assert_eq!(given.within_edge(edge), expect, "{given} in {edge}");
        }
    }

    #[test]
    fn pixels() {
        for (given, pixels, expect) in [
            (size(800, 800), 640_000, size(800, 800)),
            (size(1600, 1600), 640_000, size(800, 800)),
            (size(1920, 1080), 640_000, size(1066, 600)),
            (size(1_000_000, 1), 1000, size(1000, 1)),
            (size(5, 5), 1, size(1, 1)),
            (size(5, 5), 0, size(1, 1)),
            (size(0, 0), 1, size(0, 0)),
        ] {
            assert_eq!(given.within_pixels(pixels), expect, "{given} in {pixels}");
        }
    }

    proptest! {
        #[test]
        fn within_the_limits_and_of_the_same_aspect(
            width in 1..1_000_000u32, height in 1..1_000_000u32, edge in 1..10_000u32, pixels in 1..100_000_000u64,
        ) {
            let given = size(width, height);
            let fitted = given.within_edge(edge);
            prop_assert!(fitted.long_side() <= edge && !fitted.is_empty());
            prop_assert_eq!(fitted == given, given.long_side() <= edge);
            prop_assert_eq!(fitted.within_edge(edge), fitted);
            let small = given.within_pixels(pixels);
            prop_assert!(small.pixels() <= pixels && !small.is_empty());
            prop_assert_eq!(small.within_pixels(pixels), small);
            for made in [fitted, small] {
                prop_assert!(made.width <= width && made.height <= height);
                // Within half a pixel of the short side, or at the one pixel it must keep.
                let exact = f64::from(made.long_side()) * f64::from(given.short_side()) / f64::from(given.long_side());
                let off = (f64::from(made.short_side()) - exact).abs();
                prop_assert!(off <= 0.5 + 1e-6 || made.short_side() == 1, "{} to {}", given, made);
            }
        }

        #[test]
        fn more_room_never_makes_it_smaller(width in 1..100_000u32, height in 1..100_000u32, edge in 1..9999u32, pixels in 1..9_999_999u64) {
            let given = size(width, height);
            prop_assert!(given.within_edge(edge).long_side() <= given.within_edge(edge + 1).long_side());
            prop_assert!(given.within_pixels(pixels).pixels() <= given.within_pixels(pixels + 1).pixels());
        }
    }
}
