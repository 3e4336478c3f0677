//! The log on disk: `conversation.jsonl`, its writer's lock and its index.
//!
//! ```text
//! context directory/
//!   conversation.jsonl         one JSON object a line, only ever appended to
//!   conversation.jsonl.torn-1  the tail of an interrupted append, kept when it was cut off
//!   conversation.lock          held by the one writer; says who that is
//!   blobs/<sha256>             the bytes (another crate's business)
//! ```

mod build;
mod file;
mod index;
mod lock;
mod mentions;
mod recover;

pub(crate) use build::build;
pub(crate) use file::{LogFile, open_for_reading, parent_of, sync_dir};
pub(crate) use index::{AsideSpan, Index, IndexedImage, MAX_LINE, MessageSpan};
pub use index::{Damage, LogReport};
pub(crate) use lock::WriterLock;
pub(crate) use mentions::mentions;
pub use recover::TornTail;
pub(crate) use recover::recover;

/// The log's name in a context directory.
pub const LOG_NAME: &str = "conversation.jsonl";
/// The name of the writer's lock file.
pub const LOCK_NAME: &str = "conversation.lock";
/// The folder of the blobs.
pub const BLOBS_NAME: &str = "blobs";
