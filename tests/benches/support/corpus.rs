//! Conversations to measure on: what an agent's log looks like, of any length, the same on every run.

use std::path::Path;

use attache_blobstore::{BlobId, Durability};
use attache_conversation::{Conversation, OpenOptions, View, record_block};
use attache_media::{MediaType, fixtures};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// A conversation of messages of about 2 kB, some of which bear an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Corpus {
    pub(crate) messages: usize,
    /// How many images, one a message, spread evenly; the last message bears the last.
    pub(crate) images: usize,
    /// How many of the newest images have a blob. Older ones are never read: a made-up name does for them.
    pub(crate) stored: usize,
    /// Length of an image in bytes.
    pub(crate) image_len: usize,
}

/// Length of a message as JSON, nearly: what the words and the framing add up to differs by a few bytes.
const MESSAGE_LEN: usize = 2000;
/// How many messages are appended at once.
const BATCH: usize = 1000;

pub(crate) fn options() -> OpenOptions {
    OpenOptions::default().with_durability(Durability::Os)
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts")
}

pub(crate) fn view(runtime: &Runtime, dir: &Path) -> View {
    runtime.block_on(View::open(dir, options())).expect("the conversation opens")
}

impl Corpus {
    /// Writes the conversation into `dir`, through the library's own front door.
    pub(crate) fn write(&self, runtime: &Runtime, dir: &Path) {
        let mut conversation = runtime.block_on(Conversation::open(dir, options())).expect("a new conversation opens");
        let words = Words::new();
        let first_stored = self.images.saturating_sub(self.stored);
        let mut images = 0;
        let mut batch = Vec::with_capacity(BATCH);
        for at in 0..self.messages {
            let image = (self.images * (at + 1) / self.messages > images).then(|| {
                images += 1;
                if images > first_stored { self.store(runtime, &conversation, images) } else { made_up(images, self) }
            });
            batch.push(words.message(at, image).to_string());
            if batch.len() == BATCH || at + 1 == self.messages {
                let messages: Vec<_> = batch.iter().map(String::as_str).collect();
                runtime.block_on(conversation.append_all(&messages)).expect("the messages are appended");
                batch.clear();
            }
        }
    }

    fn store(&self, runtime: &Runtime, conversation: &Conversation, number: usize) -> Value {
        let image = fixtures::png_of_len(self.image_len, number as u64);
        let len = image.len() as u64;
        let stored = runtime.block_on(conversation.store().put(image.into())).expect("the image is stored");
        record_block(stored.id, MediaType::Png, len)
    }
}

fn made_up(number: usize, corpus: &Corpus) -> Value {
    record_block(BlobId::of(&number.to_le_bytes()), MediaType::Png, corpus.image_len as u64)
}

/// A text-only message, to append to a conversation.
pub(crate) fn one_more() -> String {
    Words::new().message(1, None).to_string()
}

/// What messages are cut from.
struct Words {
    prose: String,
    code: String,
    foreign: String,
}

const PROSE: &[&str] = &[
    "The layout",
    "shifts because",
    "the sidebar",
    "is measured",
    "before fonts",
    "have loaded;",
    "I will",
    "look at",
    "the second",
    "screenshot",
    "and compare",
    "it with",
    "what the",
    "test expects.\n\n",
    "It says \"ready\",",
    "then",
    "nothing happens",
    "for about",
    "four seconds.",
    "The first run",
    "was fine,",
    "so the cause",
    "must be",
    "something that",
    "changed since",
    "Tuesday,",
    "most likely",
    "the new",
    "stylesheet or",
    "the order",
    "in which",
    "both are fetched.",
    "Next I",
    "check the",
    "network panel.",
];
const CODE: &[&str] = &[
    "    let",
    "width =",
    "measure(&node)?;",
    "// TODO",
    "if",
    "self.cache.get(\"key\")",
    "{ return",
    "Ok(()) }\n",
    "\tprintln!(\"{width:>8}\");\n",
    "2026-03-04T05:06:07.123Z",
    "WARN",
    "layout::flex",
    "took=12.4ms\n",
    "C:\\Users\\dev\\app\n",
    "#[derive(Clone)]\n",
    "pub fn",
    "render(&mut self)",
    "-> Result<()>",
    "{\n",
    "src/layout/flex.rs:118:9:",
    "for child in",
    "node.children()",
    "total += child.margin;\n",
    "assert_eq!(total, 48);\n",
    "match axis",
    "Axis::Row =>",
    "0.0f32",
    "warning: unused",
    "self.state.borrow_mut()",
    "}\n",
    "node_id=4711",
];
const FOREIGN: &[&str] = &[
    "Die Übersicht",
    "verschiebt sich,",
    "weil",
    "die Schrift",
    "später lädt.",
    "レイアウトが",
    "ずれています。",
    "Боковая панель",
    "измеряется",
    "слишком рано.",
    "→",
    "✓",
    "🎉",
    "– und so",
    "weiter …\n",
];

impl Words {
    fn new() -> Self {
        let text = |words: &[&str], seed| {
            let mut noise = Noise(seed);
            let mut text = String::new();
            while text.len() < 1 << 18 {
                text.push_str(words[noise.below(words.len())]);
                text.push(' ');
            }
            text
        };
        Self { prose: text(PROSE, 1), code: text(CODE, 2), foreign: text(FOREIGN, 3) }
    }

    /// Message number `at`. An image makes it a tool's result; every eighth is not written in ASCII.
    fn message(&self, at: usize, image: Option<Value>) -> Value {
        let text = |words, len| excerpt(words, at, len);
        let words = if at % 8 == 7 { &self.foreign } else { &self.prose };
        let call = format!("call_{at}");
        match image {
            None if at.is_multiple_of(10) => json!({"role": "user", "content": text(words, MESSAGE_LEN - 100)}),
            None if !at.is_multiple_of(2) => json!({"role": "assistant", "content": [
                {"type": "text", "text": text(words, MESSAGE_LEN / 2)},
                {"type": "tool_use", "id": call, "name": "shell", "input": {"command": text(&self.code, MESSAGE_LEN / 2 - 250)}},
            ]}),
            image => {
                let words = if at % 8 == 6 { words } else { &self.code };
                let len = if image.is_some() { MESSAGE_LEN - 400 } else { MESSAGE_LEN - 250 };
                let text = json!({"type": "text", "text": text(words, len)});
                let content: Vec<_> = std::iter::once(text).chain(image).collect();
                json!({"role": "tool", "tool_call_id": call, "content": content})
            }
        }
    }
}

/// About `len` bytes from the words, for message number `at`.
fn excerpt(words: &str, at: usize, len: usize) -> &str {
    let begin = words.ceil_char_boundary(Noise(at as u64).below(words.len() / 2));
    &words[begin..words.floor_char_boundary(begin + len)]
}

/// Seeded noise (SplitMix64).
struct Noise(u64);

impl Noise {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % limit as u64) as usize
    }
}
