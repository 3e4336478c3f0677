//! The work folder against real trees, real races and real special files, on each walk.

mod fixture;
mod kinds;
mod names;
mod races;
mod root;
mod snapshots;
mod spellings;
