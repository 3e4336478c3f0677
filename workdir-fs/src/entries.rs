//! What lies directly in the folder.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;

use rustix::fs::{AtFlags, Dir as Listing, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::{FileVersion, WorkDir};

/// One name in a folder, judged without following a link. It comes from [`WorkDir::entries`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// The name, which need not be UTF-8.
    pub name: OsString,
    /// What has that name.
    pub kind: EntryKind,
    /// Which state of it was seen.
    pub version: FileVersion,
}

/// What an [`Entry`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, whatever it points to.
    Symlink,
    /// A FIFO, a socket, a device, or whatever else there is.
    Other,
}

impl WorkDir {
    /// What lies directly in the folder, sorted by the bytes of the names. A name that goes away in between is left out.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let dir = self.open_dir("")?;
        // A place to look things up in need not be readable, so the directory is opened once more, by itself.
        let listing = openat(&dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut entries = Vec::new();
        for entry in Listing::new(listing)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let stat = match statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                stat => stat?,
            };
            let kind = match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => EntryKind::File,
                FileType::Directory => EntryKind::Directory,
                FileType::Symlink => EntryKind::Symlink,
                _ => EntryKind::Other,
            };
            let name = OsString::from_vec(name.to_bytes().to_vec());
            entries.push(Entry { name, kind, version: FileVersion::of_stat(&stat) });
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_and_none_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "x").unwrap();
        std::fs::create_dir(at("dir")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", at("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
        std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        std::fs::write(folder.path().join(OsString::from_vec(b"caf\xe9".to_vec())), "").unwrap();

        let entries = WorkDir::open(folder.path()).unwrap().entries().unwrap();
        let found: Vec<_> = entries.iter().map(|entry| (entry.name.as_encoded_bytes(), entry.kind)).collect();
        let expect: [(&[u8], EntryKind); 6] = [
            (b"caf\xe9", EntryKind::File),
            (b"dangling", EntryKind::Symlink),
            (b"dir", EntryKind::Directory),
            (b"file", EntryKind::File),
            (b"link", EntryKind::Symlink),
            (b"socket", EntryKind::Other),
        ];
        assert_eq!(found, expect);
        assert_eq!(entries[3].version.size(), 1);
    }

    #[test]
    fn an_adopted_folder_is_the_one_that_was_opened() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("folder");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("file"), "x").unwrap();
        let opened = std::fs::File::open(&path).unwrap();
        std::fs::rename(&path, place.path().join("elsewhere")).unwrap();
        std::fs::create_dir(&path).unwrap();

        let work = WorkDir::adopt(opened, &path).unwrap();
        assert_eq!(work.entries().unwrap().len(), 1);
        assert_eq!(work.path(), path);
        let file = std::fs::File::open(place.path().join("elsewhere/file")).unwrap();
        assert!(WorkDir::adopt(file, &path).is_err(), "a file is no folder");
    }
}
