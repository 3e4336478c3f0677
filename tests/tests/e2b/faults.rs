//! What a sandbox may answer, and what that is to the caller.

use std::time::Duration;

use attache_workdir_fs::{Cancel, E2bFs, FileSystem as _, Target, WriteIntent};
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use serde_json::json;

use crate::server::{Sandbox, Sending, TOKEN, envelope};

#[tokio::test]
async fn each_answer_has_its_code() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "x");
    let fs = sandbox.fs();
    let target = fs.resolve("a", None).await.unwrap();
    for request in ["Stat", "GET"] {
        for (status, body, code) in [
            (404, "", "FS_NOT_FOUND"),
            (404, r#"{"code":"not_found","message":"file not found"}"#, "FS_NOT_FOUND"),
            (500, r#"{"code":"internal","message":"lstat /a/b: permission denied"}"#, "FS_PERMISSION_DENIED"),
            (500, r#"{"code":"internal","message":"disk on fire"}"#, "FS_IO_ERROR"),
            (502, "<html>the sandbox was not found</html>", "FS_IO_ERROR"),
            (302, "", "FS_IO_ERROR"),
        ] {
            sandbox.refuse(request, status, body);
            let error = fs.read_bytes(&target, 10, &Cancel::new()).await.unwrap_err();
            assert_eq!(error.code(), code, "{request} {status} {body}");
            assert!(!error.to_string().contains("disk on fire"), "what a server says is the cause: {error}");
        }
    }
    for answer in ["", "null", "[]", r#"{"entry":{"size":"x"}}"#, r#"{"entry":{"type":"FILE_TYPE_FILE"}}"#] {
        sandbox.instead("Stat", move |_| Some(answer.into_response()));
        assert_eq!(fs.stat(&target).await.unwrap_err().code(), "FS_IO_ERROR", "{answer}");
    }
}

#[tokio::test]
async fn a_command_that_goes_wrong_is_an_error() {
    let sandbox = Sandbox::start().await;
    let fs = sandbox.fs();
    let event = |event| envelope(0, &json!({"event": event}));
    let end = envelope(2, &json!({}));
    for (answer, code) in [
        (vec![], "FS_IO_ERROR"),
        (event(json!({"start": {"pid": 1}})), "FS_IO_ERROR"),
        (end.clone(), "FS_IO_ERROR"),
        ([event(json!({"end": {"exited": false, "status": "signal: killed"}})), end.clone()].concat(), "FS_IO_ERROR"),
        (event(json!({"end": {"exited": true}})), "FS_IO_ERROR"),
        ([event(json!({"end": {"exited": true}})), end.clone()].concat(), "FS_IO_ERROR"),
        ([event(json!({"data": {"stdout": "%"}})), end].concat(), "FS_IO_ERROR"),
        (envelope(2, &json!({"error": {"code": "not_found", "message": "no such user"}})), "FS_NOT_FOUND"),
        (envelope(2, &json!({"error": {"code": "unavailable"}})), "FS_IO_ERROR"),
        (vec![1, 0, 0, 0, 0], "FS_IO_ERROR"),
        (vec![0, 255, 0, 0, 0], "FS_IO_ERROR"),
        (b"\0\0\0\0\x01x".to_vec(), "FS_IO_ERROR"),
    ] {
        let answered = answer.clone();
        sandbox.instead("Start realpath", move |_| {
            Some(([(header::CONTENT_TYPE, "application/connect+json")], answered.clone()).into_response())
        });
        let error = fs.resolve("a", None).await.unwrap_err();
        assert_eq!(error.code(), code, "{answer:?}");
    }
}

#[tokio::test]
async fn every_request_says_who_asks() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "x");
    let stranger = E2bFs::new(&sandbox.options().with_access_token("wrong")).unwrap();
    let error = stranger.resolve("a", None).await.unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("FS_IO_ERROR", "cannot resolve \"a\": the sandbox answered 401 unauthenticated".to_owned())
    );
    let fs = E2bFs::new(&sandbox.options().with_user("ann")).unwrap();
    assert!(!format!("{fs:?} {:?}", sandbox.options()).contains(TOKEN));
    let target = fs.resolve("a", None).await.unwrap();
    // A name and no password, as basic authentication writes them.
    let asked = |sandbox: &Sandbox| sandbox.last.lock().unwrap().clone();
    assert_eq!(asked(&sandbox).0[header::AUTHORIZATION], "Basic YW5uOg==");
    fs.read_bytes(&target, 10, &Cancel::new()).await.unwrap();
    assert_eq!(asked(&sandbox).1, "ann");
    fs.stat(&target).await.unwrap();
    assert_eq!(asked(&sandbox).0[header::AUTHORIZATION], "Basic YW5uOg==");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let (sandbox, other) = (Sandbox::start().await, Sandbox::start().await);
    let elsewhere = format!("{}/filesystem.Filesystem/Stat", other.base);
    sandbox.instead("Stat", move |_| {
        Some((StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, elsewhere.clone())]).into_response())
    });
    assert_eq!(sandbox.fs().stat(&Target::new("a", "a")).await.unwrap_err().code(), "FS_IO_ERROR");
    assert_eq!(other.requests(), [""; 0], "the token stays where it belongs");
}

