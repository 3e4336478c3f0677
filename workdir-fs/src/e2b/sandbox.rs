//! A folder in a sandbox: from keys to paths there, looks and listings.

use std::path::Path;

use futures_util::StreamExt as _;
use futures_util::stream;

use super::entry::Entry;
use super::failure::Failure;
use super::wire::Wire;
use crate::file_error::{Doing, FileError, FileErrorKind};
use crate::spelling;
use crate::target::{DirEntry, Info, Target};

/// How often something is tried whose names change under it. Another writer changes them once a write.
pub(super) const MAX_TRIES: u32 = 16;
/// How many links of a listing are followed at the same time.
const LINKS_AT_ONCE: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Sandbox {
    pub(super) wire: Wire,
    /// The work folder, without a final `/`.
    pub(super) root: String,
}

impl Sandbox {
    /// What `path` spells, without a request.
    pub(super) fn tidy(&self, path: &str, cwd: Option<&str>) -> Result<String, FileError> {
        let root = Path::new(if self.root.is_empty() { "/" } else { &self.root });
        spelling::tidy([root, root], path, cwd)
    }

    /// The path in the sandbox of a key, or of what was asked for.
    pub(super) fn at(&self, key: &str) -> String {
        match (self.root.as_str(), key) {
            ("", "") => "/".to_owned(),
            (root, "") => root.to_owned(),
            (root, key) => format!("{root}/{key}"),
        }
    }

    /// The key to which `asked` leads, with every link in it followed, as far as anything is there. Links in a circle lead to
    /// one of them.
    pub(super) async fn follow(&self, asked: &str) -> Result<String, Followed> {
        let command = ["-m", "-z", "--", &self.at(""), &self.at(asked)];
        let printed = self.wire.run("realpath", &command).await.map_err(Followed::Failed)?;
        let printed = String::from_utf8(printed)
            .map_err(|_| Followed::Failed(Failure::other("a link leads to a name that is not UTF-8")))?;
        let mut paths = printed.split_terminator('\0');
        match (paths.next(), paths.next(), paths.next()) {
            (Some(root), Some(path), None) => {
                spelling::beneath([Path::new(root); 2], Path::new(path)).ok_or(Followed::Outside)
            }
            _ => Err(Followed::Failed(Failure::other("the sandbox's answer is not understood"))),
        }
    }

    /// What stands at `target`, and the key under which it does: another one if a link came up there since it was resolved.
    pub(super) async fn find(&self, target: &Target) -> Result<(String, Entry), Failure> {
        let mut key = checked(Doing::Read, target)?.to_owned();
        for _ in 0..MAX_TRIES {
            let found = self.look_at(&key).await?.ok_or_else(|| FileError::not_found(Doing::Read, target))?;
            if !found.is_link() {
                return Ok((key, found));
            }
            let there = self.follow(&key).await.map_err(|followed| followed.into_failure(Doing::Read, target))?;
            if there == key {
                return Err(Failure::other("too many levels of symbolic links"));
            }
            key = there;
        }
        Err(Failure::Again)
    }

    /// What stands at a key, if anything; a link is itself.
    pub(super) async fn look_at(&self, key: &str) -> Result<Option<Entry>, Failure> {
        match self.wire.stat(&self.at(key)).await {
            Ok(found) => Ok(Some(found)),
            Err(Failure::Known(FileErrorKind::NotFound)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The very name that was asked for.
    pub(super) async fn lstat(&self, target: &Target) -> Result<Info, Failure> {
        let asked = if target.asked() == "." { "" } else { target.asked() };
        let found = self.look_at(asked).await?.ok_or_else(|| FileError::not_found(Doing::Read, target))?;
        info(&found)
    }

    pub(super) async fn list(&self, target: &Target) -> Result<Vec<DirEntry>, Failure> {
        let path = self.at(checked(Doing::List, target)?);
        let found = self.wire.list(&path).await?;
        let looks: Vec<_> = found.iter().map(|entry| self.child(target, entry)).collect();
        let infos: Vec<Option<Info>> = stream::iter(looks).buffered(LINKS_AT_ONCE).collect().await;
        let mut entries: Vec<DirEntry> =
            found.iter().zip(infos).map(|(entry, info)| DirEntry { name: entry.name.clone(), info }).collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// `None` for whatever cannot be reached.
    async fn child(&self, parent: &Target, entry: &Entry) -> Option<Info> {
        if !entry.is_link() {
            return entry.info();
        }
        let asked = match parent.key() {
            "" => entry.name.clone(),
            key => format!("{key}/{}", entry.name),
        };
        let key = self.follow(&asked).await.ok()?;
        let found = self.look_at(&key).await.ok()??;
        if found.is_link() { None } else { found.info() }
    }
}

/// The key of `target`, which anybody can make up.
pub(super) fn checked(doing: Doing, target: &Target) -> Result<&str, FileError> {
    let key = target.key();
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('\0');
    if key.is_empty() || key.split('/').all(is_name) {
        return Ok(key);
    }
    Err(FileError::outside_root(doing, target.display()))
}

/// Why a path was not followed.
pub(super) enum Followed {
    /// It leads out of the work folder.
    Outside,
    Failed(Failure),
}

impl Followed {
    pub(super) fn into_failure(self, doing: Doing, target: &Target) -> Failure {
        match self {
            Self::Outside => FileError::outside_root(doing, target.display()).into(),
            Self::Failed(failure) => failure,
        }
    }
}

/// A sandbox that tells no times cannot tell one state of a file from another.
pub(super) fn info(found: &Entry) -> Result<Info, Failure> {
    found.info().ok_or_else(|| Failure::other("the sandbox does not tell when files change; its version is too old"))
}
