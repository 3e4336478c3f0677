//! The MCP server as a process, as clients start it.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod client;
mod clients;
mod hostile;
mod http;
mod images;
mod stream;
mod tools;
