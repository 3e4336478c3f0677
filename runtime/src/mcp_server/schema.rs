//! What a client is told of the results.

use rmcp::model::ToolAnnotations;
use serde_json::{Value, json};

/// The JSON schema of the structured result of a tool. A call that failed has `error` alone.
pub(super) fn output_schema(tool: &str) -> Value {
    let number = json!({"type": "integer", "minimum": 0});
    let text = json!({"type": "string"});
    let (properties, required) = match tool {
        "read" => (
            json!({
                "path": text,
                "offset": {"type": "integer", "minimum": 1},
                "lines": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"number": {"type": "integer", "minimum": 1}, "text": text},
                        "required": ["number", "text"],
                    },
                },
                "totalLines": number,
                "lang": text,
            }),
            json!(["path", "offset", "lines", "totalLines"]),
        ),
        "read_image" => (
            json!({
                "path": text,
                "image": {
                    "type": "object",
                    "properties": {
                        "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                        "mediaType": text, "bytes": number, "width": number, "height": number, "name": text,
                    },
                    "required": ["sha256", "mediaType", "bytes"],
                },
            }),
            json!(["path", "image"]),
        ),
        _ => (
            json!({
                "path": text,
                "created": {"type": "boolean"},
                "hunks": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "oldStart": number, "oldLines": number, "newStart": number, "newLines": number,
                            "lines": {"type": "array", "items": text},
                        },
                        "required": ["oldStart", "oldLines", "newStart", "newLines", "lines"],
                    },
                },
            }),
            json!(["path", "created"]),
        ),
    };
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "anyOf": [{"required": required}, {"required": ["error"]}],
    });
    schema["properties"]["error"] = json!({
        "type": "object",
        "properties": {"code": text, "message": text},
        "required": ["code", "message"],
    });
    schema
}

/// What a call may do, for clients that ask their user.
pub(super) fn annotations(tool: &str) -> ToolAnnotations {
    let (title, changes, repeats) = match tool {
        "read" => ("Read a text file", false, true),
        "read_image" => ("Look at an image file", false, true),
        "write" => ("Write a file", true, true),
        _ => ("Edit a file", true, false),
    };
    ToolAnnotations::from_raw(Some(title.to_owned()), Some(!changes), Some(changes), Some(repeats), Some(false))
}