#[tokio::test]
async fn a_sandbox_that_is_not_there_is_said_to_be() {
    let sandbox = Sandbox::start().await;
    // Nobody listens on a port that was just given back.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let fs = E2bFs::new(&sandbox.options().with_base_url(format!("http://{free}"))).unwrap();
    let message = "the sandbox cannot be reached";
    let target = Target::new("a", "a");
    let error = fs.stat(&target).await.unwrap_err();
    assert!(error.to_string().ends_with(message));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("refused") && !cause.contains("127.0.0.1/"), "{cause}");
    let error = fs.write_text(&target, "x", &WriteIntent::Unconditional).await.unwrap_err();
    assert_eq!((error.code(), error.to_string()), ("FS_IO_ERROR", format!("cannot write \"a\": {message}")));
}

#[tokio::test]
async fn a_sandbox_that_falls_silent_does_not_hold_a_call_for_ever() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "x\n".repeat(1_000));
    let fs = E2bFs::new(&sandbox.options().with_patience(Duration::from_millis(300))).unwrap();
    let target = fs.resolve("a", None).await.unwrap();
    let why = "cannot read \"a\": the sandbox was silent for too long";
    sandbox.send(Sending::Stalled);
    let error = fs.read_bytes(&target, 10_000, &Cancel::new()).await.unwrap_err();
    assert_eq!((error.code(), error.to_string()), ("FS_IO_ERROR", why.to_owned()));
    sandbox.sees_a_cancelled_connection().await;
    sandbox.instead("Stat", |_| {
        let silence = futures_util::stream::pending::<std::io::Result<bytes::Bytes>>();
        Some(Body::from_stream(silence).into_response())
    });
    assert_eq!(fs.stat(&target).await.unwrap_err().to_string(), why);
    // The file's turn is free again.
    sandbox.send(Sending::Whole);
    let written = fs.write_text(&target, "y", &WriteIntent::Unconditional).await;
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(sandbox.get("a"), "y");
}

#[test]
fn without_a_runtime_there_is_an_error_and_no_panic() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sandbox = runtime.block_on(Sandbox::start());
    let fs = sandbox.fs();
    let target = Target::new("a", "a");
    let error = futures_util::FutureExt::now_or_never(fs.stat(&target)).unwrap().unwrap_err();
    assert_eq!(error.to_string(), "cannot read \"a\": requests to a sandbox need a tokio runtime");
}

#[test]
fn the_usual_address_is_reached_over_tls() {
    // Nothing is asked; that the library has what it takes shows when it is set up.
    let fs = E2bFs::new(&attache_workdir_fs::E2bOptions::new("abc123")).unwrap();
    assert!(format!("{fs:?}").contains("49983-abc123.e2b.app"), "{fs:?}");
}
