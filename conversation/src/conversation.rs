//! A conversation to write to.

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::ops::Deref;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use attache_blobstore::{BlobId, Durability, Lease, SweepOptions, SweepReport, blocking, sweep};
use serde_json::Value;

use crate::aside::Item;
use crate::entry::{Entry, LOG_VERSION};
use crate::error::ConversationError;
use crate::intake::Intake;
use crate::log::{BLOBS_NAME, Index, LOG_NAME, LogFile, WriterLock, build, mentions, parent_of, recover, sync_dir};
use crate::options::OpenOptions;
use crate::prepare::{Prepared, check_message, prepare};
use crate::scan::Scan;
use crate::view::{View, refuse_newer};

/// The one writer of a conversation, and a reader of it too (it dereferences to [`View`]).
///
/// The writer's lock is held until this is dropped.
#[derive(Debug)]
pub struct Conversation {
    view: View,
    log: Option<LogFile>,
    intake: Intake,
    _lock: WriterLock,
}

/// What appending did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// How many messages were appended.
    pub appended: usize,
    /// How many inline images became blobs.
    pub lifted: usize,
    /// What was refused or changed, in order, each note with the number of its message in the call, from 0.
    pub notes: Vec<(usize, String)>,
}

/// What goes into the log.
enum Ready {
    Message(Prepared),
    Aside { kind: Box<str>, line: String },
}

/// What the index is told once it is there.
enum Written {
    Message(Scan),
    Aside(Box<str>),
}

impl Deref for Conversation {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

impl Conversation {
    /// Opens the conversation in `dir` for writing, making the directory (0700) if need be. The tail of an interrupted
    /// append is moved aside; see [`View::log_report`] for what was found.
    ///
    /// # Errors
    /// `Locked`, naming the holder, when another writer has it; `Damaged` if a later version wrote the log; `Io`.
    pub async fn open(dir: impl AsRef<Path>, options: OpenOptions) -> Result<Self, ConversationError> {
        let dir = dir.as_ref().to_owned();
        blocking(move || {
            make_dir(&dir, options.durability)?;
            Self::open_locked(&dir, &options)
        })
        .await
    }

    /// Like [`open`](Self::open), but only where there is a log already.
    ///
    /// # Errors
    /// `NotFound` if there is none; otherwise as [`open`](Self::open).
    pub async fn open_existing(dir: impl AsRef<Path>, options: OpenOptions) -> Result<Self, ConversationError> {
        let dir = dir.as_ref().to_owned();
        blocking(move || {
            if dir.join(LOG_NAME).symlink_metadata().is_err() {
                return Err(ConversationError::not_found(&dir));
            }
            Self::open_locked(&dir, &options)
        })
        .await
    }

    fn open_locked(dir: &Path, options: &OpenOptions) -> Result<Self, ConversationError> {
        let lock = WriterLock::acquire(dir, &options.writer, options.lock_wait)?;
        let path = dir.join(LOG_NAME);
        let mut log = LogFile::open(&path, options.durability)?;
        let file = log.reader();
        let mut index = build(&file, log.end()).map_err(|error| ConversationError::io("read", &path, error))?;
        refuse_newer(&index, &path)?;
        recover(&mut log, &mut index, &path)?;
        let store = options.store_at(&dir.join(BLOBS_NAME));
        let view = View { dir: dir.to_owned(), log: file, index: Arc::new(index), store };
        Ok(Self { view, log: Some(log), intake: options.intake, _lock: lock })
    }

    /// Appends a message; see [`append_all`](Self::append_all).
    ///
    /// # Errors
    /// As [`append_all`](Self::append_all).
    pub async fn append(&mut self, message: &Value) -> Result<Appended, ConversationError> {
        self.append_json(&message.to_string()).await
    }

    /// Appends a message given as JSON text, which is stored byte for byte; see [`append_all`](Self::append_all).
    ///
    /// # Errors
    /// As [`append_all`](Self::append_all).
    pub async fn append_json(&mut self, message: &str) -> Result<Appended, ConversationError> {
        self.append_all(&[message]).await
    }

