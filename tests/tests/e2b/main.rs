//! The files of a remote sandbox, against a server that speaks its wire.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod changes;
mod faults;
mod mcp;
mod reads;
mod server;
mod tools;

use attache_workdir_fs::conformance;
use server::{Sandbox, Sending};

/// The suite that the local folder passes too.
#[tokio::test(flavor = "multi_thread")]
async fn conforms() {
    for sending in [Sending::Whole, Sending::Pieces(100_003)] {
        let sandbox = Sandbox::start().await;
        sandbox.send(sending);
        conformance::all(&sandbox.fs(), &sandbox.root).await;
    }
}
