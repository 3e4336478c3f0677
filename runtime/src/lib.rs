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
//!
//! # The whole loop
//!
//! [`AgentLoop`] is a small agent built of these pieces; read its source to see where each goes. A model is a
//! [`Driver`], and [`ScriptedDriver`] is one for tests, whose [`Script`] may be JSON:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! # let (folder, context) = (tempfile::tempdir()?, tempfile::tempdir()?);
//! use std::sync::Arc;
//!
//! use attache_runtime::{
//!     AgentLoop, Attachment, Cancel, Conversation, OpenOptions, Reply, ScriptEntry, ScriptedDriver, Settings, Tool,
//!     ToolOutput, ToolSpec, WorkDir,
//! };
//! use serde_json::{Value, json};
//!
//! #[derive(Debug)]
//! struct Screenshot(WorkDir);
//!
//! #[async_trait::async_trait]
//! impl Tool for Screenshot {
//!     fn spec(&self) -> ToolSpec {
//!         ToolSpec::named("screenshot")
//!     }
//!
//!     async fn call(&self, _input: &Value) -> ToolOutput {
//!         let file = self.0.path().join("shot.png");
//!         match std::fs::write(file, b"\x89PNG\r\n\x1a\n") {
//!             Ok(()) => ToolOutput::text("Here it is.").with_attachment(Attachment::new("shot.png", "image/png")),
//!             Err(error) => ToolOutput::error(error.to_string()),
//!         }
//!     }
//! }
//!
//! let work = WorkDir::open(folder.path())?;
//! let driver = Arc::new(ScriptedDriver::new([
//!     ScriptEntry::from(Reply::default().with_call("call_1", "screenshot", json!({}))),
//!     ScriptEntry::from(Reply::text("A login form.")),
//! ]));
//! let agent = AgentLoop::new(driver.clone(), work.clone(), Settings::default()).with_tool(Arc::new(Screenshot(work)));
//!
//! let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await?;
//! let answer = agent.ask(&mut conversation, "What is on the screen?", &Cancel::new()).await?;
//! assert_eq!(answer, "A login form.");
//! assert_eq!(driver.requests()[1][2]["content"][1]["source"]["type"], "base64");
//! driver.finish()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # File tools
//!
//! A [`ToolSet`] has the tools `read`, `write` and `edit` over the files of a [`FileSystem`], and `read_image` while a blob
//! store is mounted. A [`FileSession`] keeps what was seen, so that nothing is changed that was not read;
//! [`AgentLoop::with_file_tools`] brings both into the loop. What was seen is saved with the conversation, and [`FileSession::load`]
//! goes on from there; [`call_metas`] are what the tools kept for whoever presents their results.
//!
//! [`FileSystem`]: workdir_fs::FileSystem
//!
//! # What is promised
//!
//! - A refused attachment is a note for the model, never an error: it does not change the call's status, does not use
//!   up the turn's limit, and does not stop later ones. Its code says which check failed ([`RefusalCode`]).
//! - The bytes that were checked are the bytes that are stored, and a record never precedes its blob.
//! - Nothing outside the work folder is read, no link in it is followed, and nothing past a limit is opened.
//! - Attachments of one call are worked on by all cores, and the result is that of one after the other.
//! - No path or type that a tool writes breaks a line, a fence or a log.
//!
//! # Limits
//!
//! The fields of `context.images`, see [`Limits`]:
//!
//! | field | meaning | default | range |
//! |---|---|---|---|
//! | `keep` | newest images that a request shows as bytes | 5 | 0–1000 |
//! | `max_bytes` | largest accepted image in bytes, inclusive | 3 932 160 | 1–67 108 864 |
//! | `max_per_turn` | images accepted in one model turn | 5 | 0–1000 |
//!
//! # Routes to models
//!
//! A [`Profile`] says what one route accepts: limits with their sources and dates, where images may stand, and what an image of a
//! given size costs there. Sixteen are built in; a file changes single values of one. See [`profile`].
//!
//! # Other ways in
//!
//! - [`accept_raw_part`]: base64 in a peer's message. [`accept_data_url`]: the same as a `data:` URL.
//! - [`mcp::take_result`], [`a2a::take_parts`], [`acp::take_blocks`]: what other protocols call content, whatever shape it
//!   is in. [`mcp::to_content`], [`a2a::to_parts`] and [`acp::to_blocks`] lead back.
//! - [`check_bridged`]: the checks alone, for a harness in another process that holds the conversation.
//! - Messages with inline base64 images can be appended as they are: [`Conversation::append`] lifts the images.
//!
//! # Features
//!
//! - `e2b`: `workdir_fs::E2bFs`, the files of a remote sandbox. Brings an HTTP client and TLS.
//! - `mcp`: [`McpServer`](https://docs.rs/attache-runtime), the file tools as a server of the Model Context Protocol.
//! - `replay`: quotes of the request in a [`Script`]. Without it no regex crate is built.
//! - `profiles` (default): the driver profiles that are built in, [`Profiles::builtin`](profile::Profiles), and profiles as TOML. Without it
//!   no TOML crate is built, and a [`Profile`] can be read from JSON.
//! - `prepare` (default): decoders, for the level `decode` of [`Verify`]. Without it no decoder crate is built.
//!
//! # The floors below
//!
//! The whole crates are here as [`blobstore`], [`conversation`], [`media`] and [`workdir_fs`], so that depending on this
//! crate is enough.

mod accepted;
mod agent;
mod attachment;
mod bridge;
mod buffers;
mod check;
mod driver;
mod keep;
mod limits;
#[cfg(feature = "mcp")]
mod mcp_server;
mod message;
pub mod profile;
mod protocol;
mod raw_part;
mod replay;
mod schedule;
mod settings;
mod tool;
mod tools;
mod turn;

pub use accepted::{Accepted, Note, NoteKind, TraceEntry};
pub use agent::{AgentError, AgentLoop};
pub use attachment::Attachment;
pub use bridge::{Bridged, CheckedImage, check_bridged};
pub use driver::{Chunk, Driver, DriverError, Hear, Modality, ModelInfo, Reply, Request, ToolCall};
pub use limits::{LimitError, Limits, LimitsBuilder};
#[cfg(feature = "mcp")]
pub use mcp_server::{McpOptions, McpServer};
pub use message::{tool_message, tool_message_with_status};
pub use profile::{Profile, ProfileError, Profiles, TokenEstimate};
pub use protocol::{Part, Taken, a2a, acp, mcp};
pub use raw_part::{RawPart, accept_data_url, accept_raw_part};
pub use replay::{Recorded, Script, ScriptEntry, ScriptError, ScriptedDriver};
pub use settings::Settings;
pub use tool::{ReadyImage, Tool, ToolOutput, ToolSpec};
pub use tools::{
    CallContext, CallMeta, DiffMeta, FileSession, FileToolOptions, FileTools, Hunk, Observation, Observations,
    ReadLimits, ReadLine, ReadMeta, Scheduling, ToolSet, call_metas, read_view,
};
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
pub use attache_workdir_fs::{Cancel, HardLinks, OpenRootError, WorkDir, WorkDirOptions};
