//! Asking running work to stop.

use std::sync::Arc;

use tokio::sync::watch;

/// Asks work to stop: a read, a call to a model, a tool. Clones are the same request.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<watch::Sender<bool>>);

impl Cancel {
    /// Nothing is asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks, for good.
    pub fn cancel(&self) {
        self.0.send_replace(true);
    }

    /// Was it asked?
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is asked.
    pub async fn cancelled(&self) {
        // The sender outlives the wait, so that the only way out is the request.
        let _ = self.0.subscribe().wait_for(|asked| *asked).await;
    }
}
