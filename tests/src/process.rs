//! Runs programs under a watchdog.

use std::ffi::{OsStr, OsString};
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;

use crate::binary;

/// How long a call may take unless it says otherwise: far more than any needs, so that only a hang meets it.
const LIMIT: Duration = Duration::from_secs(60);
/// How often the watchdog looks.
const POLL: Duration = Duration::from_millis(2);

/// The `attache` command with these arguments.
pub fn attache(args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Call {
    Call::new(binary()).args(args)
}

/// A program to run.
#[derive(Clone, Debug)]
pub struct Call {
    line: Vec<OsString>,
    stdin: Vec<u8>,
    dir: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
}

impl Call {
    /// A call of `program`, with nothing on its standard input.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let line = vec![program.as_ref().to_owned()];
        Self { line, stdin: Vec::new(), dir: None, env: Vec::new(), limit: LIMIT }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.line.push(arg.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.line.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// What it reads on its standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Where it runs.
    #[must_use]
    pub fn current_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// How long it may take before it is killed and the test fails.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// The same call as the last arguments of another program, as `strace` takes it.
    #[must_use]
    pub fn under(mut self, program: &str, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        let mut line = vec![OsString::from(program)];
        line.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        line.append(&mut self.line);
        self.line = line;
        self
    }

    /// Runs it to its end.
    ///
    /// # Panics
    /// Where it cannot be started, or takes longer than its limit.
    pub fn run(&self) -> Finished {
        let mut child = self.spawn();
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let input = self.stdin.clone();
        // A program that ends without reading everything closes the pipe, which is no error of the test.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let stdout = collect(child.stdout.take().expect("stdout is piped"));
        let stderr = collect(child.stderr.take().expect("stderr is piped"));

        let deadline = Instant::now() + self.limit;
        let status = loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                break Some(status);
            }
            if Instant::now() > deadline {
                break None;
            }
            std::thread::sleep(POLL);
        };
        // Also after a clean end: a helper that it left running would keep the pipes open.
        kill_group(&child);
        let status = status.unwrap_or_else(|| {
            let _ = child.wait();
            panic!("{:?} did not end within {:?}", self.line, self.limit)
        });
        writer.join().expect("the writer does not panic");
        Finished {
            line: format!("{:?}", self.line),
            code: status.code(),
            signal: status.signal(),
            stdout: stdout.join().expect("the reader does not panic"),
            stderr: stderr.join().expect("the reader does not panic"),
        }
    }

    /// Starts it, with all three streams piped and in a process group of its own.
    ///
    /// # Panics
    /// Where it cannot be started.
    pub fn spawn(&self) -> Child {
        let mut command = Command::new(&self.line[0]);
        command.args(&self.line[1..]).envs(self.env.iter().map(|(name, value)| (name, value)));
        // What the developer's shell holds must not change what is printed.
        for name in ["ATTACHE_LOG", "COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "RUST_LOG", "RUST_BACKTRACE"] {
            if !self.env.iter().any(|(set, _)| set == name) {
                command.env_remove(name);
            }
        }
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command.spawn().unwrap_or_else(|error| panic!("{:?} cannot be started: {error}", self.line))
    }
}

/// Reads a stream to its end beside the program, so that it never waits for us.
fn collect(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        bytes
    })
}

fn kill_group(child: &Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The group is gone where everything in it has ended.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// A program that has ended.
#[derive(Clone, Debug)]
pub struct Finished {
    line: String,
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed for people.
    pub stderr: Vec<u8>,
}

impl Finished {
    /// Asserts the exit code.
    ///
    /// # Panics
    /// Where it is another.
    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }

    /// The one JSON document that it printed.
    ///
    /// # Panics
    /// Where it printed anything else.
    #[track_caller]
    pub fn json(&self) -> Value {
        let text = self.text();
        assert!(text.ends_with('\n'), "the document ends its line: {self}");
        serde_json::from_str(text).unwrap_or_else(|error| panic!("no single JSON document ({error}): {self}"))
    }

    /// What it printed, as text.
    ///
    /// # Panics
    /// Where that is not UTF-8.
    #[track_caller]
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap_or_else(|error| panic!("stdout is not UTF-8 ({error}): {self}"))
    }

    /// What it printed for people, as text.
    pub fn error_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

impl std::fmt::Display for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A request body of megabytes would bury the message.
        let cut = |bytes: &[u8]| String::from_utf8_lossy(&bytes[..bytes.len().min(4000)]).into_owned();
        let Self { line, code, signal, stdout, stderr } = self;
        write!(f, "{line}\ncode {code:?}, signal {signal:?}\n-- stdout\n{}", cut(stdout))?;
        write!(f, "\n-- stderr\n{}", cut(stderr))
    }
}
