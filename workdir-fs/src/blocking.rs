//! The one place where blocking work leaves the async world.
//!
//! The blob store has the same helper. Neither crate uses the other, and a crate below both for these few lines would
//! cost more than it saves.

use std::cell::Cell;
use std::panic;
use std::sync::{Arc, Mutex, PoisonError};

use futures_executor::block_on;
use futures_util::future::{Either, select};

use crate::cancel::Cancel;

thread_local! {
    /// This thread may block, and whoever waits for it waits for all that is done here.
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a whole future where it may block, so that the blocking steps in it are done right there, one after the other, without the way
/// to another thread and back for each.
pub(crate) async fn blocking_all<T: Send + 'static>(future: impl Future<Output = T> + Send + 'static) -> T {
    blocking(move || {
        let _reset = Reset(MAY_BLOCK.replace(true));
        block_on(future)
    })
    .await
}

struct Reset(bool);

impl Drop for Reset {
    fn drop(&mut self) {
        MAY_BLOCK.set(self.0);
    }
}

/// Runs `work` where it may block: on tokio's blocking threads within a runtime, else right here.
///
/// Once started, the work runs to its end, whether or not the future is still polled. A panic of the work is passed on
/// to the caller. A runtime that is shutting down no longer starts it; it then runs in place, so that it always runs.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if MAY_BLOCK.get() {
        return work();
    }
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return work();
    };
    let ours = Arc::new(Mutex::new(Some(work)));
    let theirs = Arc::clone(&ours);
    match runtime.spawn_blocking(move || take(&theirs)()).await {
        Ok(outcome) => outcome,
        Err(failed) => match failed.try_into_panic() {
            Ok(payload) => panic::resume_unwind(payload),
            Err(_cancelled) => take(&ours)(),
        },
    }
}

/// As [`blocking`], but waits no longer than until `cancel` is asked, and then gives `None`.
///
/// Work that was asked to stop before it began does not begin.
pub(crate) async fn unless_cancelled<T: Send + 'static>(
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if cancel.is_cancelled() {
        return None;
    }
    match select(Box::pin(cancel.cancelled()), Box::pin(blocking(work))).await {
        Either::Left(_) => None,
        Either::Right((outcome, _)) => Some(outcome),
    }
}

fn take<Work>(slot: &Mutex<Option<Work>>) -> Work {
    let work = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    work.expect("the task takes its work once, and only a task that never began is cancelled")
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn what_a_future_does_where_it_may_block_is_done_right_there() {
        for runtime in [runtime(), tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap()] {
            let here = || std::thread::current().id();
            let (inner, outer) = runtime.block_on(blocking_all(async move { (blocking(here).await, here()) }));
            assert_eq!(inner, outer);
            assert_ne!(outer, here());
            // A thread that did so is as any other afterwards.
            let later = runtime.block_on(blocking(|| MAY_BLOCK.get()));
            assert!(!later);
        }
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }

    #[test]
    fn work_runs_within_a_runtime_and_without() {
        assert_eq!(runtime().block_on(blocking(|| 7)), 7);
        assert_eq!(blocking(|| 7).now_or_never(), Some(7));
    }

    #[test]
    fn work_runs_in_place_when_the_runtime_no_longer_starts_any() {
        let runtime = runtime();
        let handle = runtime.handle().clone();
        runtime.shutdown_background();
        let _entered = handle.enter();
        assert_eq!(blocking(|| 7).now_or_never(), Some(7));
    }

    #[test]
    fn a_panic_is_passed_on() {
        let runtime = runtime();
        let outcome = panic::catch_unwind(|| runtime.block_on(blocking(|| panic!("as arranged"))));
        assert_eq!(*outcome.unwrap_err().downcast_ref::<&str>().unwrap(), "as arranged");
    }

    #[test]
    fn nobody_waits_for_work_that_is_no_longer_wanted() {
        let cancel = Cancel::new();
        let (finish, wait) = std::sync::mpsc::channel::<()>();
        let asked = cancel.clone();
        let outcome = runtime().block_on(async {
            let work = unless_cancelled(&cancel, move || {
                asked.cancel();
                wait.recv()
            });
            let outcome = work.await;
            finish.send(()).unwrap();
            outcome
        });
        assert_eq!(outcome, None);
        assert_eq!(runtime().block_on(unless_cancelled(&cancel, || panic!("must not begin"))), None::<()>);
    }
}
