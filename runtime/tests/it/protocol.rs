//! What other protocols call content.

mod a2a;
mod acp;
mod arbitrary;
mod judges;
mod mcp;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use attache_media::fixtures;
use attache_runtime::{BlobId, NoteKind, Part, Taken};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::Value;

use crate::support::png;

/// A PNG unlike that of every other seed, as base64.
pub(crate) fn base64(seed: u64) -> String {
    BASE64_STANDARD.encode(png(seed))
}

pub(crate) fn data_url(seed: u64) -> String {
    format!("data:image/png;base64,{}", base64(seed))
}

pub(crate) fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Noise of no known format, as base64.
pub(crate) fn noise(chars: usize) -> String {
    let bytes: Vec<u8> = (0..chars as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    let mut text = encode(bytes);
    text.truncate(chars / 4 * 4);
    text
}

/// The images that tests send, by the name of their blob.
static NAMES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let small = [("jpeg", fixtures::jpeg()), ("gif", fixtures::gif()), ("webp", fixtures::webp())];
    let pngs = (0..200).map(|seed| (format!("png {seed}"), png(seed)));
    let images = small.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).chain(pngs);
    images.map(|(name, bytes)| (BlobId::of(&bytes).to_string(), name)).collect()
});

/// What was taken, in order: text as it is, `<png 1>`, `!code` for a refusal and `~` before other notes.
pub(crate) fn outline(taken: &Taken) -> Vec<String> {
    let outline = |part: &Part| match part {
        Part::Text(text) => text.clone(),
        Part::Image(block) => image_name(block),
        Part::Note(note) if note.kind() == NoteKind::Refused => {
            let code = note.rsplit_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap();
            format!("!{code}")
        }
        Part::Note(note) => format!("~{note}"),
    };
    taken.parts.iter().map(outline).collect()
}

fn image_name(block: &Value) -> String {
    let source = block["source"].as_object().unwrap();
    let keys: Vec<_> = source.keys().map(String::as_str).collect();
    assert_eq!(keys, ["type", "sha256", "media_type", "bytes"]);
    let name = NAMES.get(source["sha256"].as_str().unwrap()).map_or("unknown", String::as_str);
    let media_type = source["media_type"].as_str().unwrap();
    assert_eq!(media_type.trim_start_matches("image/"), name.split(' ').next().unwrap());
    format!("<{name}>")
}
