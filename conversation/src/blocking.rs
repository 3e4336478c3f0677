//! The one place where blocking work crosses into the async world.

/// Runs blocking work where it does not hold up other tasks. Outside a tokio runtime it runs in place.
///
/// A panic of the work is passed on to the caller.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return work() };
    match runtime.spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only a runtime that is shutting down cancels blocking work, and it drops the caller as well.
            Err(_) => std::future::pending().await,
        },
    }
}
