//! The requests that a sandbox answers, one function each.

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, RequestBuilder, Response, Url, multipart};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::connect::{Message, Messages, envelope};
use super::entry::Entry;
use super::failure::Failure;
use super::options::{E2bOptions, E2bOptionsError};

/// How often an idle connection asks whether the other side is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The longest answer that is taken, but for a file's content, in bytes: a listing of some 100 000 entries.
const MAX_ANSWER: usize = 64 << 20;
/// The most that is taken of what a command prints, in bytes: a few paths.
const MAX_OUTPUT: usize = 256 << 10;
/// The most that is taken of an error, in bytes.
const MAX_ERROR: usize = 64 << 10;

/// A sandbox, spoken to over HTTP. Clones share its connections.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    client: Client,
    base: Url,
    user: Option<String>,
}

impl Wire {
    pub(super) fn new(options: &E2bOptions) -> Result<Self, E2bOptionsError> {
        let base = options.url()?;
        let client = Client::builder()
            .default_headers(options.headers()?)
            // A redirect would take the token elsewhere.
            .redirect(Policy::none())
            .connect_timeout(options.patience)
            .read_timeout(options.patience)
            .tcp_keepalive(KEEPALIVE)
            .build();
        let client = client.map_err(|source| E2bOptionsError::Client { source })?;
        Ok(Self { client, base, user: options.user.clone() })
    }

    /// What tells this sandbox from others.
    pub(super) fn address(&self) -> &str {
        self.base.as_str()
    }

    /// What stands at a path; a link is itself.
    pub(super) async fn stat(&self, path: &str) -> Result<Entry, Failure> {
        let found: Found = self.call("filesystem.Filesystem/Stat", &json!({"path": path})).await?;
        Ok(found.entry)
    }

    pub(super) async fn list(&self, path: &str) -> Result<Vec<Entry>, Failure> {
        let listed: Listed = self.call("filesystem.Filesystem/ListDir", &json!({"path": path, "depth": 1})).await?;
        Ok(listed.entries)
    }

    /// Makes a directory and those above it. `Exists` if it is there.
    pub(super) async fn make_dir(&self, path: &str) -> Result<(), Failure> {
        self.call("filesystem.Filesystem/MakeDir", &json!({"path": path})).await.map(|_: Value| ())
    }

    /// Renames, and replaces whatever file is at the destination.
    pub(super) async fn rename(&self, from: &str, to: &str) -> Result<(), Failure> {
        let names = json!({"source": from, "destination": to});
        self.call("filesystem.Filesystem/Move", &names).await.map(|_: Value| ())
    }

    pub(super) async fn remove(&self, path: &str) -> Result<(), Failure> {
        self.call("filesystem.Filesystem/Remove", &json!({"path": path})).await.map(|_: Value| ())
    }

