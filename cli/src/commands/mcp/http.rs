//! The streamable HTTP transport, on this machine alone, for those who know the token.

use std::net::SocketAddr;
use std::sync::Arc;

use attache_runtime::{BlobId, McpServer};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::asked_to_stop;
use super::incoming::MAX_MESSAGE;
use crate::output::Failure;

/// Holds the bearer token, if whoever starts the server wants to choose it.
const TOKEN_VARIABLE: &str = "ATTACHE_MCP_TOKEN";
/// A shorter token could be guessed.
const MIN_TOKEN_CHARS: usize = 16;
const PATH: &str = "/mcp";

pub(super) async fn serve(server: McpServer, address: SocketAddr) -> Result<(), Failure> {
    if !address.ip().is_loopback() {
        let text = format!("{address} is no loopback address: only this machine is served, as 127.0.0.1 or [::1]");
        return Err(Failure::input("not_loopback", text));
    }
    let token = Token::find()?;
    let failed = |what: &str, error: std::io::Error| {
        Failure::operation("io_error", format!("could not {what} {address}: {error}"))
    };
    let listener = TcpListener::bind(address).await.map_err(|error| failed("listen on", error))?;
    let bound = listener.local_addr().map_err(|error| failed("listen on", error))?;
    // Browsers send an origin; none of their pages has any business here.
    let config =
        StreamableHttpServerConfig::default().enforce_origin_validation().with_max_request_body_bytes(MAX_MESSAGE);
    let stop = config.cancellation_token.clone();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let app = Router::new().route_service(PATH, service).layer(from_fn_with_state(Arc::new(token.digest), authorise));
    eprintln!("attache: serving http://{bound}{PATH}");
    match token.generated {
        Some(token) => eprintln!("attache: authorization: Bearer {token}"),
        None => eprintln!("attache: authorization: Bearer, the token in {TOKEN_VARIABLE}"),
    }
    let ended = async move {
        asked_to_stop().await;
        stop.cancel();
    };
    axum::serve(listener, app).with_graceful_shutdown(ended).await.map_err(|error| failed("serve", error))
}

struct Token {
    digest: BlobId,
    /// The token itself, if nobody knows it yet.
    generated: Option<String>,
}

impl Token {
    fn find() -> Result<Self, Failure> {
        if let Some(token) = std::env::var_os(TOKEN_VARIABLE) {
            let token = token.into_string().unwrap_or_default();
            let fits = token.len() >= MIN_TOKEN_CHARS && token.bytes().all(|byte| byte.is_ascii_graphic());
            let text =
                format!("the token in {TOKEN_VARIABLE} needs at least {MIN_TOKEN_CHARS} visible ASCII characters");
            return if fits {
                Ok(Self { digest: digest(&token), generated: None })
            } else {
                Err(Failure::input("bad_token", text))
            };
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)
            .map_err(|error| Failure::operation("io_error", format!("could not make a token: {error}")))?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { digest: digest(&token), generated: Some(token) })
    }
}

/// Tokens are compared by their hashes: how long that takes says nothing of the token.
fn digest(token: &str) -> BlobId {
    BlobId::of(token.as_bytes())
}

async fn authorise(State(wanted): State<Arc<BlobId>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        given.and_then(|value| value.split_once(' ')).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    match token {
        Some((_, token)) if digest(token.trim()) == *wanted => next.run(request).await,
        _ => (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], "a bearer token is required\n")
            .into_response(),
    }
}
