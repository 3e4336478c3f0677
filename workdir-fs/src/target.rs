//! Files behind the seam: which one, what it is, and in which state.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::FileVersion;
use crate::quote::plain;

/// One file, or the place for one, as [`FileSystem::resolve`](crate::FileSystem::resolve) found it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Target {
    key: String,
    display: String,
    /// What `display` shows, where that had to be escaped.
    asked: Option<Box<str>>,
}

impl Target {
    /// The file that its provider knows as `key`, asked for as `asked`, of which [`display`](Self::display) is made.
    #[must_use]
    pub fn new(key: impl Into<String>, asked: impl Into<String>) -> Self {
        let (key, asked) = (key.into(), asked.into());
        match plain(&asked) {
            None => Self { key, display: asked, asked: None },
            Some(display) => Self { key, display, asked: Some(asked.into()) },
        }
    }

    /// Opaque, and the same for every spelling of one file, whether or not the file is there yet.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The only form that is shown: what was asked for, tidied, in one line.
    ///
    /// Control characters and those that reorder a line are escaped; everything else is as it was asked for.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.display
    }

    /// What was asked for, tidied but not escaped.
    pub(crate) fn asked(&self) -> &str {
        self.asked.as_deref().unwrap_or(&self.display)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target").field("key", &self.key).field("display", &self.display).finish()
    }
}

/// What stands at a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Which state it is in.
    pub version: Version,
    /// What it is.
    pub kind: FileKind,
    /// The size in bytes that a file claims. `None` for everything else, and where the provider does not tell.
    pub size: Option<u64>,
}

/// What something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A FIFO, socket or device, or a link where links are not followed.
    Other,
}

/// Which state of which file: opaque, to be compared and kept. It is saved as a string.
///
/// Locally it is made of device, inode, size, and modification and change time in nanoseconds, so that a rewrite of the same
/// size with its modification time put back still differs. Versions of different providers never mean the same.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Version(String);

impl Version {
    /// The version that its provider writes as `text`.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// What the provider wrote.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<FileVersion> for Version {
    fn from(version: FileVersion) -> Self {
        Self(version.to_string())
    }
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name, a single component. Bytes that are not UTF-8 are replaced.
    pub name: String,
    /// What it is, a link being followed as far as it stays inside. `None` for a broken one: a link that leads nowhere or
    /// outside, an entry that vanished, or one that may not be looked at.
    pub info: Option<Info>,
}
