//! The one place where blocking work leaves the async world.

use std::panic;

use crate::BlobError;

/// Runs `work` where it may block: on tokio's blocking threads within a runtime, else right here. Once started it
/// runs to its end, whether or not the future is still polled.
pub(super) async fn run<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BlobError> + Send + 'static,
) -> Result<T, BlobError> {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        return work();
    };
    match runtime.spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(failed) => match failed.try_into_panic() {
            Ok(payload) => panic::resume_unwind(payload),
            Err(cancelled) => Err(BlobError::io("reach", "the blob store", std::io::Error::other(cancelled))),
        },
    }
}
