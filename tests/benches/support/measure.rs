//! Times that can be compared: the entrants take turns, round by round, in one process, and what counts is the median
//! and the median of the rounds' quotients. Whatever else the machine does meets all of them alike.

use std::fmt;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// An entrant's turn, which says how long its work took.
pub(crate) type Turn<'a> = &'a mut dyn FnMut() -> Duration;

/// How long `work` takes; its result is dropped off the clock.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let begin = now();
    let result = black_box(work());
    let took = now() - begin;
    drop(result);
    took
}

/// The time on the wall, or with `ATTACHE_BENCH_CLOCK=cpu` the processor time that this process has used, which
/// compares work done on one core even while others compete for it.
fn now() -> Duration {
    static CLOCK: LazyLock<ClockId> = LazyLock::new(|| match std::env::var_os("ATTACHE_BENCH_CLOCK") {
        Some(clock) if clock == "cpu" => ClockId::ProcessCPUTime,
        _ => ClockId::Monotonic,
    });
    Duration::try_from(clock_gettime(*CLOCK)).expect("no clock is before its beginning")
}

/// What the processor's caches hold when a turn begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caches {
    /// Whatever the turns before left there.
    Warm,
    /// Something else: between two requests a runtime waits seconds for its model, and others use the processor.
    Cold,
}

/// Lets the entrants take turns for `rounds` rounds, after one that does not count. Each round begins with another.
pub(crate) fn race<const N: usize>(rounds: usize, caches: Caches, entrants: [Turn<'_>; N]) -> [Times; N] {
    // Twice as much as the largest cache of the machines that this is likely to run on.
    let mut something_else = if caches == Caches::Cold { vec![0u8; 64 << 20] } else { Vec::new() };
    let mut times = [(); N].map(|()| Times(Vec::with_capacity(rounds)));
    for round in 0..=rounds {
        for place in 0..N {
            let entrant = (round + place) % N;
            black_box(&mut something_else).iter_mut().for_each(|byte| *byte = byte.wrapping_add(1));
            let took = entrants[entrant]();
            if round > 0 {
                times[entrant].0.push(took);
            }
        }
    }
    times
}

/// What an entrant needed, round by round.
#[derive(Clone, Debug)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn of(rounds: Vec<Duration>) -> Self {
        Self(rounds)
    }

    pub(crate) fn median(&self) -> Duration {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    }

    /// This entrant's time as a multiple of the other's, round by round.
    pub(crate) fn over(&self, other: &Self) -> Ratio {
        let mut quotients: Vec<f64> =
            self.0.iter().zip(&other.0).map(|(mine, its)| mine.as_secs_f64() / its.as_secs_f64()).collect();
        quotients.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| quotients[(share * (quotients.len() - 1) as f64).round() as usize];
        Ratio { low: at(0.25), median: at(0.5), high: at(0.75) }
    }

    /// The speed at which an entrant went through that many bytes, in GB/s.
    pub(crate) fn gigabytes_a_second(&self, bytes: usize) -> f64 {
        bytes as f64 / 1e9 / self.median().as_secs_f64()
    }
}

/// The median of the rounds' quotients, and the quartiles around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    low: f64,
    pub(crate) median: f64,
    high: f64,
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} ({:.2}–{:.2})", self.median, self.low, self.high)
    }
}