    /// Appends messages in one write: all of them or none, durable before this returns.
    ///
    /// Base64 image blocks are lifted into the store under the type of their bytes; what does not pass the checks
    /// becomes a note in its place. Everything else of a message is stored byte for byte (a newline between tokens
    /// becomes a space, and a `text` block of no characters is left out, since services refuse it).
    ///
    /// # Errors
    /// `InvalidMessage` for the first text that is not a message; `Blob`, `Io`, `Stale`. Nothing is appended then.
    pub async fn append_all(&mut self, messages: &[&str]) -> Result<Appended, ConversationError> {
        let items: Vec<_> = messages.iter().copied().map(Item::Message).collect();
        self.append_items(items).await
    }

    /// Appends messages, and lines beside them, in one write: all of them or none, durable before this returns. A crash
    /// midway may leave the first of them, so that what only makes sense with a message goes behind it.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// use attache_conversation::{Conversation, Item, NewAside, OpenOptions};
    /// use serde_json::json;
    ///
    /// # let context = tempfile::tempdir().unwrap();
    /// let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await?;
    /// let mood = NewAside::new("host.mood", json!({"mood": "fine"}))?;
    /// conversation.append_items([Item::Message(r#"{"role":"user","content":"hi"}"#), Item::Aside(mood)]).await?;
    /// let [mood] = &conversation.asides("host.mood").await?[..] else { panic!("one") };
    /// assert_eq!((mood.message, &mood.value["mood"]), (Some(0), &json!("fine")));
    /// # Ok::<(), attache_conversation::ConversationError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// As [`append_all`](Self::append_all).
    pub async fn append_items(
        &mut self,
        items: impl IntoIterator<Item = Item<'_>>,
    ) -> Result<Appended, ConversationError> {
        // The iterator may be of a kind that cannot wait in a task that moves between threads.
        let items: Vec<Item<'_>> = items.into_iter().collect();
        let mut report = Appended::default();
        let mut ready = Vec::new();
        for item in items {
            match item {
                Item::Message(message) => {
                    let prepared = prepare(message, self.intake, self.view.store.as_ref()).await?;
                    report.lifted += prepared.lifted;
                    report.notes.extend(prepared.notes.iter().map(|note| (report.appended, note.clone())));
                    report.appended += 1;
                    ready.push(Ready::Message(prepared));
                }
                Item::Aside(aside) => {
                    let (kind, line) = aside.into_parts();
                    ready.push(Ready::Aside { kind, line });
                }
            }
        }
        if report.lifted > 0 {
            self.view
                .store
                .sync()
                .await
                .map_err(|error| ConversationError::blob("could not store the images", error))?;
        }
        self.write_lines(ready).await?;
        Ok(report)
    }

    /// Would this text be accepted as a message? Changes nothing.
    ///
    /// # Errors
    /// `InvalidMessage`, with the reason.
    pub fn check_message(message: &str) -> Result<(), ConversationError> {
        check_message(message).map(drop)
    }

    async fn write_lines(&mut self, ready: Vec<Ready>) -> Result<(), ConversationError> {
        let mut lines = String::new();
        let mut written = Vec::with_capacity(ready.len());
        // The leases outlive the write: no sweep of this process may come between blob and record.
        let mut leases: Vec<Lease> = Vec::new();
        for ready in ready {
            let offset = lines.len() as u64;
            let (line, what) = match ready {
                Ready::Message(message) => {
                    leases.extend(message.leases);
                    (message.line, Written::Message(message.scan))
                }
                Ready::Aside { kind, line } => (line, Written::Aside(kind)),
            };
            lines.push_str(&line);
            lines.push('\n');
            written.push((offset, line.len(), what));
        }
        let begin = self.write(lines).await?;
        let index = Arc::make_mut(&mut self.view.index);
        for (offset, len, what) in written {
            match what {
                Written::Message(scan) => index.push(begin + offset, len, scan),
                Written::Aside(kind) => index.push_aside(kind, begin + offset, len),
            }
        }
        Ok(())
    }

