//! What a path of a model spells, without a look at the place where the files are.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use crate::file_error::{Doing, FileError, FileErrorKind};
use crate::quote;

/// The path beneath a folder that `path` spells: components joined by `/`, no `.`, no `..`, and nothing at all for the
/// folder itself.
///
/// The folder is known by each of `roots`; what is relative starts at `cwd`, and that at the first of them.
pub(crate) fn tidy(roots: [&Path; 2], path: &str, cwd: Option<&str>) -> Result<String, FileError> {
    if path.trim().is_empty() {
        return Err(FileError::blank_path());
    }
    let shown = quote::plain(path).unwrap_or_else(|| path.to_owned());
    if path.contains('\0') {
        let why = "no file has a NUL character in its name";
        return Err(FileError::cannot(FileErrorKind::NotFound, Doing::Resolve, &shown, why));
    }
    let spelled = roots[0].join(cwd.unwrap_or_default()).join(path);
    lexical(&spelled)
        .and_then(|spelled| beneath(roots, &spelled))
        .ok_or_else(|| FileError::outside_root(Doing::Resolve, &shown))
}

/// What is left of an absolute path below a folder that is known by each of `roots`.
pub(crate) fn beneath(roots: [&Path; 2], absolute: &Path) -> Option<String> {
    let rest = roots.into_iter().find_map(|root| absolute.strip_prefix(root).ok())?;
    let names: Option<Vec<&str>> = rest.components().map(|name| name.as_os_str().to_str()).collect();
    Some(names?.join("/"))
}

/// Takes `.` and `..` out of an absolute path. `None` if it has more `..` than names before them.
fn lexical(path: &Path) -> Option<PathBuf> {
    let mut names: Vec<OsString> = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_owned()),
            Component::ParentDir => drop(names.pop()?),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    Some(Path::new("/").join(names.iter().collect::<PathBuf>()))
}
