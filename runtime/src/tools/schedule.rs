//! Which calls of an answer run side by side.

use futures_util::stream::{self, StreamExt as _};

use crate::driver::ToolCall;
use crate::tools::Scheduling;

/// The calls of one answer in groups, in order: those that may run beside each other, where they follow one another, and all others
/// one by one.
pub(crate) fn groups(
    calls: &[ToolCall],
    scheduling: impl Fn(&ToolCall) -> Option<Scheduling>,
) -> impl Iterator<Item = &[ToolCall]> {
    let is_parallel = move |call: &ToolCall| scheduling(call) == Some(Scheduling::Parallel);
    calls.chunk_by(move |before, after| is_parallel(before) && is_parallel(after))
}

/// Runs the calls of a group side by side, so many at a time; their results in order.
pub(crate) async fn run_group<F: Future>(calls: impl Iterator<Item = F>, concurrency: usize) -> Vec<F::Output> {
    stream::iter(calls).buffered(concurrency).collect().await
}
