//! The MCP server over a sandbox: a client that gives up a call ends the connection behind it.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use attache_runtime::{McpOptions, McpServer};
use rmcp::model::{CallToolRequestParams, ClientRequest, Request};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RoleClient, RunningService};
use rmcp::{ServiceError, ServiceExt as _};
use serde_json::json;

use crate::server::{Sandbox, Sending};

/// A client of a server over `sandbox`, in one process.
async fn connect(sandbox: &Sandbox) -> RunningService<RoleClient, ()> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = McpServer::new(Arc::new(sandbox.fs()), McpOptions::default());
    tokio::spawn(async move { server.serve(theirs).await.unwrap().waiting().await });
    ().serve(ours).await.unwrap()
}

async fn read(client: &Peer<RoleClient>, name: &str) -> Result<RequestHandle<RoleClient>, ServiceError> {
    let arguments = json!({"file_path": name}).as_object().cloned().unwrap();
    let request = Request::new(CallToolRequestParams::new("read").with_arguments(arguments));
    client.send_cancellable_request(ClientRequest::CallToolRequest(request), PeerRequestOptions::no_options()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_ends_its_connection_and_no_other() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "one\ntwo\n");
    let client = connect(&sandbox).await;
    sandbox.send(Sending::Stalled);
    let given_up = read(&client, "a").await.unwrap();
    while sandbox.sent.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    sandbox.send(Sending::Whole);
    let beside = read(&client, "a").await.unwrap();
    given_up.cancel(Some("no longer wanted".to_owned())).await.unwrap();
    sandbox.sees_a_cancelled_connection().await;
    let answer = serde_json::to_value(beside.await_response().await.unwrap()).unwrap();
    assert_eq!(answer["isError"], json!(false), "{answer}");
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("1: one\n2: two"), "{answer}");
}
