//! A client that speaks the protocol line by line.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use attache_tests::binary;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Far more than any call here takes: an answer that takes longer never comes.
const LIMIT: Duration = Duration::from_secs(30);

/// A folder with a work folder in it.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.work("")).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.0.path().join("work").join(name)
    }

    /// Starts a server over the work folder.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Client {
        Client::start(self.0.path(), arguments)
    }
}

/// A server process, and its client.
pub(crate) struct Client {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next_id: u64,
}

impl Client {
    fn start(dir: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.current_dir(dir).args(["mcp", "--workdir", "work"]).args(arguments);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(process.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // Standard output holds nothing but the protocol.
                let message = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}"));
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        let input = process.stdin.take();
        let mut client = Self { process, input, lines, next_id: 0 };
        let hello = client.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "attache", "{hello}");
        client.notify("notifications/initialized", json!({}));
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Writes bytes that need be no message.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request, and returns its id.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    /// The next message of the server.
    pub(crate) fn receive(&mut self) -> Value {
        self.lines.recv_timeout(LIMIT).expect("the server answers")
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"]["content"].is_array(), "{answer}");
        answer["result"].clone()
    }

    /// Leaves, and waits for the server to end by itself.
    pub(crate) fn leave(mut self) -> Option<i32> {
        drop(self.input.take());
        self.process.wait().unwrap().code()
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The code of a result that is an error, which its text begins with `Error: ` for.
pub(crate) fn code(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    let error = &result["structuredContent"]["error"];
    let message = error["message"].as_str().unwrap();
    assert_eq!(result["content"], json!([{"type": "text", "text": format!("Error: {message}")}]));
    error["code"].as_str().unwrap()
}

/// The text of a result that is none.
pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result["isError"], false, "{result}");
    result["content"][0]["text"].as_str().unwrap()
}
