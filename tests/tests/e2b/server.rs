//! A sandbox on loopback: it speaks the wire of the real one, and its files are those of a temporary folder.
//!
//! What it answers follows the daemon of the real sandboxes: links are told apart without being followed, JSON is that of protocol
//! buffers, commands really run. A test may arrange that something happens before a request, or instead of it.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_workdir_fs::{E2bFs, E2bOptions};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Multipart, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

pub(crate) const SANDBOX: &str = "sbx1";
pub(crate) const TOKEN: &str = "a-token";

/// What happens before a request whose name begins with some text, once; an answer of its own is given instead of the usual one.
type Hook = Box<dyn FnMut(&Sandbox) -> Option<Response> + Send>;

/// How the content of files is sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sending {
    /// With its length.
    Whole,
    /// In pieces of so many bytes, without a length.
    Pieces(usize),
    /// The file, and then zeros for ever.
    Endless,
    /// The first byte, and then nothing.
    Stalled,
    /// Half of it under the length of all of it.
    Cut,
}

pub(crate) struct Sandbox {
    pub(crate) root: PathBuf,
    pub(crate) base: String,
    /// The names of the requests, in order.
    seen: Mutex<Vec<String>>,
    hooks: Mutex<VecDeque<(&'static str, Hook)>>,
    sending: Mutex<Sending>,
    /// How many contents were dropped before they were sent to the end: the connection was gone.
    cancelled: Arc<AtomicU64>,
    pub(crate) sent: Arc<AtomicU64>,
    /// The headers and query of the last request.
    pub(crate) last: Mutex<(HeaderMap, String)>,
    _tmp: tempfile::TempDir,
}

impl Sandbox {
    /// Starts to answer, until the runtime ends.
    pub(crate) async fn start() -> Arc<Self> {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap().join("user");
        fs::create_dir(&root).unwrap();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let sandbox = Arc::new(Self {
            root,
            base: format!("http://{}", listener.local_addr().unwrap()),
            seen: Mutex::default(),
            hooks: Mutex::default(),
            sending: Mutex::new(Sending::Whole),
            cancelled: Arc::default(),
            sent: Arc::default(),
            last: Mutex::default(),
            _tmp: tmp,
        });
        let router = Router::new()
            .route("/filesystem.Filesystem/{procedure}", post(filesystem))
            .route("/process.Process/Start", post(start))
            .route("/files", get(download).post(upload))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&sandbox));
        tokio::spawn(async move { axum::serve(listener, router).await });
        sandbox
    }

    pub(crate) fn options(&self) -> E2bOptions {
        let root = self.root.to_str().unwrap();
        E2bOptions::new(SANDBOX).with_access_token(TOKEN).with_base_url(&self.base).with_root(root)
    }

    pub(crate) fn fs(&self) -> E2bFs {
        E2bFs::new(&self.options()).unwrap()
    }

    pub(crate) fn send(&self, sending: Sending) {
        *self.sending.lock().unwrap() = sending;
    }

    /// Before the next request whose name begins with `name`.
    pub(crate) fn before(&self, name: &'static str, mut act: impl FnMut(&Self) + Send + 'static) {
        self.instead(name, move |sandbox| {
            act(sandbox);
            None
        });
    }

    /// Instead of the next request whose name begins with `name`, if there is an answer.
    pub(crate) fn instead(&self, name: &'static str, act: impl FnMut(&Self) -> Option<Response> + Send + 'static) {
        self.hooks.lock().unwrap().push_back((name, Box::new(act)));
    }

    /// The next request whose name begins with `name` fails so.
    pub(crate) fn refuse(&self, name: &'static str, status: u16, body: &'static str) {
        self.instead(name, move |_| Some((StatusCode::from_u16(status).unwrap(), body).into_response()));
    }

    /// The requests since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }

    /// Waits until a content was dropped before its end.
    pub(crate) async fn sees_a_cancelled_connection(&self) {
        while self.cancelled.load(Ordering::SeqCst) == 0 {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::create_dir_all(self.root.join(name).parent().unwrap()).unwrap();
        fs::write(self.root.join(name), bytes).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.root).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    /// Notes the request, checks who asks, and does what was arranged.
    fn meets(&self, name: &str, headers: &HeaderMap, query: &str) -> Option<Response> {
        self.seen.lock().unwrap().push(name.to_owned());
        *self.last.lock().unwrap() = (headers.clone(), query.to_owned());
        let is = |header: &str, value: &str| headers.get(header).is_some_and(|found| found == value);
        if !(is("e2b-sandbox-id", SANDBOX) && is("e2b-sandbox-port", "49983") && is("x-access-token", TOKEN)) {
            return Some(failed(StatusCode::UNAUTHORIZED, "unauthenticated", "access token is missing or wrong"));
        }
        let hook = {
            let mut hooks = self.hooks.lock().unwrap();
            let at = hooks.iter().position(|(wanted, _)| name.starts_with(wanted));
            at.and_then(|at| hooks.remove(at))
        };
        hook.and_then(|(_, mut act)| act(self))
    }
}

