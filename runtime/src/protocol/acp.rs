//! The Agent Client Protocol: content blocks of prompts and updates, version 1.

use attache_blobstore::BlobStore;
use serde_json::Value;

use crate::protocol::content::block;
use crate::protocol::plan::Plan;
use crate::protocol::show::{Images, show, to_block};
use crate::protocol::taken::Taken;
use crate::settings::Settings;

/// What an agent takes in a prompt besides text and links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PromptCapabilities {
    /// Image blocks.
    pub image: bool,
}

impl PromptCapabilities {
    /// Sets [`image`](Self::image).
    #[must_use]
    pub fn with_image(mut self, image: bool) -> Self {
        self.image = image;
        self
    }

    /// Reads them from an agent's answer to `initialize`, or from its `agentCapabilities` or `promptCapabilities` alone.
    /// What is not there is not supported.
    ///
    /// ```
    /// use attache_runtime::acp::PromptCapabilities;
    /// use serde_json::json;
    ///
    /// let answer = json!({"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": {"image": true}}});
    /// assert!(PromptCapabilities::from_value(&answer).image);
    /// assert!(!PromptCapabilities::from_value(&json!({})).image);
    /// ```
    #[must_use]
    pub fn from_value(value: &Value) -> Self {
        let value = value.get("agentCapabilities").unwrap_or(value);
        let value = value.get("promptCapabilities").unwrap_or(value);
        Self { image: value.get("image").and_then(Value::as_bool).unwrap_or_default() }
    }
}

/// Takes the content blocks of a prompt or an update: text, images, audio (refused with a note), embedded resources,
/// links (told, not fetched), and whatever else is there, as [`mcp::take_result`](crate::mcp::take_result) does.
pub async fn take_blocks(blocks: &[Value], store: &dyn BlobStore, settings: &Settings) -> Taken {
    let mut plan = Plan::default();
    for (n, value) in blocks.iter().enumerate() {
        block(&mut plan, &format!("block {}", n + 1), value);
    }
    plan.settle(store, settings).await
}

/// Makes content blocks of ours into ACP's. Records are read from the store. Where the agent takes no images, a line
/// tells of each and none is read; updates to a client need no capability, so pass one with `image`.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use attache_runtime::{MemoryStore, Settings, acp};
/// use serde_json::json;
///
/// let (store, settings) = (MemoryStore::new(), Settings::default());
/// let block = json!({"type": "image", "data": "R0lGODlh", "mimeType": "image/gif"});
/// let taken = acp::take_blocks(&[block.clone()], &store, &settings).await;
///
/// let images = acp::PromptCapabilities::default().with_image(true);
/// assert_eq!(acp::to_blocks(&taken.blocks(), images, &store).await, [block]);
///
/// let line = acp::to_blocks(&taken.blocks(), acp::PromptCapabilities::default(), &store).await;
/// assert!(line[0]["text"].as_str().unwrap().starts_with("[image not sent: image/gif, 6 bytes, sha256 "));
/// # });
/// ```
pub async fn to_blocks(blocks: &[Value], capabilities: PromptCapabilities, store: &dyn BlobStore) -> Vec<Value> {
    let images = if capabilities.image { Images::Read(store) } else { Images::Tell };
    show(blocks, images).await.into_iter().map(to_block).collect()
}
