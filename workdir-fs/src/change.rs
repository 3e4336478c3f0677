//! What is asked of a write or an edit, and what came of it.

use crate::target::Version;

/// On what condition a write takes place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum WriteIntent {
    /// None: whatever file is there is replaced.
    #[default]
    Unconditional,
    /// Nothing may be there, up to the moment of publication.
    CreateIfAbsent,
    /// Exactly this version must be there.
    ReplaceIfVersion(Version),
}

/// A literal replacement. `\r\n` counts as `\n` in both texts, and no character of them means anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edit {
    /// The text to find.
    pub old: String,
    /// What to put in its place.
    pub new: String,
    /// Whether every occurrence is meant; without it, more than one is an error.
    pub replace_all: bool,
}

/// A write or edit that took place, and is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// What it did.
    pub operation: Operation,
    /// The state it left.
    pub version: Version,
    /// The text that was there, with `\n` line endings and without a byte order mark: the basis of a diff. `None` if nothing was
    /// there, and if it was binary, not UTF-8, not readable, or larger than 10 MiB.
    pub before: Option<String>,
    /// The text that is there now, in the same form.
    pub after: String,
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The file was not there.
    Create,
    /// The file was replaced.
    Update,
}
