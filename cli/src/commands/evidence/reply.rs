//! The documents that the raw commands print.

use std::fmt::Write as _;

use attache_evidence::{EvidenceError, RunFailure, redact};
use serde::Serialize;
use serde_json::{Value, json};

use super::guided::shown_view;
use crate::args::evidence::Form;

pub(super) const PROTOCOL_VERSION: &str = "1.0";

/// A result in the form that was asked for, with the newline that ends it.
pub(super) fn success(command: &str, payload: &impl Serialize, form: Form) -> serde_json::Result<String> {
    let payload = serde_json::to_value(payload)?;
    if !form.envelope {
        return Ok(print(&payload, form.compact));
    }
    let warnings = payload.get("warnings").cloned().unwrap_or_else(|| json!([]));
    let meta = json!({"command": command, "protocol_version": PROTOCOL_VERSION, "warnings": warnings});
    Ok(print(&json!({"ok": true, "data": payload, "error": null, "meta": meta}), form.compact))
}

/// A failure in the form that was asked for.
pub(super) fn failure(command: &str, failure: &Failed<'_>, form: Form) -> String {
    if form.envelope {
        return print(&failure.envelope(Some(command)), form.compact);
    }
    let message = ascii(&json!(failure.message()).to_string());
    let space = if form.compact { "" } else { " " };
    format!("{{\"error\":{space}{message}}}\n")
}

/// Why a command failed.
pub(super) enum Failed<'a> {
    /// Nothing can be used.
    Error(&'a EvidenceError),
    /// A run that may have left something to use.
    Run(&'a RunFailure),
}

impl Failed<'_> {
    pub(super) fn error(&self) -> &EvidenceError {
        match self {
            Failed::Error(error) => error,
            Failed::Run(failure) => &failure.error,
        }
    }

    pub(super) fn message(&self) -> String {
        redact(&self.error().to_string())
    }

    pub(super) fn envelope(&self, command: Option<&str>) -> Value {
        let error = self.error();
        let mut meta = json!({"command": command, "protocol_version": PROTOCOL_VERSION, "warnings": []});
        let mut data = Value::Null;
        if let Failed::Run(failure) = self {
            meta["warnings"] = json!(failure.warnings);
            meta["failed_stage"] = json!(failure.failed_stage);
            meta["stages_completed"] = json!(failure.stages_completed);
            meta["manifest_written"] = json!(failure.manifest_written);
            data = json!(failure.data);
            if let (Some(manifest), Some(view)) = (&failure.data, &failure.view) {
                data["view"] = json!(shown_view(manifest, view));
            }
        }
        let (kind, message) = (error.kind(), self.message());
        envelope_of(data, kind.code(), &message, error.is_retryable(), kind.exit_code(), &meta)
    }
}

pub(super) fn usage_envelope(command: Option<&str>, message: &str) -> String {
    let meta = json!({"command": command, "protocol_version": PROTOCOL_VERSION, "warnings": []});
    print(&envelope_of(Value::Null, "usage_error", &redact(message), false, 2, &meta), false)
}

fn envelope_of(data: Value, code: &str, message: &str, retryable: bool, exit_code: u8, meta: &Value) -> Value {
    let error = json!({"code": code, "message": message, "retryable": retryable, "exit_code": exit_code});
    json!({"ok": false, "data": data, "error": error, "meta": meta})
}

/// Two spaces a level or all on one line, in ASCII alone, with a newline at the end.
pub(super) fn print(document: &Value, compact: bool) -> String {
    let text = if compact { document.to_string() } else { format!("{document:#}") };
    ascii(&text) + "\n"
}

/// Escapes what is not ASCII. In a JSON document such characters stand in strings only.
fn ascii(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_ascii() {
        let document = json!({"a": "é😀\n", "b": [], "c": {"d": 0.0}});
        assert_eq!(
            print(&document, false),
            "{\n  \"a\": \"\\u00e9\\ud83d\\ude00\\n\",\n  \"b\": [],\n  \"c\": {\n    \"d\": 0.0\n  }\n}\n"
        );
        assert_eq!(print(&document, true), "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\",\"b\":[],\"c\":{\"d\":0.0}}\n");
        assert_eq!(serde_json::from_str::<Value>(&print(&document, true)).unwrap(), document);
    }
}
