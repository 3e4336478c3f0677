//! Chance: when to kill, when to cut.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// A small generator, different in every run: a crash test that always crashes at the same moments tests little.
#[derive(Clone, Copy, Debug)]
pub struct Random(u64);

impl Default for Random {
    fn default() -> Self {
        // The standard library's hash keys are random for each process.
        Self(RandomState::new().hash_one(std::process::id()) | 1)
    }
}

impl Random {
    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % limit
    }

    /// A duration shorter than `limit`.
    pub fn shorter_than(&mut self, limit: Duration) -> Duration {
        Duration::from_nanos(self.below(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)))
    }
}
