//! A conversation to look at: any number of readers, beside the one writer.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_blobstore::{BlobId, BlobStore, CheckOptions, CheckProgress, CheckReport, blocking};
use serde_json::Value;

use crate::aside::Aside;
use crate::error::ConversationError;
use crate::lenient::read_value;
use crate::log::{
    AsideSpan, BLOBS_NAME, Index, IndexedImage, LOG_NAME, LogReport, MessageSpan, build, open_for_reading,
};
use crate::options::OpenOptions;
use crate::record::{FileBlock, RecordedSha};
use crate::render::{Body, Candidate, Frame, Outcome, RenderOptions, resolve};

/// A conversation as it stood when it was opened.
#[derive(Debug)]
pub struct View {
    pub(crate) dir: PathBuf,
    pub(crate) log: Arc<File>,
    pub(crate) index: Arc<Index>,
    pub(crate) store: Arc<dyn BlobStore>,
}

/// What a render would make of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImageState {
    /// Its bytes are sent.
    Shown,
    /// It is older than the newest ones that are kept in view.
    Aged,
    /// It was withheld by hand.
    Withheld,
    /// It would be shown, but its blob is missing or damaged.
    Missing,
}

impl ImageState {
    /// The state as one lowercase word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Shown => "shown",
            Self::Aged => "aged",
            Self::Withheld => "withheld",
            Self::Missing => "missing",
        }
    }
}

/// An image of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageInfo {
    /// Its number among the images of the conversation, from 0.
    pub index: usize,
    /// The number of its message, from 0.
    pub message: usize,
    /// The recorded sha256; of a malformed record, whatever stands there.
    pub sha256: String,
    /// The recorded type.
    pub media_type: String,
    /// The recorded length in bytes; 0 where a malformed record has none.
    pub bytes: u64,
    /// What a render makes of it.
    pub state: ImageState,
    /// Why it is withheld.
    pub reason: Option<String>,
}

impl View {
    /// Opens the conversation in `dir` for reading. A torn tail is reported and left where it is.
    ///
    /// # Errors
    /// `NotFound` if there is no log; `Damaged` if a later version of attache wrote it; `Io`.
    pub async fn open(dir: impl AsRef<Path>, options: OpenOptions) -> Result<Self, ConversationError> {
        let dir = dir.as_ref().to_owned();
        let store = options.store_at(&dir.join(BLOBS_NAME));
        blocking(move || {
            let path = dir.join(LOG_NAME);
            let (file, len) = open_for_reading(&path)?.ok_or_else(|| ConversationError::not_found(&dir))?;
            let index = build(&file, len).map_err(|error| ConversationError::io("read", &path, error))?;
            refuse_newer(&index, &path)?;
            Ok(Self { dir, log: Arc::new(file), index: Arc::new(index), store })
        })
        .await
    }