fn failed(status: StatusCode, code: &str, message: &str) -> Response {
    (status, json!({"code": code, "message": message}).to_string()).into_response()
}

/// As the daemon translates the system's errors.
fn refusal(error: &std::io::Error, path: &Path) -> Response {
    if error.kind() == std::io::ErrorKind::NotFound {
        return failed(StatusCode::NOT_FOUND, "not_found", &format!("file not found: {}", path.display()));
    }
    let said = error.to_string().to_lowercase();
    failed(StatusCode::INTERNAL_SERVER_ERROR, "internal", &format!("error: {}: {said}", path.display()))
}

async fn filesystem(
    State(sandbox): State<Arc<Sandbox>>,
    axum::extract::Path(procedure): axum::extract::Path<String>,
    headers: HeaderMap,
    body: String,
) -> Response {
    if let Some(answer) = sandbox.meets(&procedure, &headers, "") {
        return answer;
    }
    if headers.get(header::CONTENT_TYPE).is_none_or(|kind| kind != "application/json") {
        return failed(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unknown", "not JSON");
    }
    let asked: Value = serde_json::from_str(&body).unwrap();
    let path = |key: &str| PathBuf::from(asked[key].as_str().unwrap());
    let (answer, about) = match procedure.as_str() {
        "Stat" => (entry(&path("path")).map(|entry| json!({"entry": entry})), path("path")),
        "ListDir" => (list(&path("path")), path("path")),
        "MakeDir" if path("path").is_dir() => {
            return failed(StatusCode::CONFLICT, "already_exists", "directory already exists");
        }
        "MakeDir" => (fs::create_dir_all(path("path")).map(|()| json!({"entry": {}})), path("path")),
        "Move" => {
            let moved = fs::rename(path("source"), path("destination"));
            (moved.and_then(|()| entry(&path("destination"))).map(|entry| json!({"entry": entry})), path("destination"))
        }
        // It does not mind if there is nothing.
        "Remove" => {
            _ = fs::remove_file(path("path"));
            (Ok(json!({})), path("path"))
        }
        other => return failed(StatusCode::NOT_FOUND, "unimplemented", other),
    };
    match answer {
        Ok(answer) => ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response(),
        Err(error) => refusal(&error, &about),
    }
}

/// What is empty or zero is left out, 64-bit numbers are strings. A link has the kind and mode of the place it leads to.
fn entry(path: &Path) -> std::io::Result<Value> {
    let found = fs::symlink_metadata(path)?;
    let mut entry = json!({
        "name": path.file_name().unwrap_or_default().to_string_lossy(),
        "path": path,
        "permissions": "-rw-r--r--",
        "owner": found.uid().to_string(),
        "group": found.gid().to_string(),
        "modifiedTime": jiff::Timestamp::new(found.mtime(), found.mtime_nsec() as i32).unwrap().to_string(),
    });
    let (mut kind, mut mode) = (found.file_type(), found.mode());
    if kind.is_symlink() {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        entry["symlinkTarget"] = json!(target);
        match fs::metadata(&target) {
            Ok(there) => (kind, mode) = (there.file_type(), there.mode()),
            Err(_) => mode = 0,
        }
    }
    if kind.is_file() {
        entry["type"] = json!("FILE_TYPE_FILE");
    } else if kind.is_dir() {
        entry["type"] = json!("FILE_TYPE_DIRECTORY");
    }
    if found.len() > 0 {
        entry["size"] = json!(found.len().to_string());
    }
    if mode & 0o777 > 0 {
        entry["mode"] = json!(mode & 0o777);
    }
    Ok(entry)
}

fn list(path: &Path) -> std::io::Result<Value> {
    if path.is_file() {
        return Err(std::io::Error::other("path is not a directory"));
    }
    let entries: std::io::Result<Vec<Value>> = fs::read_dir(path)?.map(|child| entry(&child?.path())).collect();
    Ok(json!({"entries": entries?}))
}

#[derive(Default, serde::Deserialize)]
struct Asked {
    path: PathBuf,
    username: Option<String>,
}

async fn download(State(sandbox): State<Arc<Sandbox>>, Query(asked): Query<Asked>, headers: HeaderMap) -> Response {
    if let Some(answer) = sandbox.meets("GET", &headers, asked.username.as_deref().unwrap_or_default()) {
        return answer;
    }
    if asked.path.is_dir() {
        let said = json!({"code": 400, "message": format!("path '{}' is a directory", asked.path.display())});
        return (StatusCode::BAD_REQUEST, said.to_string()).into_response();
    }
    let Ok(bytes) = fs::read(&asked.path) else {
        let said = json!({"code": 404, "message": format!("path '{}' does not exist", asked.path.display())});
        return (StatusCode::NOT_FOUND, said.to_string()).into_response();
    };
    let sending = *sandbox.sending.lock().unwrap();
    let length = bytes.len();
    let pieces = Pieces {
        bytes: bytes.into(),
        sending,
        at: 0,
        sent: Arc::clone(&sandbox.sent),
        cancelled: Arc::clone(&sandbox.cancelled),
        done: false,
    };
    let body = Body::from_stream(futures_util::stream::unfold(pieces, Pieces::next));
    if matches!(sending, Sending::Whole | Sending::Cut) {
        return ([(header::CONTENT_LENGTH, length.to_string())], body).into_response();
    }
    body.into_response()
}

/// A content on its way.
struct Pieces {
    bytes: Bytes,
    sending: Sending,
    at: usize,
    sent: Arc<AtomicU64>,
    cancelled: Arc<AtomicU64>,
    done: bool,
}

impl Pieces {
    async fn next(mut self) -> Option<(std::io::Result<Bytes>, Self)> {
        let left = self.bytes.len() - self.at;
        let size = match self.sending {
            Sending::Whole => left,
            Sending::Pieces(size) => size.min(left),
            Sending::Endless if left == 0 => {
                self.sent.fetch_add(65_536, Ordering::SeqCst);
                return Some((Ok(Bytes::from_static(&[0; 65_536])), self));
            }
            Sending::Endless => left,
            Sending::Stalled if self.at > 0 => std::future::pending().await,
            Sending::Stalled => 1,
            Sending::Cut if self.at > 0 => {
                self.done = true;
                return Some((Err(std::io::Error::other("gone")), self));
            }
            Sending::Cut => left / 2,
        };
        if size == 0 {
            self.done = true;
            return None;
        }
        let piece = self.bytes.slice(self.at..self.at + size);
        self.at += size;
        self.sent.fetch_add(size as u64, Ordering::SeqCst);
        // A content with a length is not asked for its end.
        self.done = self.sending == Sending::Whole;
        Some((Ok(piece), self))
    }
}

impl Drop for Pieces {
    fn drop(&mut self) {
        if !self.done {
            self.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
}

async fn upload(
    State(sandbox): State<Arc<Sandbox>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
    mut form: Multipart,
) -> Response {
    if let Some(answer) = sandbox.meets("POST", &headers, asked.username.as_deref().unwrap_or_default()) {
        return answer;
    }
    while let Some(field) = form.next_field().await.unwrap() {
        if field.name() != Some("file") {
            continue;
        }
        let bytes = field.bytes().await.unwrap();
        fs::create_dir_all(asked.path.parent().unwrap()).unwrap();
        if let Err(error) = fs::write(&asked.path, bytes) {
            return refusal(&error, &asked.path);
        }
    }
    "[]".into_response()
}

async fn start(State(sandbox): State<Arc<Sandbox>>, headers: HeaderMap, body: Bytes) -> Response {
    let length = u32::from_be_bytes(body[1..5].try_into().unwrap()) as usize;
    assert_eq!((body[0], body.len()), (0, 5 + length), "one envelope");
    let process = serde_json::from_slice::<Value>(&body[5..]).unwrap()["process"].take();
    let arguments: Vec<&str> = process["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let command = process["cmd"].as_str().unwrap();
    let name = format!("Start {command} {}", arguments.join(" "));
    if let Some(answer) = sandbox.meets(&name, &headers, "") {
        return answer;
    }
    let is_connect = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/connect+json");
    if !is_connect || headers.get("connect-protocol-version").is_none_or(|version| version != "1") {
        return failed(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unknown", "not a Connect stream");
    }
    let mut child = Command::new(command);
    child.args(arguments).stdin(Stdio::null()).current_dir(&sandbox.root);
    for (key, value) in process["envs"].as_object().unwrap() {
        child.env(key, value.as_str().unwrap());
    }
    let output = child.output().unwrap();
    let mut answer = envelope(0, &json!({"event": {"start": {"pid": 7}}}));
    answer.extend(envelope(0, &json!({"event": {"keepalive": {}}})));
    for (stream, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        // In several events, as a pipe is read.
        for piece in bytes.chunks(100) {
            let text = base64_simd::STANDARD.encode_to_string(piece);
            answer.extend(envelope(0, &json!({"event": {"data": {stream: text}}})));
        }
    }
    let mut end = json!({"exited": true, "status": format!("exit status {}", output.status.code().unwrap())});
    if let Some(code) = output.status.code().filter(|code| *code != 0) {
        end["exitCode"] = json!(code);
        end["error"] = json!(end["status"]);
    }
    answer.extend(envelope(0, &json!({"event": {"end": end}})));
    answer.extend(envelope(2, &json!({})));
    // In pieces that end anywhere.
    let pieces: Vec<std::io::Result<Bytes>> =
        answer.chunks(33).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
    let body = Body::from_stream(futures_util::stream::iter(pieces));
    ([(header::CONTENT_TYPE, "application/connect+json")], body).into_response()
}

pub(crate) fn envelope(flags: u8, message: &Value) -> Vec<u8> {
    let json = message.to_string();
    let mut bytes = vec![flags];
    bytes.extend((json.len() as u32).to_be_bytes());
    bytes.extend(json.as_bytes());
    bytes
}

/// The mode of a file, for those that look at it themselves.
pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}
