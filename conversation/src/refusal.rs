//! Why an image was not taken, as a stable code and a reason in plain words.

use std::fmt;

use attache_media::MediaError;

use crate::text::{clean, clean_to};

/// The stable code of a refused attachment, one per step of the check chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalCode {
    /// As many images as a turn may hold were accepted before, or too many files were read and refused.
    TurnLimit,
    /// The path or the type is blank, or the base64 is none.
    Malformed,
    /// The declared type, normalised, is not one of the four.
    MediaTypeNotAllowed,
    /// The path does not name anything beneath the work folder.
    OutsideRoot,
    /// There is no such file.
    NotFound,
    /// A component of the path is a link.
    SymlinkRefused,
    /// A directory, FIFO, device or socket.
    NotARegularFile,
    /// The operating system refused, or the file kept changing.
    IoError,
    /// More bytes than one image may have.
    TooLarge,
    /// The leading bytes are not the declared type.
    ContentMismatch,
    /// The container or the pixels are broken.
    Undecodable,
    /// The header claims more pixels than the budget.
    TooManyPixels,
    /// The blob could not be stored durably.
    StoreFailed,
}

impl RefusalCode {
    /// The code as it stands in notes, traces and logs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TurnLimit => "turn_limit",
            Self::Malformed => "malformed",
            Self::MediaTypeNotAllowed => "media_type_not_allowed",
            Self::OutsideRoot => "outside_root",
            Self::NotFound => "not_found",
            Self::SymlinkRefused => "symlink_refused",
            Self::NotARegularFile => "not_a_regular_file",
            Self::IoError => "io_error",
            Self::TooLarge => "too_large",
            Self::ContentMismatch => "content_mismatch",
            Self::Undecodable => "undecodable",
            Self::TooManyPixels => "too_many_pixels",
            Self::StoreFailed => "store_failed",
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A refused image: the code, and a reason that names the values and limits concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which check failed.
    pub code: RefusalCode,
    /// The reason in plain words, one line, without the code.
    pub reason: String,
}

impl Refusal {
    /// Makes a refusal; the reason is cleaned as a whole, so that a name quoted in it cannot break the line.
    #[must_use]
    pub fn new(code: RefusalCode, reason: impl AsRef<str>) -> Self {
        // A reason may list several quoted names, hence the wider cut.
        Self { code, reason: clean_reason(reason.as_ref()) }
    }

    /// `attachment '<path>' was not attached: <reason> (<code>)`, with the path cleaned.
    #[must_use]
    pub fn note(&self, path: &str) -> String {
        format!("attachment '{}' was not attached: {} ({})", clean(path), self.reason, self.code)
    }

    /// The refusal of bytes over the limit; both sizes are named.
    #[must_use]
    pub fn too_large(bytes: u64, limit: u64) -> Self {
        Self::new(RefusalCode::TooLarge, format!("the file has {bytes} bytes and one image may have {limit} bytes"))
    }
}

impl From<MediaError> for Refusal {
    fn from(error: MediaError) -> Self {
        let code = match error {
            MediaError::TooManyPixels { .. } => RefusalCode::TooManyPixels,
            _ => RefusalCode::Undecodable,
        };
        Self::new(code, error.to_string())
    }
}

/// Quote marks of our own sentences are plain `"`; only names are fenced by `'`, hence the same cleaning fits.
fn clean_reason(reason: &str) -> String {
    clean_to(reason, 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_path_reason_and_code_and_cannot_be_broken() {
        let refusal = Refusal::too_large(2048, 1024);
        assert_eq!(
            refusal.note("big.png"),
            "attachment 'big.png' was not attached: the file has 2048 bytes and one image may have 1024 bytes (too_large)"
        );
        let note = Refusal::new(RefusalCode::NotFound, "no such file: \"a\nb\"").note("a\nb'");
        assert!(!note.contains('\n'));
        assert_eq!(note.matches('\'').count(), 2);
    }
}
