//! Which images are shown: ageing, and what is exempt from it.

use std::num::NonZero;

/// How images age.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ageing {
    /// Shows exactly the newest `keep` images. Every new image turns an older one into a line.
    Newest {
        /// How many are shown.
        keep: usize,
    },
    /// Shows between `keep` and `keep + step - 1` images: the boundary moves by `step` images at once and then rests,
    /// so that a provider's prompt cache keeps its prefix in between.
    Stable {
        /// How many are shown at least.
        keep: usize,
        /// By how many images the boundary moves.
        step: NonZero<usize>,
    },
}

impl Ageing {
    /// The configured number, which the line of an aged image names.
    #[must_use]
    pub fn keep(self) -> usize {
        match self {
            Self::Newest { keep } | Self::Stable { keep, .. } => keep,
        }
    }

    /// How many of `count` images, from the oldest, are not shown.
    fn aged(self, count: usize) -> usize {
        let beyond = count.saturating_sub(self.keep());
        match self {
            Self::Newest { .. } => beyond,
            Self::Stable { step, .. } => beyond - beyond % step.get(),
        }
    }
}

/// What a render pass shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RenderOptions {
    /// How images age.
    pub ageing: Ageing,
    /// Shows every image after the last assistant message, whatever its age: the model has not answered those yet.
    pub show_open_turn: bool,
    /// Shows every image of a `user` message, whatever its age.
    pub pin_user_images: bool,
}

impl RenderOptions {
    /// Shows the newest `keep` images and no others.
    #[must_use]
    pub fn newest(keep: usize) -> Self {
        Self { ageing: Ageing::Newest { keep }, show_open_turn: false, pin_user_images: false }
    }

    /// Shows `keep` to `keep + step - 1` images, moving the boundary `step` images at once.
    #[must_use]
    pub fn stable(keep: usize, step: NonZero<usize>) -> Self {
        Self { ageing: Ageing::Stable { keep, step }, ..Self::newest(keep) }
    }

    /// Sets [`show_open_turn`](Self::show_open_turn).
    #[must_use]
    pub fn with_open_turn(mut self, show: bool) -> Self {
        self.show_open_turn = show;
        self
    }

    /// Sets [`pin_user_images`](Self::pin_user_images).
    #[must_use]
    pub fn with_pinned_user_images(mut self, pin: bool) -> Self {
        self.pin_user_images = pin;
        self
    }
}

/// What becomes of one image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Shown,
    Aged,
}

/// Decides image by image, in order. Withheld and unavailable images take part like all others: if they did not hold
/// their slot, withholding a new image would bring an old one back and change bytes far up in the prompt.
#[derive(Debug)]
pub(crate) struct Chooser {
    options: RenderOptions,
    aged: usize,
    seen: usize,
    last_assistant: Option<usize>,
}

impl Chooser {
    pub(crate) fn new(options: RenderOptions, count: usize, last_assistant: Option<usize>) -> Self {
        Self { options, aged: options.ageing.aged(count), seen: 0, last_assistant }
    }

    pub(crate) fn next(&mut self, message: usize, by_user: bool) -> Slot {
        let at = self.seen;
        self.seen += 1;
        let open = self.options.show_open_turn && self.last_assistant.is_none_or(|last| message > last);
        let pinned = self.options.pin_user_images && by_user;
        if at >= self.aged || open || pinned { Slot::Shown } else { Slot::Aged }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(options: RenderOptions, count: usize) -> Vec<usize> {
        let mut chooser = Chooser::new(options, count, None);
        (0..count).filter(|at| chooser.next(*at, false) == Slot::Shown).collect()
    }

    #[test]
    fn the_open_turn_and_pinned_images_are_exempt() {
        let slots = |options: RenderOptions| {
            let mut chooser = Chooser::new(options, 4, Some(1));
            [(0, true), (1, false), (2, false), (3, true)].map(|(message, user)| chooser.next(message, user))
        };
        use Slot::{Aged, Shown};
        let none = RenderOptions::newest(0);
        assert_eq!(slots(none), [Aged; 4]);
        assert_eq!(slots(none.with_open_turn(true)), [Aged, Aged, Shown, Shown]);
        assert_eq!(slots(none.with_pinned_user_images(true)), [Shown, Aged, Aged, Shown]);
        assert_eq!(slots(RenderOptions::newest(1).with_pinned_user_images(true)), [Shown, Aged, Aged, Shown]);
    }

    proptest! {
        #[test]
        fn newest_shows_exactly_the_last(count in 0usize..50, keep in 0usize..60) {
            let expected: Vec<_> = (count.saturating_sub(keep)..count).collect();
            prop_assert_eq!(shown(RenderOptions::newest(keep), count), expected);
        }

        #[test]
        fn stable_shows_enough_never_too_many_and_moves_only_in_steps(keep in 0usize..20, step in 1usize..10) {
            let options = RenderOptions::stable(keep, NonZero::new(step).unwrap());
            let mut moves = Vec::new();
            let mut first = 0;
            for count in 0..100 {
                let images = shown(options, count);
                prop_assert!(images.len() >= keep.min(count) && images.len() < keep + step, "{count}: {images:?}");
                let begin = images.first().copied().unwrap_or(count);
                if begin != first && !images.is_empty() {
                    moves.push(begin - first);
                    first = begin;
                }
            }
            prop_assert!(keep == 0 || moves.iter().all(|by| *by == step), "{moves:?}");
        }
    }
}