    /// Writes lines, after the header if they are the first, and returns where they begin.
    async fn write(&mut self, lines: String) -> Result<u64, ConversationError> {
        let Some(mut log) = self.log.take() else {
            return Err(ConversationError::stale(
                "an earlier append was cancelled midway: open the conversation again",
            ));
        };
        // A cancelled call leaves `self.log` empty: whether its lines were written is then unknown.
        let (log, begin) = blocking(move || {
            let header = if log.end() == 0 { header() } else { String::new() };
            let before = header.len() as u64;
            let text = if header.is_empty() { lines } else { header + &lines };
            let begin = log.append(text.as_bytes());
            (log, begin.map(|begin| begin + before))
        })
        .await;
        let end = log.end();
        self.log = Some(log);
        let begin = begin?;
        Arc::make_mut(&mut self.view.index).report.bytes = end;
        Ok(begin)
    }

    /// Shows an image as a line with this reason in every later render, also after a restart, until it is
    /// [restored](Self::restore). Returns the log entry.
    ///
    /// # Errors
    /// `Io`, `Stale`.
    pub async fn withhold(&mut self, id: BlobId, reason: &str) -> Result<Value, ConversationError> {
        self.write_entry(Entry::Withhold { id, reason: reason.to_owned() }).await
    }

    /// Ends the withholding of an image. Returns the log entry.
    ///
    /// # Errors
    /// `Io`, `Stale`.
    pub async fn restore(&mut self, id: BlobId) -> Result<Value, ConversationError> {
        self.write_entry(Entry::Restore { id }).await
    }

    async fn write_entry(&mut self, entry: Entry) -> Result<Value, ConversationError> {
        let value = entry.to_value();
        self.write(format!("{value}\n")).await?;
        Arc::make_mut(&mut self.view.index).apply(entry);
        Ok(value)
    }

    /// Deletes blobs that no record and no other text of the log names, under the writer's lock.
    ///
    /// # Errors
    /// `Damaged` if any line of the log cannot be read, since it may name any blob; `Blob` if a named blob is missing,
    /// since log and store may then not belong together. Nothing is deleted in either case.
    pub async fn sweep(&mut self, options: SweepOptions) -> Result<SweepReport, ConversationError> {
        let Index { report, .. } = &*self.view.index;
        if let Some(first) = report.damaged.first() {
            return Err(ConversationError::damaged(format!(
                "nothing was swept: {} lines of the log cannot be read (the first is line {}, {}), and they may name any blob",
                report.damaged_lines, first.line, first.reason
            )));
        }
        let mut roots = self.view.roots();
        self.add_mentioned(&mut roots).await?;
        sweep(self.view.store.as_ref(), &roots, options)
            .await
            .map_err(|error| ConversationError::blob("the sweep stopped", error))
    }

    /// Adds the blobs that are named anywhere else in the log's text, as far as they are there: unlike a record's blob,
    /// what another tool's line names need not be.
    async fn add_mentioned(&self, roots: &mut HashSet<BlobId>) -> Result<(), ConversationError> {
        let (log, len, path) = (Arc::clone(&self.view.log), self.view.index.report.bytes, self.view.dir.join(LOG_NAME));
        let mentioned =
            blocking(move || mentions(&log, len).map_err(|error| ConversationError::io("read", &path, error))).await?;
        let unknown: Vec<_> = mentioned.into_iter().filter(|id| !roots.contains(id)).collect();
        let found = self.view.store.contains_many(&unknown).await;
        // What cannot be looked at is spared by the sweep itself, which stops there.
        roots
            .extend(unknown.into_iter().zip(found).filter(|(_, found)| matches!(found, Ok(Some(_)))).map(|(id, _)| id));
        Ok(())
    }
}

fn header() -> String {
    format!("{}\n", Entry::Header { version: LOG_VERSION }.to_value())
}

/// Makes the context directory; its own parents too, as `mkdir -p` would.
fn make_dir(dir: &Path, durability: Durability) -> Result<(), ConversationError> {
    let missing: Vec<&Path> =
        dir.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.is_dir()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .map_err(|error| ConversationError::io("create", dir, error))?;
    if durability == Durability::Full {
        // Each of them is a new name in the one above it.
        missing.iter().try_for_each(|made| sync_dir(parent_of(made)))?;
    }
    Ok(())
}
