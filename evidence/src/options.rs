use std::fmt;
use std::path::Path;

use attache_media::DEFAULT_MAX_PIXELS;

/// How an input is read.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Options<'a> {
    /// Images of more pixels than this are refused; 64 million unless set.
    pub max_pixels: u64,
    /// Where a relative name is looked for if it is not found.
    pub inbox: Option<&'a Path>,
    /// Told how many bytes of how many are done, from several threads.
    pub progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { max_pixels: DEFAULT_MAX_PIXELS, inbox: None, progress: None }
    }
}

impl<'a> Options<'a> {
    /// Replaces [`max_pixels`](Self::max_pixels).
    #[must_use]
    pub fn with_max_pixels(mut self, max_pixels: u64) -> Self {
        self.max_pixels = max_pixels;
        self
    }

    /// Replaces [`inbox`](Self::inbox).
    #[must_use]
    pub fn with_inbox(mut self, inbox: Option<&'a Path>) -> Self {
        self.inbox = inbox;
        self
    }

    /// Replaces [`progress`](Self::progress).
    #[must_use]
    pub fn with_progress(mut self, progress: &'a (dyn Fn(u64, u64) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }

    pub(crate) fn report(&self, done: u64, total: u64) {
        if let Some(progress) = self.progress {
            progress(done, total);
        }
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("max_pixels", &self.max_pixels)
            .field("inbox", &self.inbox)
            .finish_non_exhaustive()
    }
}
