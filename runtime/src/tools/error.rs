//! A call that failed, as the model and the log are told.

use std::borrow::Cow;

use attache_conversation::Refusal;
use attache_workdir_fs::{FileError, FileErrorKind, Target};
use serde_json::json;

use crate::tool::ToolOutput;

/// A stable code, and the message without the leading `Error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ToolError {
    pub(crate) code: &'static str,
    pub(crate) message: Cow<'static, str>,
}

impl ToolError {
    /// An argument that is missing or not what the schema says.
    pub(crate) const INVALID_ARGUMENT: &str = "invalid_argument";
    /// No tool of this name is there at the moment.
    pub(crate) const UNKNOWN_TOOL: &str = "unknown_tool";
    /// The path does not end like one of an image.
    pub(crate) const EXTENSION: &str = "extension_not_allowed";
    /// No blob store is mounted.
    pub(crate) const NO_STORE: &str = "no_blob_store";
    /// The host does not take images of this type.
    pub(crate) const TYPE: &str = "media_type_not_allowed";
    /// It is not known which model is asked.
    pub(crate) const MODEL_UNRESOLVED: &str = "model_unresolved";
    /// The model does not declare that it takes images.
    pub(crate) const MODEL_TAKES_NO_IMAGES: &str = "model_takes_no_images";

    pub(crate) fn new(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Self::INVALID_ARGUMENT, message)
    }

    /// As the file system says it, so that one message has one code.
    pub(crate) fn blank_path() -> Self {
        Self::new(FileErrorKind::NotFound.code(), "file_path must be a non-empty string")
    }

    pub(crate) fn unknown_tool(name: &str) -> Self {
        Self::new(Self::UNKNOWN_TOOL, format!("unknown tool \"{}\"", shown(name)))
    }

    /// `cannot read "p": reason`, for what the checks on images refuse.
    pub(crate) fn refused(target: &Target, refusal: &Refusal) -> Self {
        Self::new(refusal.code.as_str(), format!("cannot read \"{target}\": {}", refusal.reason))
    }

    /// The result that says so.
    pub(crate) fn into_output(self) -> ToolOutput {
        let Self { code, message } = self;
        let mut output = ToolOutput::error(format!("Error: {message}")).with_code(code);
        output.structured = Some(json!({"error": {"code": code, "message": message}}));
        output
    }
}

/// The one place where a refusal of the policy or of the file system gets its remedy.
impl From<FileError> for ToolError {
    fn from(error: FileError) -> Self {
        let remedy = match error.kind() {
            FileErrorKind::StaleVersion => " — re-read the file, then retry",
            FileErrorKind::NotObserved => " — read the file, then retry",
            _ => "",
        };
        Self::new(error.code(), format!("{error}{remedy}"))
    }
}

/// What stands at `target` is not a file.
pub(crate) fn not_a_file(target: &Target) -> FileError {
    FileError::new(FileErrorKind::NotRegularFile, format!("cannot read \"{target}\": not a regular file"))
}

/// Text of a model, in one line.
pub(crate) fn shown(text: &str) -> String {
    Target::new("", text).display().to_owned()
}
