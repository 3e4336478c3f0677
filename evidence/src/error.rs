use std::fmt;

/// Why there is no evidence, or not all of it.
///
/// The `Display` text is one line, except where an input is missing, and is meant for people. It may quote what
/// the caller wrote: pass it through [`redact`](crate::redact()) before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvidenceError {
    kind: ErrorKind,
    message: String,
}

/// The kinds of [`EvidenceError`], which are also its exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller can put it right: a missing, unsupported, damaged or changed image, a rejected sidecar, a work folder in use.
    Input,
    /// Reading was fine and writing was not.
    Operation,
    /// Anything else.
    Unexpected,
}

impl ErrorKind {
    /// The stable code: `input_error`, `operation_failed` or `unexpected_error`.
    pub const fn code(self) -> &'static str {
        match self {
            ErrorKind::Input => "input_error",
            ErrorKind::Operation => "operation_failed",
            ErrorKind::Unexpected => "unexpected_error",
        }
    }

    /// The exit code of a program that ends with this: 3, 6 or 1.
    pub const fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Input => 3,
            ErrorKind::Operation => 6,
            ErrorKind::Unexpected => 1,
        }
    }
}

impl EvidenceError {
    /// An error of `kind` with this message.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Input, message)
    }

    pub(crate) fn operation(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Operation, message)
    }

    /// What kind of error this is.
    pub const fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the same call may well succeed later: a failed operation whose cause says that it passes.
    pub fn is_retryable(&self) -> bool {
        const PASSING: [&str; 7] =
            ["429", "rate limit", "timed out", "timeout", "temporar", "connection reset", "network error"];
        let text = self.message.to_lowercase();
        self.kind == ErrorKind::Operation && PASSING.iter().any(|words| text.contains(words))
    }
}

impl fmt::Display for EvidenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for EvidenceError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_operation_is_tried_again() {
        let cases = [
            (ErrorKind::Operation, "image copy failed: Connection reset by peer", true),
            (ErrorKind::Operation, "image copy failed: Resource temporarily unavailable", true),
            (ErrorKind::Operation, "image copy failed: no space left", false),
            (ErrorKind::Input, "no such file or folder: timeout.png", false),
            (ErrorKind::Unexpected, "timed out", false),
        ];
        for (kind, message, expect) in cases {
            assert_eq!(EvidenceError::new(kind, message).is_retryable(), expect, "{message}");
        }
    }
}
