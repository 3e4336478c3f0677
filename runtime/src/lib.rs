//! The attachment subsystem that an agent runtime embeds: tools name image files, the conversation keeps small
//! references, and every request to a model shows the newest images.
//!
//! The smallest embedding, from a tool's result to what the model receives:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # let (folder, context) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! # std::fs::write(folder.path().join("shot.png"), b"\x89PNG\r\n\x1a\n")?;
//! use attache_runtime::{Attachment, Conversation, OpenOptions, RenderOptions, Settings, Turn, WorkDir, tool_message};
//!
//! let settings = Settings::default();
//! let work = WorkDir::open(folder.path())?;
//! let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await?;
//!
//! // One turn for each response of the model, one `accept` for each of its tool calls.
//! let mut turn = Turn::new(&settings);
//! let attachments = [Attachment::new("shot.png", "image/png")];
//! let accepted = turn.accept(&work, conversation.store().as_ref(), &attachments).await;
//! let message = tool_message("call_1", "screenshot", "Here it is.", &accepted, &settings);
//! conversation.append(&message).await?;
//!
//! let messages = conversation.render(RenderOptions::newest(settings.limits.keep())).await?;
//! assert_eq!(messages[0]["content"][1]["source"]["data"], "iVBORw0KGgo=");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accepted;
mod agent;
mod attachment;
mod bridge;
mod buffers;
mod cancel;
mod check;
mod driver;
mod keep;
mod limits;
mod message;
mod raw_part;
mod schedule;
mod scripted;
mod settings;
mod tool;
mod turn;

pub use accepted::{Accepted, Note, NoteKind, TraceEntry};
pub use agent::{AgentError, AgentLoop};
pub use attachment::Attachment;
pub use bridge::{Bridged, CheckedImage, check_bridged};
pub use cancel::Cancel;
pub use driver::{Driver, DriverError, Modality, ModelInfo, Reply, Request, ToolCall};
pub use limits::{LimitError, Limits, LimitsBuilder};
pub use message::{tool_message, tool_message_with_status};
pub use raw_part::{RawPart, accept_data_url, accept_raw_part};
pub use scripted::{ScriptEntry, ScriptedDriver};
pub use settings::Settings;
pub use tool::{Tool, ToolOutput, ToolSpec};
pub use turn::Turn;

pub use attache_blobstore as blobstore;
pub use attache_blobstore::{BlobError, BlobErrorKind, BlobId, BlobStore, Durability, LocalStore, MemoryStore};
pub use attache_conversation as conversation;
pub use attache_conversation::{
    Conversation, ConversationError, OnMismatch, OpenOptions, Refusal, RefusalCode, RenderOptions, View, render,
};
pub use attache_media as media;
pub use attache_media::{MediaType, Verify};
pub use attache_workdir_fs as workdir_fs;
pub use attache_workdir_fs::{HardLinks, OpenRootError, WorkDir, WorkDirOptions};
