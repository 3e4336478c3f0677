//! What other protocols call content, and what it becomes here; and the way back.
//!
//! ```text
//! result, parts or blocks ──▶ plan: items in order, fields that hold images apart (no I/O)
//!                               │
//!                               ▼
//!                settle: decode, check, stage, one sync ──▶ Taken: text, images, notes in the same order
//! ```
//!
//! Four things hold for all of them:
//!
//! - The bytes decide what an image is. A label is only ever quoted.
//! - Every image is shown once, or a note says why not.
//! - Text stays byte for byte, also around a data URL. Base64 that is too long for a text is left out with a note, and so
//!   is what exceeds a megabyte.
//! - Nothing is fetched.

pub mod a2a;
pub mod acp;
mod content;
mod lift;
pub mod mcp;
mod payload;
mod plan;
mod settle;
mod show;
mod taken;
mod text;

pub use taken::{Part, Taken};
