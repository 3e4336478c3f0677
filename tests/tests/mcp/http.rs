//! The streamable HTTP transport: on this machine, for those who know the token.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use attache_tests::{attache, binary};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::client::Place;

/// A server, its address and its token.
pub(crate) struct Server {
    process: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start(place: &Place, arguments: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.current_dir(place.path("")).args(["mcp", "--workdir", "work", "--http"]).args(arguments);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut after = |what: &str| {
            let line = lines.next().unwrap().unwrap();
            line.split_once(what).unwrap_or_else(|| panic!("{what} is missing: {line}")).1.to_owned()
        };
        let (url, token) = (after("serving "), after("Bearer "));
        std::thread::spawn(move || lines.for_each(drop));
        Self { process, url, token }
    }

    fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap()
    }

    /// Posts an `initialize` with these headers; returns the status and everything that was answered.
    fn post(&self, headers: &[(&str, &str)]) -> (u16, String) {
        self.post_as(headers, "test")
    }

    /// The same as a client of this name.
    fn post_as(&self, headers: &[(&str, &str)], name: &str) -> (u16, String) {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1"},
        }})
        .to_string();
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut request = String::from("POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n");
        request += "Accept: application/json, text/event-stream\r\n";
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {}\r\n", self.host());
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        // What is refused need not be read to its end.
        let _ = write!(stream, "{request}Content-Length: {}\r\n\r\n{body}", body.len());
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    pub(crate) fn stop(mut self) -> Option<i32> {
        kill_process(Pid::from_raw(self.process.id().try_into().unwrap()).unwrap(), Signal::TERM).unwrap();
        self.process.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn only_who_knows_the_token_is_served_and_no_web_page() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    assert_eq!(server.token.len(), 64);
    let bearer = format!("Bearer {}", server.token);
    let (status, answer) = server.post(&[("Authorization", &bearer)]);
    assert_eq!(status, 200, "{answer}");
    assert!(answer.contains(r#""name":"attache""#), "{answer}");
    let wrong = format!("Bearer {}", server.token.replace(char::is_numeric, "x"));
    for headers in [
        &[][..],
        &[("Authorization", "Bearer ")],
        &[("Authorization", &wrong)],
        &[("Authorization", &bearer[..bearer.len() - 1])],
        &[("Authorization", &server.token)],
        &[("Authorization", &format!("Basic {}", server.token))],
    ] {
        let (status, answer) = server.post(headers);
        assert_eq!(status, 401, "{headers:?}: {answer}");
    }
    for headers in [
        [("Authorization", &*bearer), ("Origin", "https://evil.example")],
        [("Authorization", &*bearer), ("Host", "evil.example")],
    ] {
        let (status, answer) = server.post(&headers);
        assert_eq!(status, 403, "{headers:?}: {answer}");
    }
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn a_message_may_have_64_mib() {
    let place = Place::new();
    let server = Server::start(&place, &[]);
    let bearer = format!("Bearer {}", server.token);
    for (length, expected) in [(60 << 20, 200), (64 << 20, 413)] {
        let (status, answer) = server.post_as(&[("Authorization", &bearer)], &"x".repeat(length));
        assert_eq!(status, expected, "{length}: {}", answer.get(..1_000).unwrap_or(&answer));
    }
}

#[test]
fn only_this_machine_is_served() {
    let place = Place::new();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let call =
            attache(format!("mcp --workdir work --json --http={address}").split(' ')).current_dir(place.path(""));
        let refused = call.run().expect_code(3).json();
        assert_eq!(refused["error"]["code"], "not_loopback", "{refused}");
    }
}
