//! Why a request to a sandbox came to nothing, and what that is in the words of the seam.

use std::error::Error;
use std::{io, iter};

use reqwest::StatusCode;
use serde::Deserialize;

use crate::file_error::{Doing, FileError, FileErrorKind};
use crate::target::Target;

/// Why a request came to nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// The sandbox, or a command in it, reported something that has a word of its own.
    Known(FileErrorKind),
    /// What was to be made is there.
    Exists,
    /// Anything else: a few words of ours, and what was said to us.
    Other { why: String, said: String },
    /// A refusal in its final words.
    Said(FileError),
    /// Something came in between; the next try decides.
    Again,
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Said(error)
    }
}

impl Failure {
    pub(super) fn other(why: impl Into<String>) -> Self {
        Self::Other { why: why.into(), said: String::new() }
    }

    /// The connection, not the sandbox. The address is left out: it holds a path.
    pub(super) fn connection(error: reqwest::Error) -> Self {
        let why = match (error.is_connect(), error.is_timeout()) {
            (true, _) => "the sandbox cannot be reached",
            (_, true) => "the sandbox was silent for too long",
            _ => "the connection to the sandbox broke",
        };
        let error = error.without_url();
        // What it says of itself is general; the reason, a certificate for one, is in what caused it.
        let chain = iter::successors(Some(&error as &dyn Error), |&error| error.source());
        let said: Vec<String> = chain.map(ToString::to_string).collect();
        Self::Other { why: why.to_owned(), said: said.join(": ") }
    }

    /// An answer that is none of success.
    pub(super) fn answer(status: StatusCode, body: &[u8]) -> Self {
        let Report { code, message } = serde_json::from_slice(body).unwrap_or_default();
        // Connect's code is a word, that of plain HTTP answers a number.
        let code = code.as_str().unwrap_or_default().to_owned();
        Self::report(Some(status), &code, &message)
    }

    /// An error with a Connect code, from an answer or at the end of a stream.
    pub(super) fn report(status: Option<StatusCode>, code: &str, message: &str) -> Self {
        if status == Some(StatusCode::NOT_FOUND) || code == "not_found" {
            return Self::Known(FileErrorKind::NotFound);
        }
        if code == "already_exists" {
            return Self::Exists;
        }
        if let Some(kind) = in_words(message) {
            return Self::Known(kind);
        }
        let status = status.map(|status| status.as_str().to_owned());
        let parts: Vec<&str> =
            status.iter().map(String::as_str).chain([code]).filter(|part| !part.is_empty()).collect();
        Self::Other { why: format!("the sandbox answered {}", parts.join(" ")), said: message.to_owned() }
    }

    /// A command that ended with `status`, after it said `stderr`.
    pub(super) fn command(status: i64, stderr: &str) -> Self {
        match in_words(stderr) {
            Some(kind) => Self::Known(kind),
            None => Self::Other { why: format!("a command in the sandbox failed ({status})"), said: stderr.to_owned() },
        }
    }

    /// The error of the seam. `hidden`, the name of a private file, is in none of it.
    pub(super) fn into_error(self, doing: Doing, target: &Target, hidden: Option<&str>) -> FileError {
        let cannot = |kind, why: &str| FileError::cannot(kind, doing, target.display(), why);
        match self {
            Self::Said(error) => error,
            Self::Known(kind) => cannot(kind, words(kind)),
            Self::Exists | Self::Again => cannot(FileErrorKind::IoError, "it changed at every try"),
            Self::Other { why, said } => {
                let said = hidden.map_or_else(|| said.clone(), |name| said.replace(name, "…"));
                let error = cannot(FileErrorKind::IoError, &why);
                if said.is_empty() { error } else { error.with_cause(io::Error::other(said)) }
            }
        }
    }
}

/// What both kinds of errors look like.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    code: serde_json::Value,
    message: String,
}

/// The system's own words, which is all that many reports hold. They stand at the end, or at the very beginning: between them there may be
/// a path, which says what it likes.
fn in_words(message: &str) -> Option<FileErrorKind> {
    let message = message.trim().to_ascii_lowercase();
    let has = |words: &str| message.ends_with(words);
    if has("permission denied") || has("operation not permitted") {
        Some(FileErrorKind::PermissionDenied)
    } else if has("not a directory") || message.starts_with("path is not a directory") {
        Some(FileErrorKind::NotDirectory)
    } else if has("is a directory") {
        Some(FileErrorKind::NotRegularFile)
    } else {
        None
    }
}

fn words(kind: FileErrorKind) -> &'static str {
    match kind {
        FileErrorKind::NotFound => "not found",
        FileErrorKind::NotDirectory => "not a directory",
        FileErrorKind::NotRegularFile => "not a regular file",
        FileErrorKind::PermissionDenied => "permission denied",
        _ => "the sandbox refused",
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn answers_become_codes() {
        let target = Target::new("k", "a.txt");
        for (status, body, code, message) in [
            (404, "", "FS_NOT_FOUND", "cannot read \"a.txt\": not found"),
            (500, r#"{"code":"not_found","message":"x"}"#, "FS_NOT_FOUND", "cannot read \"a.txt\": not found"),
            (
                500,
                r#"{"code":"internal","message":"lstat /x: Permission denied"}"#,
                "FS_PERMISSION_DENIED",
                "cannot read \"a.txt\": permission denied",
            ),
            (
                400,
                r#"{"code":400,"message":"path is not a directory: /x"}"#,
                "FS_NOT_DIRECTORY",
                "cannot read \"a.txt\": not a directory",
            ),
            (
                401,
                r#"{"code":"unauthenticated","message":"token"}"#,
                "FS_IO_ERROR",
                "cannot read \"a.txt\": the sandbox answered 401 unauthenticated",
            ),
            (502, "<html>", "FS_IO_ERROR", "cannot read \"a.txt\": the sandbox answered 502"),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let error = Failure::answer(status, body.as_bytes()).into_error(Doing::Read, &target, None);
            assert_eq!((error.code(), error.to_string().as_str()), (code, message), "{body}");
        }
    }

    #[test]
    fn a_path_does_not_choose_the_code() {
        for name in ["is a directory", "not a directory", "permission denied", "operation not permitted"] {
            let message = format!("rename /home/user/{name}.txt: no space left on device");
            let failure = Failure::report(None, "internal", &message);
            assert_eq!(failure.into_error(Doing::Write, &Target::new("k", "a"), None).code(), "FS_IO_ERROR");
            assert!(matches!(Failure::command(1, &format!("ln: '/w/{name}': No space left")), Failure::Other { .. }));
        }
    }

    #[test]
    fn what_was_said_is_the_cause_without_private_names() {
        let failure = Failure::report(None, "internal", "rename /w/.tmp-1: no space left on device");
        let error = failure.into_error(Doing::Write, &Target::new("k", "a"), Some(".tmp-1"));
        assert_eq!(error.to_string(), "cannot write \"a\": the sandbox answered internal");
        assert_eq!(error.source().unwrap().to_string(), "rename /w/…: no space left on device");
    }
}
