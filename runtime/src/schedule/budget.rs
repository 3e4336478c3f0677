//! What a turn has left.

use attache_conversation::{Refusal, RefusalCode};

use crate::check::Failed;

/// How many files may be read and refused, for each image that may be accepted.
const REFUSED_READS_PER_IMAGE: usize = 4;

/// What is left of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    max: usize,
    accepted: usize,
    refused_reads: usize,
}

/// Whether the next attachment is looked at.
#[derive(Debug, PartialEq)]
pub(super) enum Admission {
    Now,
    Wait,
    Never(Refusal),
}

impl Budget {
    pub(crate) fn new(max_per_turn: usize) -> Self {
        Self { max: max_per_turn, accepted: 0, refused_reads: 0 }
    }

    pub(crate) fn accepted(&self) -> usize {
        self.accepted
    }

    fn max_refused_reads(&self) -> usize {
        REFUSED_READS_PER_IMAGE * self.max
    }

    /// `undecided` attachments before the next one are still being looked at.
    pub(super) fn admit(&self, undecided: usize) -> Admission {
        if self.accepted >= self.max {
            let reason = format!("the limit of {} images in one turn (max_per_turn) was reached", self.max);
            return Admission::Never(Refusal::new(RefusalCode::TurnLimit, reason));
        }
        if self.refused_reads >= self.max_refused_reads() {
            let reason = format!(
                "it was not read: {} files were read and refused in this turn already, {REFUSED_READS_PER_IMAGE} \
                 times the limit of {} images in one turn (max_per_turn)",
                self.refused_reads, self.max
            );
            return Admission::Never(Refusal::new(RefusalCode::TurnLimit, reason));
        }
        let certain = self.accepted + undecided < self.max && self.refused_reads + undecided < self.max_refused_reads();
        if certain { Admission::Now } else { Admission::Wait }
    }

    pub(super) fn count<T>(&mut self, outcome: &Result<T, Failed>) {
        match outcome {
            Ok(_) => self.accepted += 1,
            Err(Failed { was_read: true, .. }) => self.refused_reads += 1,
            Err(_) => {}
        }
    }

    /// `count` accepted images were lost after all: they count as read and refused.
    pub(crate) fn take_back(&mut self, count: usize) {
        self.accepted -= count;
        self.refused_reads += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(accepted: usize, refused_reads: usize) -> Budget {
        Budget { max: 5, accepted, refused_reads }
    }

    #[test]
    fn nothing_starts_that_might_turn_out_to_be_past_a_limit() {
        for (accepted, refused_reads, undecided, now) in [
            (0, 0, 4, true),
            (0, 0, 5, false),
            (4, 0, 0, true),
            (4, 0, 1, false),
            (0, 19, 0, true),
            (0, 19, 1, false),
            (0, 15, 5, false),
        ] {
            let admission = budget(accepted, refused_reads).admit(undecided);
            let expected = if now { Admission::Now } else { Admission::Wait };
            assert_eq!(admission, expected, "{accepted} {refused_reads} {undecided}");
        }
        for (accepted, refused_reads, undecided) in [(5, 0, 0), (5, 20, 0), (0, 20, 0)] {
            let admission = budget(accepted, refused_reads).admit(undecided);
            assert!(matches!(admission, Admission::Never(_)), "{accepted} {refused_reads} {undecided}");
        }
    }

    #[test]
    fn with_nothing_undecided_nobody_waits() {
        for max in 0..3 {
            for accepted in 0..=max {
                for refused_reads in 0..=13 {
                    let budget = Budget { max, accepted, refused_reads };
                    assert_ne!(budget.admit(0), Admission::Wait, "{budget:?}");
                }
            }
        }
    }
}
