//! How the file tools behave.

use attache_media::MediaType;

use crate::driver::ModelInfo;
use crate::settings::Settings;

/// The settings of a [`ToolSet`](crate::ToolSet).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FileToolOptions {
    /// How much one `read` shows.
    pub read: ReadLimits,
    /// Whether a session changes only what it has seen; on unless set. Without it every write and edit is unconditional.
    pub policy: bool,
    /// How images are checked: their limit in bytes and the depth. A file whose bytes are not of the type that its
    /// extension declares is refused, whatever the settings say about labels.
    pub settings: Settings,
    /// The types that `read_image` takes; all four unless set.
    pub media_types: Vec<MediaType>,
    /// The most bytes of image that one message may carry; without a limit unless set.
    pub max_message_bytes: u64,
    /// The model of a session that has not asked one yet; `None` unless set.
    pub model: Option<ModelInfo>,
}

/// How much one `read` shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most lines, and how many are shown where no limit is asked for: 2000 unless set.
    pub max_lines: u64,
    /// The most characters of a line: 2000 unless set.
    pub max_line_chars: usize,
    /// The most bytes of all shown lines, with one for each separator: 51 200 unless set.
    pub max_window_bytes: usize,
    /// From this size in bytes on a file is read in pieces: 10 485 760 unless set. It changes how much memory is used and
    /// nothing else.
    pub stream_from: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { max_lines: 2000, max_line_chars: 2000, max_window_bytes: 51_200, stream_from: 10_485_760 }
    }
}

impl Default for FileToolOptions {
    fn default() -> Self {
        Self {
            read: ReadLimits::default(),
            policy: true,
            settings: Settings::default(),
            media_types: MediaType::ALL.to_vec(),
            max_message_bytes: u64::MAX,
            model: None,
        }
    }
}

impl FileToolOptions {
    /// Sets [`read`](Self::read).
    #[must_use]
    pub fn with_read(mut self, read: ReadLimits) -> Self {
        self.read = read;
        self
    }

    /// Sets [`policy`](Self::policy).
    #[must_use]
    pub fn with_policy(mut self, policy: bool) -> Self {
        self.policy = policy;
        self
    }

    /// Sets [`settings`](Self::settings).
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Sets [`media_types`](Self::media_types).
    #[must_use]
    pub fn with_media_types(mut self, media_types: impl IntoIterator<Item = MediaType>) -> Self {
        self.media_types = media_types.into_iter().collect();
        self
    }

    /// Sets [`max_message_bytes`](Self::max_message_bytes).
    #[must_use]
    pub fn with_max_message_bytes(mut self, max_message_bytes: u64) -> Self {
        self.max_message_bytes = max_message_bytes;
        self
    }

    /// Sets [`model`](Self::model).
    #[must_use]
    pub fn with_model(mut self, model: ModelInfo) -> Self {
        self.model = Some(model);
        self
    }
}
