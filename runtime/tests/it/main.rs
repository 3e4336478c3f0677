//! The attachment subsystem as an embedder sees it.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod agent;
mod bridge;
mod chain;
mod dependencies;
mod equivalence;
mod labels;
mod memory;
mod message;
mod notes;
mod protocol;
mod raw_part;
mod read_image;
mod replay;
mod resume;
mod store;
mod support;
mod tools;
mod trace;
mod turn;
