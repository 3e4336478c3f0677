//! What a command prints, and how it ends.
//!
//! With `--json` exactly one JSON document goes to stdout, errors included; without it, text. Exit codes: 0 done,
//! 1 unexpected, 2 usage, 3 bad input, 5 a dependency is missing, 6 an operation failed.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use attache_runtime::ConversationError;
use attache_runtime::conversation::ConversationErrorKind;
use serde::Serialize;
use serde_json::json;

/// Bad input: the caller can put it right.
pub(crate) const BAD_INPUT: u8 = 3;
/// An operation on good input failed.
const OPERATION_FAILED: u8 = 6;
const USAGE: u8 = 2;

/// Why a command ends without having done its work.
#[derive(Debug)]
pub(crate) struct Failure {
    code: &'static str,
    message: String,
    exit_code: u8,
}

impl Failure {
    pub(crate) fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), exit_code: BAD_INPUT }
    }

    pub(crate) fn operation(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), exit_code: OPERATION_FAILED }
    }

    /// Puts the place of the error in front of its text.
    pub(crate) fn within(mut self, place: impl Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

impl From<ConversationError> for Failure {
    fn from(error: ConversationError) -> Self {
        let message = error.to_string();
        match error.kind() {
            ConversationErrorKind::NotFound
            | ConversationErrorKind::InvalidMessage
            | ConversationErrorKind::NoSuchImage
            | ConversationErrorKind::Damaged => Self::input(error.code(), message),
            _ => Self::operation(error.code(), message),
        }
    }
}

/// A path as text for a document. JSON holds no path that is not UTF-8, and its serialiser refuses one.
pub(crate) fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Where a command's result goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Whether documents were asked for.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints the result: the document, or the text made of it.
    pub(crate) fn result(self, document: &impl Serialize, text: impl FnOnce() -> String) -> Result<(), Failure> {
        if !self.json {
            return print(text().as_bytes());
        }
        let mut line = serde_json::to_vec(document)
            .map_err(|error| Failure::operation("unexpected_error", format!("could not print the result: {error}")))?;
        line.push(b'\n');
        print(&line)
    }

    /// Prints why a command failed, and gives its exit code.
    pub(crate) fn failure(self, failure: &Failure) -> ExitCode {
        let Failure { code, message, exit_code } = failure;
        if self.json {
            let error = json!({"code": code, "message": message, "exit_code": exit_code});
            println_or_ignore(&json!({"ok": false, "error": error}).to_string());
        } else {
            let _ = writeln!(io::stderr(), "attache: {message}");
        }
        ExitCode::from(*exit_code)
    }
}

/// Prints a usage error (or the help that was asked for) as the arguments ask, and gives the exit code.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|arg| arg == "--json");
    if !error.use_stderr() || !wants_json {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
    }
    let text = error.render().to_string();
    let message = text.trim().trim_start_matches("error: ");
    Output::new(true).failure(&Failure { code: "usage_error", message: message.to_owned(), exit_code: USAGE })
}

/// Writes to stdout. A reader that went away (`attache render … | head`) is no error of ours.
pub(crate) fn print(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::operation("io_error", format!("could not write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn println_or_ignore(line: &str) {
    let _ = writeln!(io::stdout(), "{line}");
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    #[test]
    fn every_path_can_stand_in_a_document() {
        for (path, text) in [(&b"/a/b"[..], "/a/b"), (b"", ""), (b"a\xffb", "a\u{fffd}b"), (b"\xf0\x9f", "\u{fffd}")] {
            let document = json!({"out": path_text(Path::new(OsStr::from_bytes(path)))});
            assert_eq!(document, json!({"out": text}), "{path:?}");
        }
    }
}
