//! A work folder, a store and settings for a test.

mod fake_store;
#[cfg(target_os = "linux")]
mod opens;

use std::path::{Path, PathBuf};

use attache_media::fixtures;
use attache_runtime::{
    Accepted, Attachment, BlobStore, Limits, MediaType, MemoryStore, Settings, TraceEntry, Turn, WorkDir,
};

pub(crate) use fake_store::FakeStore;
#[cfg(target_os = "linux")]
pub(crate) use opens::Opens;

/// A work folder in a private directory, so that there is an outside too.
pub(crate) struct Folder {
    home: tempfile::TempDir,
    pub(crate) work: WorkDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        let work = WorkDir::open(home.path().join("work")).unwrap();
        Self { home, work }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.home.path().join("work")
    }

    /// A place beside the work folder.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path().join(name), bytes).unwrap();
        self
    }

    /// One call in a turn of its own.
    pub(crate) async fn accept(&self, settings: &Settings, attachments: &[Attachment]) -> Accepted {
        self.accept_into(&MemoryStore::new(), settings, attachments).await
    }

    pub(crate) async fn accept_into(
        &self,
        store: &dyn BlobStore,
        settings: &Settings,
        attachments: &[Attachment],
    ) -> Accepted {
        Turn::new(settings).accept(&self.work, store, attachments).await
    }
}

/// A PNG unlike that of every other seed.
pub(crate) fn png(seed: u64) -> Vec<u8> {
    fixtures::png(8, 8, seed)
}

pub(crate) fn image(media_type: MediaType) -> Vec<u8> {
    fixtures::of(media_type)
}

pub(crate) fn limits(max_bytes: u64, max_per_turn: u64) -> Settings {
    Settings::default().with_limits(Limits::new(5, max_bytes, max_per_turn).unwrap())
}

/// The code of each refusal and the type of each image, in order.
pub(crate) fn outcomes(trace: &[TraceEntry]) -> Vec<&str> {
    trace
        .iter()
        .map(|entry| match entry {
            TraceEntry::Accepted { media_type, .. } => *media_type,
            TraceEntry::Refused { refused, .. } => *refused,
        })
        .collect()
}

pub(crate) fn texts(accepted: &Accepted) -> Vec<&str> {
    accepted.notes.iter().map(|note| note.as_str()).collect()
}

/// The names in a directory that may not exist.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
