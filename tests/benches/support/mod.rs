//! What the benches share.
#![allow(dead_code, reason = "each bench uses its part of this")]

pub(crate) mod child;
pub(crate) mod corpus;
pub(crate) mod machine;
pub(crate) mod measure;
pub(crate) mod plain;
pub(crate) mod report;

/// Whether only to check that the benches run: small sizes and few rounds, whose figures mean nothing.
pub(crate) fn quick() -> bool {
    std::env::var_os("ATTACHE_BENCH_QUICK").is_some_and(|value| value != "0")
}

/// `full`, or `quick` when only to check that the benches run.
pub(crate) fn size(full: usize, small: usize) -> usize {
    if quick() { small } else { full }
}
