//! From what was asked for to a key.

use std::path::Path;

use rustix::fs::{AtFlags, FileType, readlinkat, statat};
use rustix::io::Errno;

use crate::file_error::FileError;
use crate::spelling;
use crate::target::Target;
use crate::work_dir::WorkDir;

/// How many links are followed for one path, as on Linux.
const MAX_LINKS: u32 = 40;

/// How often a path is followed that changes meanwhile.
const MAX_TRIES: u32 = 16;

/// What `path` spells, without a look at the disk.
pub(super) fn tidy(work: &WorkDir, path: &str, cwd: Option<&str>) -> Result<String, FileError> {
    spelling::tidy(roots(work), path, cwd)
}

/// The folder's names: relative paths start at the canonical one, since a `..` in the given one cannot be taken back lexically.
fn roots(work: &WorkDir) -> [&Path; 2] {
    [work.canonical_path(), work.path()]
}

pub(super) fn target(key: &str, asked: &str) -> Target {
    Target::new(key, if asked.is_empty() { "." } else { asked })
}

/// The path beneath the folder to which `asked` leads, with every link in it followed.
///
/// Where nothing is there yet, the rest of the path is taken as it is, so that creating the file does not change the answer.
/// Nothing that is opened later relies on it: if it is outdated by then, a link is met, and refused.
///
/// # Errors
///
/// `XDEV` if a link leads outside, `LOOP` for too many of them, and what the system refuses.
pub(super) fn follow(work: &WorkDir, asked: &str) -> Result<String, Errno> {
    if is_plain(work, asked) {
        return Ok(asked.to_owned());
    }
    for _ in 0..MAX_TRIES {
        match (Walk { work, left: split(asked), done: Vec::new(), links: 0 }).run() {
            // A directory became something else after it was looked at.
            Err(Errno::AGAIN) => {}
            followed => return followed,
        }
    }
    Err(Errno::BUSY)
}

/// Whether it can be seen in two calls that there is no link in the path.
fn is_plain(work: &WorkDir, asked: &str) -> bool {
    let (parent, name) = asked.rsplit_once('/').unwrap_or(("", asked));
    let look = |dir| match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => FileType::from_raw_mode(found.st_mode) != FileType::Symlink,
        Err(errno) => errno == Errno::NOENT,
    };
    asked.is_empty() || work.open_dir(parent).is_ok_and(look)
}

/// The names of a path, last first.
fn split(path: &str) -> Vec<String> {
    path.split('/').rev().map(str::to_owned).collect()
}

struct Walk<'a> {
    work: &'a WorkDir,
    /// What is still ahead, next last.
    left: Vec<String>,
    /// What is behind: no link among it when it was looked at.
    done: Vec<String>,
    links: u32,
}

impl Walk<'_> {
    fn run(mut self) -> Result<String, Errno> {
        let mut dir = Some(self.work.open_dir("")?);
        while let Some(name) = self.left.pop() {
            match name.as_str() {
                "" | "." => {}
                ".." => {
                    self.done.pop().ok_or(Errno::XDEV)?;
                    dir = self.reopen()?;
                }
                name => {
                    let found = match &dir {
                        Some(dir) => look(dir, name)?,
                        None => Found::Nothing,
                    };
                    match found {
                        Found::Link => {
                            let link = dir.as_ref().expect("the link was found in it");
                            let to = readlinkat(link, name, Vec::new()).map_err(raced)?;
                            self.turn(to.to_str().map_err(|_| Errno::ILSEQ)?)?;
                            dir = self.reopen()?;
                        }
                        Found::Directory => {
                            self.done.push(name.to_owned());
                            dir = Some(self.work.open_dir(&self.done.join("/")).map_err(raced)?);
                        }
                        Found::Nothing => {
                            self.done.push(name.to_owned());
                            dir = None;
                        }
                    }
                }
            }
        }
        Ok(self.done.join("/"))
    }

    /// Goes on where a link points.
    fn turn(&mut self, to: &str) -> Result<(), Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        if to.starts_with('/') {
            let rest = spelling::beneath(roots(self.work), Path::new(to)).ok_or(Errno::XDEV)?;
            self.done.clear();
            self.left.extend(split(&rest));
        } else {
            self.left.extend(split(to));
        }
        Ok(())
    }

    /// The directory that was reached, `None` if it is not there.
    fn reopen(&self) -> Result<Option<cap_std::fs::Dir>, Errno> {
        match self.work.open_dir(&self.done.join("/")) {
            Ok(dir) => Ok(Some(dir)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(errno) => Err(raced(errno)),
        }
    }
}

enum Found {
    Link,
    Directory,
    /// Nothing, or nothing that has names in it.
    Nothing,
}

fn look(dir: &cap_std::fs::Dir, name: &str) -> Result<Found, Errno> {
    match statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => Found::Link,
            FileType::Directory => Found::Directory,
            _ => Found::Nothing,
        }),
        Err(Errno::NOENT) => Ok(Found::Nothing),
        Err(errno) => Err(errno),
    }
}

/// What was looked at is no longer there, or something else.
fn raced(errno: Errno) -> Errno {
    match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::INVAL => Errno::AGAIN,
        _ => errno,
    }
}