    /// The context directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the images' bytes are.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn BlobStore> {
        &self.store
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.messages.len()
    }

    /// Is there no message?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.index.messages.is_empty()
    }

    /// What opening the log found.
    #[must_use]
    pub fn log_report(&self) -> &LogReport {
        &self.index.report
    }

    /// One stored message, byte for byte as it was appended; `None` beyond the last.
    ///
    /// # Errors
    /// `Io`.
    pub async fn message_json(&self, at: usize) -> Result<Option<String>, ConversationError> {
        let Some(span) = self.index.messages.get(at).copied() else { return Ok(None) };
        let (log, path) = (Arc::clone(&self.log), self.dir.join(LOG_NAME));
        blocking(move || read_span(&log, span).map(Some).map_err(|error| ConversationError::io("read", &path, error)))
            .await
    }

    /// The lines of one kind beside the messages, oldest first. A log without any has no line of it read. What cannot be read is passed over,
    /// with a line in the trace: nothing that stands beside the messages costs anyone a conversation.
    ///
    /// # Errors
    /// `Io`.
    pub async fn asides(&self, kind: &str) -> Result<Vec<Aside>, ConversationError> {
        let Some(spans) = self.index.asides.get(kind).cloned() else { return Ok(Vec::new()) };
        let (log, path) = (Arc::clone(&self.log), self.dir.join(LOG_NAME));
        blocking(move || {
            let read = |span: &AsideSpan| {
                let value = read_span(&log, span.span)?;
                let value = read_value(&value).inspect_err(|error| {
                    tracing::warn!(offset = span.span.offset, %error, "a line beside the messages cannot be read");
                });
                Ok(value.ok().map(|value| Aside { message: span.messages.checked_sub(1), value }))
            };
            let asides: io::Result<Vec<_>> = spans.iter().filter_map(|span| read(span).transpose()).collect();
            asides.map_err(|error| ConversationError::io("read", &path, error))
        })
        .await
    }

    /// The messages as a driver receives them, as values. For a request body use [`render_body`](Self::render_body),
    /// which does not parse the history and keeps every number as it was written. What no value can hold is read as by
    /// [`read_value`].
    ///
    /// # Errors
    /// `Io`. An image that cannot be shown is no error: it becomes a line.
    pub async fn render(&self, options: RenderOptions) -> Result<Vec<Value>, ConversationError> {
        let body = self.render_body(options, Frame::default()).await?;
        let changed = |error: String| {
            let dir = self.dir.display();
            ConversationError::damaged(format!("the log at \"{dir}\" changed while it was read: {error}"))
        };
        let messages = match serde_json::from_slice(&body) {
            Ok(messages) => return Ok(messages),
            Err(_) => std::str::from_utf8(&body).map_err(|error| changed(error.to_string()))?,
        };
        match read_value(messages).map_err(|error| changed(error.to_string()))? {
            Value::Array(messages) => Ok(messages),
            _ => Err(changed("it is no list of messages".to_owned())),
        }
    }

    /// A request body: the rendered messages as a JSON array within `frame`, written straight from the log.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use attache_conversation::{Conversation, Frame, OpenOptions, RenderOptions};
    /// let dir = tempfile::tempdir().unwrap();
    /// let mut conversation = Conversation::open(dir.path(), OpenOptions::default()).await.unwrap();
    /// conversation.append_json(r#"{"role":"user","content":"hi"}"#).await.unwrap();
    /// let frame = Frame { before: br#"{"model":"m","messages":"#, after: b"}" };
    /// let body = conversation.render_body(RenderOptions::newest(5), frame).await.unwrap();
    /// assert_eq!(body, br#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#);
    /// # });
    /// ```
    ///
    /// # Errors
    /// `Io`.
    pub async fn render_body(&self, options: RenderOptions, frame: Frame<'_>) -> Result<Vec<u8>, ConversationError> {
        let mut out = Vec::new();
        self.render_body_into(options, frame, &mut out).await?;
        Ok(out)
    }

    /// Like [`render_body`](Self::render_body), over a buffer that is used again from request to request. What it held
    /// is lost, also when this fails or is cancelled.
    ///
    /// # Errors
    /// `Io`.
    pub async fn render_body_into(
        &self,
        options: RenderOptions,
        frame: Frame<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), ConversationError> {
        let outcomes = self.outcomes(options).await;
        let body = Body::plan(&self.index, outcomes, frame);
        let mut buffer = std::mem::take(out);
        let (log, path) = (Arc::clone(&self.log), self.dir.join(LOG_NAME));
        *out = blocking(move || {
            let written = body.write(&log, &mut buffer);
            written.map(|()| buffer).map_err(|error| ConversationError::io("read", &path, error))
        })
        .await?;
        Ok(())
    }

    /// Every image of the conversation, and what a render with these options makes of it.
    pub async fn images(&self, options: RenderOptions) -> Vec<ImageInfo> {
        let outcomes = self.outcomes(options).await;
        self.index
            .images
            .iter()
            .zip(outcomes)
            .enumerate()
            .map(|(at, (image, outcome))| self.info(at, image, &outcome))
            .collect()
    }

    fn info(&self, index: usize, image: &IndexedImage, outcome: &Outcome) -> ImageInfo {
        let (sha256, media_type, bytes) = match &image.block {
            FileBlock::Record(record) => {
                (record.sha256.to_string(), record.media_type.as_str().to_owned(), record.bytes)
            }
            FileBlock::Malformed { sha256, media_type, .. } => (sha256.to_string(), media_type.to_string(), 0),
        };
        let state = match outcome {
            Outcome::Shown { .. } => ImageState::Shown,
            Outcome::Aged(_) => ImageState::Aged,
            Outcome::Withheld(_) => ImageState::Withheld,
            Outcome::Unavailable(_) => ImageState::Missing,
        };
        let reason = match state {
            ImageState::Withheld => BlobId::parse(&sha256).and_then(|id| self.index.withheld.get(&id).cloned()),
            _ => None,
        };
        ImageInfo { index, message: image.message, sha256, media_type, bytes, state, reason }
    }

    async fn outcomes(&self, options: RenderOptions) -> Vec<Outcome> {
        let candidates: Vec<_> = self
            .index
            .images
            .iter()
            .map(|image| Candidate { block: &image.block, message: image.message, by_user: image.by_user })
            .collect();
        let (last_assistant, withheld) = (self.index.last_assistant, &self.index.withheld);
        resolve(&candidates, options, last_assistant, withheld, Some(self.store.as_ref())).await
    }

    /// The image of the conversation that goes by this sha256 or by this beginning of one.
    ///
    /// # Errors
    /// `NoSuchImage` if there is none, or more than one; the text lists the candidates.
    pub fn find_image(&self, sha256: &str) -> Result<BlobId, ConversationError> {
        let wanted = sha256.to_ascii_lowercase();
        let named: BTreeSet<BlobId> = self.roots().into_iter().collect();
        let found: Vec<_> = named.iter().filter(|id| id.to_string().starts_with(&wanted)).collect();
        let asked = crate::text::clean(sha256);
        match found[..] {
            _ if wanted.is_empty() => Err(ConversationError::no_such_image("an empty sha256 names no image")),
            [id] => Ok(*id),
            [] => Err(ConversationError::no_such_image(format!(
                "no image of the conversation has a sha256 that begins with \"{asked}\""
            ))),
            _ => {
                let listed: Vec<_> = found.iter().take(4).map(ToString::to_string).collect();
                let count = found.len();
                let listed = listed.join(", ");
                Err(ConversationError::no_such_image(format!(
                    "\"{asked}\" is the beginning of {count} images' sha256: {listed}{}",
                    if count > 4 { ", …" } else { "" }
                )))
            }
        }
    }

    /// The blobs that the log names: aged and withheld images too, and also those of half-formed records.
    #[must_use]
    pub fn roots(&self) -> HashSet<BlobId> {
        self.index
            .images
            .iter()
            .filter_map(|image| match &image.block {
                FileBlock::Record(record) => record.sha256.id(),
                FileBlock::Malformed { sha256, .. } => RecordedSha::new(sha256).id(),
            })
            .collect()
    }

    /// Re-hashes every blob and compares the store with the log.
    ///
    /// # Errors
    /// `Blob` when the store cannot be listed at all. Findings are no errors.
    pub async fn check(
        &self,
        options: CheckOptions,
        progress: impl FnMut(CheckProgress) + Send,
    ) -> Result<CheckReport, ConversationError> {
        let roots: Vec<(BlobId, u64)> = self
            .index
            .images
            .iter()
            .filter_map(|image| match &image.block {
                FileBlock::Record(record) => Some((record.sha256.id()?, record.bytes)),
                FileBlock::Malformed { .. } => None,
            })
            .collect();
        attache_blobstore::check(self.store.as_ref(), roots, progress, options)
            .await
            .map_err(|error| ConversationError::blob("could not check the blobs", error))
    }
}

fn read_span(log: &File, span: MessageSpan) -> io::Result<String> {
    let mut text = vec![0; span.len as usize];
    log.read_exact_at(&mut text, span.offset)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

pub(crate) fn refuse_newer(index: &Index, path: &Path) -> Result<(), ConversationError> {
    match index.newer_version {
        Some(version) => Err(ConversationError::damaged(format!(
            "\"{}\" is in version {version} of the log's form, which a later attache wrote; this one reads version {}",
            path.display(),
            crate::entry::LOG_VERSION
        ))),
        None => Ok(()),
    }
}
