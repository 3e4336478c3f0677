//! The work folder against real trees, real races and real special files, on each walk.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod fixture;
mod kinds;
mod memory;
mod names;
mod races;
mod root;
mod snapshots;
mod spellings;