    /// A file's content, as it arrives. Dropping the stream ends the connection.
    pub(super) async fn content(&self, path: &str) -> Result<BoxStream<'static, Result<Bytes, Failure>>, Failure> {
        let answer = answer(self.client.get(self.files(path))).await?;
        Ok(answer.bytes_stream().map(|piece| piece.map_err(Failure::connection)).boxed())
    }

    /// Writes a file's content, which is not atomic.
    pub(super) async fn upload(&self, path: &str, content: Bytes) -> Result<(), Failure> {
        let length = content.len() as u64;
        let part = multipart::Part::stream_with_length(content, length).file_name("file");
        let form = multipart::Form::new().part("file", part);
        answer(self.client.post(self.files(path)).multipart(form)).await.map(|_| ())
    }

    /// Runs a command to its end, and gives what it printed.
    pub(super) async fn run(&self, command: &str, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        // In English, since its words are all that tells some errors apart.
        let process = json!({"cmd": command, "args": arguments, "envs": {"LC_ALL": "C"}});
        let message = json!({"process": process, "stdin": false});
        let request = self.procedure("process.Process/Start").header(CONTENT_TYPE, "application/connect+json");
        let mut pieces = answer(request.body(envelope(&message))).await?.bytes_stream();
        let (mut messages, mut run) = (Messages::default(), Run::default());
        while let Some(piece) = pieces.next().await {
            messages.push(&piece.map_err(Failure::connection)?);
            while let Some(message) = messages.next().map_err(Failure::other)? {
                match message {
                    Message::Content(event) => run.take(event)?,
                    Message::End(end) => return run.end(&end),
                }
            }
        }
        Err(Failure::other("the sandbox ended a command without its result"))
    }

    async fn call<T: DeserializeOwned>(&self, procedure: &str, message: &Value) -> Result<T, Failure> {
        let request = self.procedure(procedure).header(CONTENT_TYPE, "application/json");
        let answer = answer(request.body(message.to_string())).await?;
        let body = body(answer, MAX_ANSWER).await?.ok_or_else(|| Failure::other("the sandbox's answer is too long"))?;
        serde_json::from_slice(&body).map_err(|error| Failure::Other {
            why: "the sandbox's answer is not understood".to_owned(),
            said: error.to_string(),
        })
    }

    fn procedure(&self, name: &str) -> RequestBuilder {
        let request = self.client.post(self.at(name)).header("connect-protocol-version", "1");
        match &self.user {
            // A name without a password is how this service is told who acts.
            Some(user) => request.basic_auth(user, Some("")),
            None => request,
        }
    }

    fn files(&self, path: &str) -> Url {
        let mut url = self.at("files");
        let mut query = url.query_pairs_mut();
        query.append_pair("path", path);
        if let Some(user) = &self.user {
            query.append_pair("username", user);
        }
        drop(query);
        url
    }

    fn at(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path()));
        url
    }
}

#[derive(Deserialize)]
struct Found {
    entry: Entry,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Listed {
    entries: Vec<Entry>,
}

async fn answer(request: RequestBuilder) -> Result<Response, Failure> {
    let answer = request.send().await.map_err(Failure::connection)?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    Err(Failure::answer(status, &body(answer, MAX_ERROR).await?.unwrap_or_default()))
}

/// The whole body. `None` if it is longer than `limit`.
async fn body(answer: Response, limit: usize) -> Result<Option<Vec<u8>>, Failure> {
    let mut pieces = answer.bytes_stream();
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        body.extend_from_slice(&piece.map_err(Failure::connection)?);
        if body.len() > limit {
            return Ok(None);
        }
    }
    Ok(Some(body))
}

/// What is known of a command that runs.
#[derive(Default)]
struct Run {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    /// How it ended.
    status: Option<i64>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Ended {
    exit_code: i64,
    exited: bool,
}

impl Run {
    fn take(&mut self, message: Value) -> Result<(), Failure> {
        let event = &message["event"];
        for (name, kept) in [("stdout", &mut self.stdout), ("stderr", &mut self.stderr)] {
            let Some(text) = event["data"][name].as_str() else { continue };
            let bytes = base64_simd::STANDARD.decode_to_vec(text);
            kept.extend(bytes.map_err(|_| Failure::other("the sandbox's answer is not understood"))?);
            if kept.len() > MAX_OUTPUT {
                return Err(Failure::other("a command in the sandbox printed too much"));
            }
        }
        if let Some(end) = event.get("end") {
            let Ended { exit_code, exited } = Ended::deserialize(end).unwrap_or_default();
            // One that was killed did not exit, and has no code.
            self.status = Some(if exited { exit_code } else { -1 });
        }
        Ok(())
    }

    fn end(self, end: &Value) -> Result<Vec<u8>, Failure> {
        if let Some(error) = end.get("error") {
            let text = |key: &str| error[key].as_str().unwrap_or_default();
            return Err(Failure::report(None, text("code"), text("message")));
        }
        match self.status {
            Some(0) => Ok(self.stdout),
            Some(status) => Err(Failure::command(status, &String::from_utf8_lossy(&self.stderr))),
            None => Err(Failure::other("the sandbox ended a command without its result")),
        }
    }
}
