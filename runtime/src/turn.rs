//! The turn: one response of the model and all the tool calls it made.

use attache_blobstore::BlobStore;
use attache_workdir_fs::WorkDir;

use crate::accepted::Accepted;
use crate::attachment::Attachment;
use crate::keep;
use crate::schedule::{self, Budget};
use crate::settings::Settings;

/// One response of the model and all the tool calls it made. Make a new one for every response.
#[derive(Debug)]
pub struct Turn {
    settings: Settings,
    budget: Budget,
}

impl Turn {
    /// A turn in which nothing was accepted yet.
    #[must_use]
    pub fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), budget: Budget::new(settings.limits.max_per_turn()) }
    }

    /// How many images were accepted so far.
    #[must_use]
    pub fn accepted(&self) -> usize {
        self.budget.accepted()
    }

    /// Checks and stores the attachments of one tool call. What is refused becomes a note, never an error: a picture
    /// must not cost a tool its result. When this returns, every block's blob is durable.
    ///
    /// The work is done on all cores (see [`Settings::with_concurrency`]), and the result is that of one attachment
    /// after the other. A file past the limit of the turn is not opened; once four times as many files as images are
    /// allowed were read and refused, the rest is refused unread.
    ///
    /// A call that is dropped midway leaves the turn as it was, and perhaps blobs that no record names.
    pub async fn accept(&mut self, work: &WorkDir, store: &dyn BlobStore, attachments: &[Attachment]) -> Accepted {
        let mut budget = self.budget;
        let mut outcomes = match store.local() {
            Some(local) => {
                let stage = move |images| keep::stage_many_at_once(&local, images);
                schedule::run_at_once(attachments, work, &self.settings, &mut budget, stage).await
            }
            None => {
                let stage = |images| keep::stage_many(store, images);
                schedule::run(attachments, work, &self.settings, &mut budget, stage).await
            }
        };
        budget.take_back(keep::sync(store, &mut outcomes).await);
        self.budget = budget;

        let mut accepted = Accepted::default();
        for (attachment, outcome) in attachments.iter().zip(outcomes) {
            accepted.add(attachment.path(), attachment.media_type(), outcome, &self.settings);
        }
        accepted
    }
}
