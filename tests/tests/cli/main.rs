//! The command line from end to end, on real files.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod append;
mod attach;
mod browser;
mod confinement;
mod locking;
mod profiles;
mod render;
mod session;
mod store;
mod text;
mod view;
mod withhold;
