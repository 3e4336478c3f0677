//! Work that the cores share.

use std::io;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs `work` on this thread and on others, one a core, but on no more than `most` in all. Each takes from a queue
/// that they share what it can do, until nothing is left.
pub(crate) fn on_cores(most: usize, work: &(impl Fn() -> io::Result<()> + Sync)) -> io::Result<()> {
    let cores = if most > 1 { thread::available_parallelism().map_or(1, NonZero::get) } else { 1 };
    thread::scope(|scope| {
        // A thread that cannot be had leaves more for the others.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..cores.min(most)).filter_map(start).collect();
        let mine = work();
        others.into_iter().map(|other| other.join().expect("the work does not panic")).fold(mine, Result::and)
    })
}

/// Things to do, each taken once.
pub(crate) struct Queue<I>(Mutex<I>);

impl<I: Iterator> Queue<I> {
    pub(crate) fn new(things: impl IntoIterator<IntoIter = I>) -> Self {
        Self(Mutex::new(things.into_iter()))
    }

    pub(crate) fn take(&self) -> Option<I::Item> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}
