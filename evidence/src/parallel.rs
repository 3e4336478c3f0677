//! Work on all cores whose results stay in order.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What became of a list of pieces of work.
pub(crate) struct Outcome<T, E> {
    /// The results before the first failure, in order.
    pub(crate) done: Vec<T>,
    /// The failure of the first piece that failed, first in the list and not in time.
    pub(crate) failure: Option<E>,
}

/// Calls `work` with every number below `count`. After a failure nothing behind it is begun, but everything before it is.
pub(crate) fn in_order<T: Send, E: Send>(
    count: usize,
    workers: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
) -> Outcome<T, E> {
    let (next, first_failed) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let results = Mutex::new(Vec::with_capacity(count));
    let worker = || {
        loop {
            // Numbers are handed out in order, so whatever comes before a failure has been handed out.
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count || index > first_failed.load(Ordering::Relaxed) {
                return;
            }
            let result = work(index);
            if result.is_err() {
                first_failed.fetch_min(index, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    // The calling thread is one of the workers.
    thread::scope(|scope| {
        for _ in 1..workers.min(count) {
            scope.spawn(worker);
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(index, _)| *index);
    let mut outcome = Outcome { done: Vec::with_capacity(count), failure: None };
    for (_, result) in results {
        match result {
            Ok(done) => outcome.done.push(done),
            Err(failure) => {
                outcome.failure = Some(failure);
                break;
            }
        }
    }
    outcome
}

/// How many workers the machine is good for.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stay_in_order_and_the_first_failure_decides() {
        for workers in [1, 2, 7] {
            let all = in_order(50, workers, |index| Ok::<_, ()>(index * 2));
            assert_eq!(all.done, (0..50).map(|index| index * 2).collect::<Vec<_>>());
            assert_eq!(all.failure, None);

            let some = in_order(50, workers, |index| {
                // The later failure comes first in time.
                if index == 11 {
                    thread::sleep(std::time::Duration::from_millis(20));
                }
                if index == 11 || index >= 13 { Err(index) } else { Ok(index) }
            });
            assert_eq!((some.done, some.failure), ((0..11).collect(), Some(11)), "{workers}");
        }
        assert!(in_order(0, 4, |_| Ok::<(), ()>(())).done.is_empty());
    }
}
