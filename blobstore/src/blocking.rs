//! The one place where blocking work leaves the async world.

use std::panic;
use std::sync::{Arc, Mutex, PoisonError};

/// Runs `work` where it may block: on tokio's blocking threads within a runtime, else right here.
///
/// Once started, the work runs to its end, whether or not the future is still polled. A panic of the work is passed on
/// to the caller. A runtime that is shutting down no longer starts it; it then runs in place, so that it always runs.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
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

fn take<Work>(slot: &Mutex<Option<Work>>) -> Work {
    let work = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    work.expect("the task takes its work once, and only a task that never began is cancelled")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_within_a_runtime_and_without() {
        let answer = || blocking(|| 7);
        assert_eq!(tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(answer()), 7);
        assert_eq!(futures_util::FutureExt::now_or_never(answer()), Some(7));
    }

    #[test]
    fn work_runs_in_place_when_the_runtime_no_longer_starts_any() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let handle = runtime.handle().clone();
        runtime.shutdown_background();
        let _entered = handle.enter();
        assert_eq!(futures_util::FutureExt::now_or_never(blocking(|| 7)), Some(7));
    }

    #[test]
    fn a_panic_is_passed_on() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let outcome = panic::catch_unwind(|| runtime.block_on(blocking(|| panic!("as arranged"))));
        assert_eq!(*outcome.unwrap_err().downcast_ref::<&str>().unwrap(), "as arranged");
    }
}
