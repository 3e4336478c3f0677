//! How a conversation is opened.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use attache_blobstore::{BlobStore, Durability, LocalStore};

use crate::intake::Intake;

/// How a conversation is opened. The defaults are the safe ones.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// What a power cut may take: nothing that was acknowledged (the default), or what the system had not written yet.
    pub durability: Durability,
    /// How long to wait for another writer; not at all unless set.
    pub lock_wait: Duration,
    /// The checks that inline images pass.
    pub intake: Intake,
    /// What another writer is told about this one, for example a command's name.
    pub writer: String,
    /// Where the bytes are kept, if not in `blobs/` beside the log.
    pub store: Option<Arc<dyn BlobStore>>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            lock_wait: Duration::ZERO,
            intake: Intake::default(),
            writer: "an embedded conversation".to_owned(),
            store: None,
        }
    }
}

impl OpenOptions {
    /// Sets [`durability`](Self::durability).
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets [`lock_wait`](Self::lock_wait).
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// Sets [`intake`](Self::intake).
    #[must_use]
    pub fn with_intake(mut self, intake: Intake) -> Self {
        self.intake = intake;
        self
    }

    /// Sets [`writer`](Self::writer).
    #[must_use]
    pub fn with_writer(mut self, writer: impl Into<String>) -> Self {
        self.writer = writer.into();
        self
    }

    /// Sets [`store`](Self::store).
    #[must_use]
    pub fn with_store(mut self, store: Arc<dyn BlobStore>) -> Self {
        self.store = Some(store);
        self
    }

    pub(crate) fn store_at(&self, dir: &Path) -> Arc<dyn BlobStore> {
        match &self.store {
            Some(store) => Arc::clone(store),
            None => Arc::new(LocalStore::builder(dir).durability(self.durability).build()),
        }
    }
}
