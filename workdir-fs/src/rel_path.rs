//! Lowering: from what a tool wrote to a name beneath the folder, without a look at the disk.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path};
use std::sync::Arc;

use crate::FsError;

/// A name beneath a work folder, made by [`WorkDir::lower`](crate::WorkDir::lower). Cloning is cheap.
///
/// - It is relative, not empty, and its components are joined by exactly one `/`.
/// - No component is empty, `.` or `..`, and none holds a NUL or a `/`.
/// - It never begins or ends in `/`; joined to the folder it lies lexically beneath it.
/// - Backslashes, percent signs, `~` and everything else are ordinary characters of a name.
///
/// It says nothing about the disk: whether such a file exists, and is one, is found out by opening it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct RelPath {
    text: Arc<str>,
    asks_for_folder: bool,
}

impl RelPath {
    /// The name, components joined by `/`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its components, first to last.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.text.split('/')
    }

    /// The last component.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.split().1
    }

    /// Whether it was spelled with a final `/` or `/.`, which only a directory may be.
    /// Such a path can be lowered and never read: the refusal names what is there.
    #[must_use]
    pub fn asks_for_folder(&self) -> bool {
        self.asks_for_folder
    }

    /// The directory part, if any, and the last component.
    pub(crate) fn split(&self) -> (Option<&str>, &str) {
        match self.text.rsplit_once('/') {
            Some((parent, name)) => (Some(parent), name),
            None => (None, &self.text),
        }
    }

    /// The same directory with another last component, `name`, which came from that directory's own listing.
    pub(crate) fn with_file_name(&self, name: &str) -> Self {
        let text = match self.split().0 {
            Some(parent) => [parent, "/", name].concat().into(),
            None => name.into(),
        };
        Self { text, asks_for_folder: self.asks_for_folder }
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RelPath").field(&self.text).finish()
    }
}

impl AsRef<str> for RelPath {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// Lowers `spelling` against a folder that is known by each of `roots`, tried in order.
pub(crate) fn lower(spelling: &str, roots: [&Path; 2]) -> Result<RelPath, FsError> {
    if spelling.is_empty() {
        return Err(FsError::empty_path());
    }
    if spelling.contains('\0') {
        return Err(FsError::nul_in_path());
    }
    if spelling.split('/').any(|segment| segment == "..") {
        return Err(FsError::parent_segment());
    }
    let beneath = if spelling.starts_with('/') {
        roots.into_iter().find_map(|root| strip_root(spelling, root)).ok_or_else(FsError::absolute_path)?
    } else {
        spelling
    };
    collapse(beneath).ok_or_else(FsError::root_itself)
}

/// What is left of an absolute spelling after the components of `root`.
///
/// Whole components are compared, so that `/w` is no prefix of `/w2`.
fn strip_root<'a>(spelling: &'a str, root: &Path) -> Option<&'a str> {
    let mut rest = spelling;
    for component in root.components() {
        let name = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            // A root given with `..` is not resolved lexically: a link before the `..` would make that a lie. The
            // canonical form still matches.
            Component::ParentDir | Component::Prefix(_) => return None,
        };
        let (segment, after) = next_segment(rest)?;
        if OsStr::new(segment) != name {
            return None;
        }
        rest = after;
    }
    Some(rest)
}

/// The first segment that is neither empty nor `.`, and what follows it.
fn next_segment(mut rest: &str) -> Option<(&str, &str)> {
    loop {
        let (segment, after) = rest.split_once('/').unwrap_or((rest, ""));
        if !matches!(segment, "" | ".") {
            return Some((segment, after));
        }
        if after.is_empty() {
            return None;
        }
        rest = after;
    }
}

/// Drops empty and `.` segments. `None` if nothing else is there.
fn collapse(beneath: &str) -> Option<RelPath> {
    let is_name = |segment: &&str| !matches!(*segment, "" | ".");
    let asks_for_folder = beneath.rsplit('/').next().is_none_or(|last| !is_name(&last));
    // The spelling that most tools use is already in form, and is then copied once.
    let text: Arc<str> = if beneath.split('/').all(|segment| is_name(&segment)) {
        beneath.into()
    } else {
        let mut joined = String::with_capacity(beneath.len());
        for name in beneath.split('/').filter(is_name) {
            if !joined.is_empty() {
                joined.push('/');
            }
            joined.push_str(name);
        }
        joined.into()
    };
    (!text.is_empty()).then_some(RelPath { text, asks_for_folder })
}

#[cfg(test)]
#[path = "rel_path_tests.rs"]
mod tests;
