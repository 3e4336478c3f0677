//! The four tools, as models and hosts are told of them.

use serde_json::{Value, json};

use crate::tool::ToolSpec;

/// Whether calls of a tool may run beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheduling {
    /// Beside others of this kind.
    Parallel,
    /// Alone: it changes what others look at.
    Exclusive,
}

/// One of the four tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileTool {
    Read,
    ReadImage,
    Write,
    Edit,
}

impl FileTool {
    pub(crate) const ALL: [Self; 4] = [Self::Read, Self::ReadImage, Self::Write, Self::Edit];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::ReadImage => "read_image",
            Self::Write => "write",
            Self::Edit => "edit",
        }
    }

    /// What it cannot do, when it cannot.
    pub(crate) fn verb(self) -> &'static str {
        match self {
            Self::Read | Self::ReadImage => "read",
            Self::Write => "write",
            Self::Edit => "edit",
        }
    }

    pub(crate) fn scheduling(self) -> Scheduling {
        match self {
            Self::Read | Self::ReadImage => Scheduling::Parallel,
            Self::Write | Self::Edit => Scheduling::Exclusive,
        }
    }

    /// `max_lines` is the most that one `read` shows. Nothing here depends on a model.
    pub(crate) fn spec(self, max_lines: u64) -> ToolSpec {
        let description = match self {
            Self::Read => {
                "Reads a text file and shows a window of its lines, each with its number. \
                 Use offset and limit to go through a long file."
            }
            Self::ReadImage => "Reads a PNG, JPEG, WebP or GIF file, to be looked at from the next request on.",
            Self::Write => {
                "Writes a text file, and creates it and its folders where there are none. \
                 An existing file has to be read first, and is replaced as a whole."
            }
            Self::Edit => {
                "Replaces a literal text in a file that was read. \
                 The text has to occur exactly once, unless all occurrences are to be replaced."
            }
        };
        ToolSpec {
            name: self.name().to_owned(),
            description: description.to_owned(),
            input_schema: self.schema(max_lines),
        }
    }

    fn schema(self, max_lines: u64) -> Value {
        let path = json!({"type": "string", "minLength": 1, "description": "The file."});
        let (properties, required) = match self {
            Self::Read => (
                json!({
                    "file_path": path,
                    "offset": {"type": "integer", "minimum": 1, "description": "The first line to show, from 1."},
                    "limit": {
                        "type": "integer", "minimum": 1, "maximum": max_lines,
                        "description": "The most lines to show.",
                    },
                }),
                json!(["file_path"]),
            ),
            Self::ReadImage => (json!({"file_path": path}), json!(["file_path"])),
            Self::Write => (
                json!({"file_path": path, "content": {"type": "string", "description": "The whole text of the file."}}),
                json!(["file_path", "content"]),
            ),
            Self::Edit => (
                json!({
                    "file_path": path,
                    "old_string": {"type": "string", "minLength": 1, "description": "The text to replace."},
                    "new_string": {"type": "string", "description": "What to put in its place."},
                    "replace_all": {
                        "type": "boolean", "default": false,
                        "description": "Whether to replace every occurrence.",
                    },
                }),
                json!(["file_path", "old_string", "new_string"]),
            ),
        };
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }
}
