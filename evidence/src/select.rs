//! Which of the names in a folder are images to read, and why the others are not.

use std::collections::HashSet;

use attache_workdir_fs::{Entry, EntryKind};
use serde::{Deserialize, Serialize};

use crate::input::is_supported;
use crate::order::OrderKey;
use crate::sidecar::SIDECAR_SUFFIX;

/// Something in the folder that is not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Its name, with replacement characters where it is not UTF-8.
    pub name: String,
    /// `symlink`, `not a file`, `unsupported`, `orphan sidecar` or `name is not UTF-8`.
    pub reason: String,
}

/// What a folder's names come to, in natural order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) images: Vec<Selected>,
    pub(crate) skipped: Vec<Skipped>,
}

/// An image to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Selected {
    pub(crate) name: String,
    /// Whether something has the name of its sidecar.
    pub(crate) has_sidecar: bool,
    /// The size it claims, in bytes, for progress.
    pub(crate) bytes: u64,
}

pub(crate) fn select(entries: &[Entry]) -> Selection {
    let mut named: Vec<(String, bool, &Entry)> = entries
        .iter()
        .map(|entry| {
            let is_utf8 = entry.name.to_str().is_some();
            (entry.name.to_string_lossy().into_owned(), is_utf8, entry)
        })
        .collect();
    named.sort_by_cached_key(|(name, _, entry)| (OrderKey::of(name), &entry.name));

    let names: HashSet<&str> = named.iter().filter(|(_, is_utf8, _)| *is_utf8).map(|(name, ..)| &**name).collect();
    let images: HashSet<&str> = named
        .iter()
        .filter(|(_, is_utf8, entry)| *is_utf8 && reason(entry).is_none())
        .map(|(name, ..)| &**name)
        .collect();
    let mut selection = Selection::default();
    for (name, is_utf8, entry) in &named {
        let image_of_it = name.strip_suffix(SIDECAR_SUFFIX);
        let reason = match reason(entry) {
            _ if !is_utf8 => "name is not UTF-8",
            None => {
                let has_sidecar = names.contains(&*format!("{name}{SIDECAR_SUFFIX}"));
                selection.images.push(Selected { name: name.clone(), has_sidecar, bytes: entry.version.size() });
                continue;
            }
            Some(_) if image_of_it.is_some_and(|image| images.contains(image)) => continue,
            Some("unsupported") if image_of_it.is_some() => "orphan sidecar",
            Some(reason) => reason,
        };
        selection.skipped.push(Skipped { name: name.clone(), reason: reason.to_owned() });
    }
    selection
}

fn reason(entry: &Entry) -> Option<&'static str> {
    match entry.kind {
        EntryKind::Symlink => Some("symlink"),
        EntryKind::File if is_supported(&entry.name.to_string_lossy()) => None,
        EntryKind::File => Some("unsupported"),
        _ => Some("not a file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_reason() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [
            "b.png",
            "a10.PNG",
            "a2.jpeg",
            "note.txt",
            ".png",
            "x.png ",
            "b.png.capture.json",
            "B.png.capture.json",
            "gone.png.capture.json",
            "a2.jpeg.capture.json.capture.json",
        ] {
            std::fs::write(at(name), "").unwrap();
        }
        std::fs::write(folder.path().join(OsStr::from_bytes(b"caf\xe9.png")), "").unwrap();
        std::fs::create_dir(at("dir.png")).unwrap();
        std::fs::create_dir(at("a10.PNG.capture.json")).unwrap();
        symlink("b.png", at("link.png")).unwrap();
        symlink("nowhere", at("a2.jpeg.capture.json")).unwrap();
        symlink(".", at("loop")).unwrap();

        let entries = attache_workdir_fs::WorkDir::open(folder.path()).unwrap().entries().unwrap();
        let selection = select(&entries);
        let images: Vec<_> = selection.images.iter().map(|image| (&*image.name, image.has_sidecar)).collect();
        assert_eq!(images, [("a2.jpeg", true), ("a10.PNG", true), ("b.png", true)]);
        let mut skipped: Vec<_> = selection.skipped.iter().map(|skipped| (&*skipped.name, &*skipped.reason)).collect();
        skipped.sort_unstable();
        let mut expect = [
            ("note.txt", "unsupported"),
            (".png", "unsupported"),
            ("x.png ", "unsupported"),
            ("B.png.capture.json", "orphan sidecar"),
            ("gone.png.capture.json", "orphan sidecar"),
            ("a2.jpeg.capture.json.capture.json", "orphan sidecar"),
            ("caf\u{fffd}.png", "name is not UTF-8"),
            ("dir.png", "not a file"),
            ("link.png", "symlink"),
            ("loop", "symlink"),
        ];
        expect.sort_unstable();
        assert_eq!(skipped, expect);
    }
}
