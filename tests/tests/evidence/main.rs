//! Images as evidence, from end to end: the commands on real files.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod attach;
mod browser;
mod failures;
mod folder;
mod guided;
mod raw;
mod sidecars;
mod view;
