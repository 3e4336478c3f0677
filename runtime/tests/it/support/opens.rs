//! Which files of a folder are opened, as the kernel sees it.

use std::mem::MaybeUninit;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init};
use rustix::io::Errno;

/// Watches one folder, without the folders in it.
pub(crate) struct Opens(OwnedFd);

impl Opens {
    pub(crate) fn of(folder: &Path) -> Self {
        let watch = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).unwrap();
        // The kernel merges an event with an equal one before it; closes keep two opens of one file apart.
        add_watch(&watch, folder, WatchFlags::OPEN | WatchFlags::CLOSE).unwrap();
        Self(watch)
    }

    /// The names opened since the last call, sorted. The kernel notes an open before it returns.
    pub(crate) fn take(&self) -> Vec<String> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.0, &mut buffer);
        let mut names = Vec::new();
        loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::OPEN) => {
                    names.extend(event.file_name().map(|name| name.to_str().unwrap().to_owned()));
                }
                Ok(_) => {}
                Err(Errno::WOULDBLOCK) => break,
                Err(error) => panic!("{error}"),
            }
        }
        names.sort();
        names
    }
}
