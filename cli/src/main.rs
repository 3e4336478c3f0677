//! The `attache` command.

mod demo;

fn main() {}
