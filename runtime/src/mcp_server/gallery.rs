//! The images that a client may ask for again.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use attache_blobstore::{BlobId, BlobStore, LocalStore, MemoryStore};
use attache_conversation::{
    BLOBS_NAME, ConversationError, ConversationErrorKind, ImageState, OpenOptions, RenderOptions, View,
};
use attache_media::{MediaType, normalise};
use rmcp::model::Resource;
use serde_json::{Value, json};

const SCHEME: &str = "attache://blobs/";

/// An image that can be read as a resource.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Listed {
    pub(super) id: BlobId,
    pub(super) media_type: MediaType,
    pub(super) bytes: u64,
}

impl Listed {
    pub(super) fn to_resource(&self) -> Resource {
        let name = self.id.to_string();
        let media_type = self.media_type.as_str();
        Resource::new(format!("{SCHEME}{name}"), &name[..12]).with_mime_type(media_type).with_size(self.bytes)
    }

    /// The image in record form.
    pub(super) fn block(&self) -> Value {
        let source = json!({"type": "file", "sha256": self.id.to_string(), "media_type": self.media_type.as_str(), "bytes": self.bytes});
        json!({"type": "image", "source": source})
    }

    /// From a block in record form.
    fn read(block: &Value) -> Option<Self> {
        let source = block.get("source")?;
        Self::of(source["sha256"].as_str()?, source["media_type"].as_str()?, source["bytes"].as_u64()?)
    }

    fn of(sha256: &str, media_type: &str, bytes: u64) -> Option<Self> {
        Some(Self { id: BlobId::parse(sha256)?, media_type: normalise(media_type)?, bytes })
    }
}

/// Where the images are, and which there are.
#[derive(Debug)]
pub(super) struct Gallery {
    store: Arc<dyn BlobStore>,
    from: From,
}

#[derive(Debug)]
enum From {
    /// Those that a conversation records.
    Conversation(PathBuf),
    /// Those that were read last.
    Memory { latest: Mutex<VecDeque<Listed>>, max_bytes: u64 },
}

impl Gallery {
    pub(super) fn of_conversation(dir: PathBuf) -> Self {
        let store = Arc::new(LocalStore::builder(dir.join(BLOBS_NAME)).build());
        Self { store, from: From::Conversation(dir) }
    }

    pub(super) fn in_memory(store: MemoryStore, max_bytes: u64) -> Self {
        Self { store: Arc::new(store), from: From::Memory { latest: Mutex::default(), max_bytes } }
    }

    pub(super) fn store(&self) -> Arc<dyn BlobStore> {
        Arc::clone(&self.store)
    }

    /// Remembers an image in memory, and forgets the oldest ones that no longer fit.
    pub(super) async fn remember(&self, block: &Value) {
        let From::Memory { latest, max_bytes } = &self.from else { return };
        let Some(listed) = Listed::read(block) else { return };
        for id in push(latest, listed, *max_bytes) {
            // One that is being read right now is held by its lease, and stays.
            let _ = self.store.remove_if_older(id, SystemTime::now()).await;
        }
    }

    /// The images, oldest first, each once.
    pub(super) async fn list(&self) -> Result<Vec<Listed>, ConversationError> {
        let dir = match &self.from {
            From::Conversation(dir) => dir,
            From::Memory { latest, .. } => return Ok(lock(latest).iter().cloned().collect()),
        };
        let view = match View::open(dir, OpenOptions::default()).await {
            Err(error) if error.kind() == ConversationErrorKind::NotFound => return Ok(Vec::new()),
            view => view?,
        };
        let mut seen = HashSet::new();
        // With none shown, no blob is read for the list.
        let images = view.images(RenderOptions::newest(0)).await;
        let open = images.iter().filter(|image| image.state != ImageState::Withheld);
        let listed = open.filter_map(|image| Listed::of(&image.sha256, &image.media_type, image.bytes));
        Ok(listed.filter(|listed| seen.insert(listed.id)).collect())
    }

    pub(super) async fn find(&self, uri: &str) -> Result<Option<Listed>, ConversationError> {
        let Some(id) = uri.strip_prefix(SCHEME).and_then(BlobId::parse) else { return Ok(None) };
        Ok(self.list().await?.into_iter().find(|listed| listed.id == id))
    }
}

/// Adds an image as the latest one; gives back those that are forgotten for it.
fn push(latest: &Mutex<VecDeque<Listed>>, listed: Listed, max_bytes: u64) -> Vec<BlobId> {
    let mut latest = lock(latest);
    latest.retain(|other| other.id != listed.id);
    latest.push_back(listed);
    let mut forgotten = Vec::new();
    let mut used: u64 = latest.iter().map(|listed| listed.bytes).sum();
    while used > max_bytes && latest.len() > 1 {
        let Some(oldest) = latest.pop_front() else { break };
        used -= oldest.bytes;
        forgotten.push(oldest.id);
    }
    forgotten
}

fn lock(latest: &Mutex<VecDeque<Listed>>) -> MutexGuard<'_, VecDeque<Listed>> {
    // Nothing in here panics between two changes that belong together.
    latest.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_images_are_forgotten_first() {
        let latest = Mutex::default();
        let image = |n: u8| Listed { id: BlobId::of(&[n]), media_type: MediaType::Png, bytes: 40 };
        assert_eq!(push(&latest, image(1), 100), []);
        assert_eq!(push(&latest, image(2), 100), []);
        assert_eq!(push(&latest, image(1), 100), []);
        assert_eq!(push(&latest, image(3), 100), [image(2).id]);
        assert_eq!(*lock(&latest), [image(1), image(3)]);
        let large = Listed { bytes: 1_000, ..image(4) };
        assert_eq!(push(&latest, large.clone(), 100), [image(1).id, image(3).id]);
        assert_eq!(*lock(&latest), [large]);
    }
}
