//! How attachments are checked and worded.

use std::num::NonZero;

use attache_conversation::{Intake, OnMismatch};
use attache_media::{DEFAULT_MAX_PIXELS, Verify};

use crate::buffers::Buffers;
use crate::limits::Limits;

/// The settings of an agent. Make them once and share them: clones use the same read buffers.
///
/// ```
/// use attache_runtime::{Limits, Settings, Verify};
///
/// let limits = Limits::builder().max_per_turn(3).build()?;
/// let settings = Settings::default().with_limits(limits).with_verify(Verify::Structure).with_announce(true);
/// assert_eq!(settings.limits.max_per_turn(), 3);
/// # Ok::<(), attache_runtime::LimitError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Settings {
    /// How many images, and how large.
    pub limits: Limits,
    /// How deep an image is checked; its leading bytes only unless set.
    pub verify: Verify,
    /// The most pixels that are decoded, where images are decoded; 64 million unless set.
    pub max_pixels: u64,
    /// What happens to an image with the wrong one of the four labels; it is refused unless set.
    pub on_mismatch: OnMismatch,
    /// Whether a line names each accepted image, so that a model can ask for the file again; off unless set.
    pub announce: bool,
    /// Whether a tool's text is fenced as untrusted; off unless set.
    pub fence: bool,
    concurrency: NonZero<usize>,
    buffers: Buffers,
}

impl Default for Settings {
    fn default() -> Self {
        let concurrency = std::thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN);
        Self {
            limits: Limits::default(),
            verify: Verify::default(),
            max_pixels: DEFAULT_MAX_PIXELS,
            on_mismatch: OnMismatch::default(),
            announce: false,
            fence: false,
            concurrency,
            buffers: Buffers::new(2 * concurrency.get()),
        }
    }
}

impl Settings {
    /// Sets [`limits`](Self::limits).
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`verify`](Self::verify).
    #[must_use]
    pub fn with_verify(mut self, verify: Verify) -> Self {
        self.verify = verify;
        self
    }

    /// Sets [`max_pixels`](Self::max_pixels).
    #[must_use]
    pub fn with_max_pixels(mut self, max_pixels: u64) -> Self {
        self.max_pixels = max_pixels;
        self
    }

    /// Sets [`on_mismatch`](Self::on_mismatch).
    #[must_use]
    pub fn with_on_mismatch(mut self, on_mismatch: OnMismatch) -> Self {
        self.on_mismatch = on_mismatch;
        self
    }

    /// Sets [`announce`](Self::announce).
    #[must_use]
    pub fn with_announce(mut self, announce: bool) -> Self {
        self.announce = announce;
        self
    }

    /// Sets [`fence`](Self::fence).
    #[must_use]
    pub fn with_fence(mut self, fence: bool) -> Self {
        self.fence = fence;
        self
    }

    /// Sets on how many cores files are read and checked, all of them unless set; each has one or two images in hand, and with
    /// several cores one or two more wait for the next free one. It changes the time taken and the memory, and nothing
    /// else.
    #[must_use]
    pub fn with_concurrency(mut self, concurrency: NonZero<usize>) -> Self {
        self.concurrency = concurrency;
        self.buffers = Buffers::new(2 * concurrency.get());
        self
    }

    /// On how many cores files are read and checked.
    #[must_use]
    pub fn concurrency(&self) -> NonZero<usize> {
        self.concurrency
    }

    /// The part of the settings that the checks on bytes go by, also for
    /// [`OpenOptions::intake`](attache_conversation::OpenOptions::intake).
    #[must_use]
    pub fn intake(&self) -> Intake {
        Intake {
            max_bytes: self.limits.max_bytes(),
            verify: self.verify,
            max_pixels: self.max_pixels,
            on_mismatch: self.on_mismatch,
        }
    }

    pub(crate) fn buffers(&self) -> Buffers {
        self.buffers.clone()
    }
}
