//! `attache mcp`: the file tools for clients of the Model Context Protocol.

mod http;
mod incoming;
mod stdio;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use attache_runtime::workdir_fs::LocalFs;
use attache_runtime::{McpOptions, McpServer, Settings, Verify, WorkDir};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::signal::unix::{SignalKind, signal};

use self::stdio::Stdio;
use crate::args::McpArgs;
use crate::output::Failure;

/// Runs until the client ends it. Standard output belongs to the protocol.
pub(crate) async fn run(args: McpArgs) -> Result<ExitCode, Failure> {
    let work = WorkDir::open(&args.workdir).map_err(|error| {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        Failure::input("workdir_not_usable", format!("{error}{cause}"))
    })?;
    let mut options = McpOptions::default();
    options.read_only = args.read_only;
    options.no_images = args.no_images;
    options.conversation.clone_from(&args.conversation);
    options.lock_wait = args.lock_wait;
    options.settings = Settings::default().with_verify(Verify::Decode);
    let server = McpServer::new(Arc::new(LocalFs::new(work)), options);
    match args.http {
        Some(address) => http::serve(server, address).await,
        None => serve_stdio(server).await,
    }?;
    Ok(ExitCode::SUCCESS)
}

async fn serve_stdio(server: McpServer) -> Result<(), Failure> {
    let failed = |error: String| Failure::operation("protocol_failed", format!("the client cannot be served: {error}"));
    let input = Stdio::start().map_err(|error| failed(error.to_string()))?;
    let serve = async {
        let running = match server.serve(input).await {
            Ok(running) => running,
            // A client that left before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => return Err(failed(error.to_string())),
        };
        running.waiting().await.map(|_| ()).map_err(|error| failed(error.to_string()))
    };
    tokio::select! {
        served = serve => served,
        () = asked_to_stop() => Ok(()),
    }
}

/// Waits for Ctrl-C, or for a polite kill.
async fn asked_to_stop() {
    let [mut interrupt, mut terminate] = match [SignalKind::interrupt(), SignalKind::terminate()].map(signal) {
        [Ok(interrupt), Ok(terminate)] => [interrupt, terminate],
        // Without handlers the system ends the process.
        _ => return std::future::pending().await,
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
