//! The conversation through its public face, on a real directory.
#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod asides;
mod images;
mod log;
mod render;

use attache_blobstore::{BlobId, Durability};
use attache_conversation::{Conversation, OpenOptions, View};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A context directory, and a runtime to work on it.
struct Fixture {
    dir: TempDir,
    runtime: tokio::runtime::Runtime,
}

impl Fixture {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
        Self { dir: tempfile::tempdir().unwrap(), runtime }
    }

    fn run<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Opens the writer; what a power cut takes is another suite's business.
    fn open(&self) -> Conversation {
        self.run(Conversation::open(self.dir.path(), options())).unwrap()
    }

    fn view(&self) -> View {
        self.run(View::open(self.dir.path(), options())).unwrap()
    }

    fn log(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("conversation.jsonl")).unwrap()
    }

    fn write_log(&self, bytes: &[u8]) {
        std::fs::write(self.dir.path().join("conversation.jsonl"), bytes).unwrap();
    }

    fn blob(&self, id: BlobId) -> std::path::PathBuf {
        self.dir.path().join("blobs").join(id.to_string())
    }
}

fn options() -> OpenOptions {
    OpenOptions::default().with_durability(Durability::Os)
}

fn inline(bytes: &[u8]) -> Value {
    let data = base64_simd::STANDARD.encode_to_string(bytes);
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}
