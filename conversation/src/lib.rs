//! A conversation log that holds references instead of pictures, and the pass that renders it for a model.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use attache_conversation::{Conversation, OpenOptions, RenderOptions};
//! use serde_json::json;
//!
//! # let context = tempfile::tempdir().unwrap();
//! let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await?;
//! conversation.append(&json!({"role": "user", "content": "What is in the picture?"})).await?;
//! let messages = conversation.render(RenderOptions::newest(5)).await?;
//! assert_eq!(messages.len(), 1);
//! # Ok::<(), attache_conversation::ConversationError>(())
//! # }).unwrap();
//! ```
//!
//! Three things never happen here: bytes of an image never enter the log, a record never precedes its blob, and the
//! render pass never changes the log.

mod aside;
mod conversation;
mod cores;
mod entry;
mod error;
mod intake;
mod json;
mod lenient;
mod lines;
mod log;
mod options;
mod prepare;
mod record;
mod refusal;
mod render;
mod scan;
mod text;
mod view;

pub use aside::{Aside, Item, NewAside};
pub use attache_blobstore::blocking;
pub use conversation::{Appended, Conversation};
pub use error::{ConversationError, ConversationErrorKind};
pub use intake::{Checked, DEFAULT_MAX_BYTES, Intake, OnMismatch, decode_base64};
pub use lenient::read_value;
pub use lines::{aged_line, attached_line, unavailable_line, withheld_line};
pub use log::{BLOBS_NAME, Damage, LOCK_NAME, LOG_NAME, LogReport, TornTail};
pub use options::OpenOptions;
pub use prepare::is_log_entry;
pub use record::{
    FileBlock, ImageRecord, RecordedSha, RecordedType, blocks, file_block, has_file_image, record_block,
    referenced_blobs, text_block,
};
pub use refusal::{Refusal, RefusalCode};
pub use render::{Ageing, Frame, RenderOptions, Withheld, render, render_unavailable, render_with};
pub use text::{MAX_QUOTED_CHARS, clean, clean_to, neutralise_fence};
pub use view::{ImageInfo, ImageState, View};
