use attache_blobstore::{BlobStore, MemoryStore};
use attache_media::{MediaType, fixtures};
use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::record::{has_file_image, record_block};

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn stored(store: &MemoryStore, bytes: &[u8]) -> BlobId {
    run(store.put(Bytes::copy_from_slice(bytes))).unwrap().id
}

/// A store with `count` different pictures, and a message of each.
fn pictures(store: &MemoryStore, count: u64) -> Vec<(Vec<u8>, Value)> {
    (0..count)
        .map(|seed| {
            let png = fixtures::png(2, 2, seed);
            let record = record_block(stored(store, &png), MediaType::Png, png.len() as u64);
            (png, json!({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "t"}, record]}))
        })
        .collect()
}

#[test]
fn the_oldest_of_three_is_aged_at_keep_two_and_the_others_hash_back() {
    let store = MemoryStore::new();
    let pictures = pictures(&store, 3);
    let messages: Vec<Value> = pictures.iter().map(|(_, message)| message.clone()).collect();
    let before = messages.clone();
    let rendered = run(render(&messages, 2, &store));
    assert_eq!(messages, before);
    let aged = rendered[0]["content"][1]["text"].as_str().unwrap();
    let id = BlobId::of(&pictures[0].0);
    assert!(aged.starts_with(&format!("[image not shown: image/png, {} bytes, sha256 {id}; ", pictures[0].0.len())));
    for at in [1, 2] {
        let source = &rendered[at]["content"][1]["source"];
        assert_eq!((&source["type"], &source["media_type"]), (&json!("base64"), &json!("image/png")));
        let data = base64_simd::STANDARD.decode_to_vec(source["data"].as_str().unwrap()).unwrap();
        assert_eq!(BlobId::of(&data), BlobId::of(&pictures[at].0));
    }
}

#[test]
fn four_kinds_of_bad_record_become_unavailable_lines_and_a_url_stays() {
    let store = MemoryStore::new();
    let png = fixtures::png(2, 2, 1);
    let id = stored(&store, &png);
    let of = |sha256: &str, media_type: &str, bytes: usize| json!({"type": "image", "source": {"type": "file", "sha256": sha256, "media_type": media_type, "bytes": bytes}});
    let url = json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}});
    let provider_file = json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}});
    let blocks = vec![
        of(&BlobId::of(b"absent").to_string(), "image/png", 6),
        of(&id.to_string(), "image/png", png.len() + 1),
        of(&id.to_string(), "image/jpeg", png.len()),
        of("../../etc/passwd", "image/png", 1),
        json!({"type": "image", "source": {"type": "file", "sha256": id.to_string(), "bytes": "many"}}),
        url.clone(),
        provider_file.clone(),
    ];
    let messages = [json!({"role": "user", "content": blocks})];
    let rendered = run(render(&messages, 10, &store));
    let content = rendered[0]["content"].as_array().unwrap();
    for block in &content[..5] {
        assert!(block["text"].as_str().unwrap().starts_with("[image unavailable: "), "{block}");
    }
    assert_eq!(content[3]["text"], "[image unavailable: image/png, 1 bytes, sha256 ../../etc/passwd]");
    assert_eq!(content[5..], [url, provider_file]);
    assert_eq!(run(render_unavailable(&messages, 10))[0]["content"].as_array().unwrap()[5..], content[5..]);
}

#[test]
fn an_unavailable_and_a_withheld_image_hold_their_slot() {
    let store = MemoryStore::new();
    let mut messages: Vec<Value> = pictures(&store, 2).into_iter().map(|(_, message)| message).collect();
    messages.push(json!({"role": "user", "content": [record_block(BlobId::of(b"absent"), MediaType::Png, 6)]}));
    let kinds = |rendered: &[Cow<'_, Value>]| -> Vec<String> {
        let all = rendered.iter().flat_map(|message| blocks(message));
        let images = all.filter(|block| block["text"] != "t");
        images.map(|block| block["text"].as_str().map_or("shown".to_owned(), |text| text[..12].to_owned())).collect()
    };
    assert_eq!(kinds(&run(render(&messages, 2, &store))), ["[image not s", "shown", "[image unava"]);
    let second = crate::record::referenced_blobs(&messages[1])[0].clone();
    let withheld = Withheld::from([(BlobId::parse(&second).unwrap(), "it's\nbad".to_owned())]);
    let rendered = run(render_with(&messages, RenderOptions::newest(2), &withheld, &store));
    assert_eq!(kinds(&rendered), ["[image not s", "[image withh", "[image unava"]);
    let line = rendered[1]["content"][1]["text"].as_str().unwrap();
    assert!(line.ends_with("; it\\u{27}s\\u{a}bad]"), "{line}");
}

fn arbitrary_messages() -> impl Strategy<Value = Vec<(bool, Vec<Option<u64>>)>> {
    // Per message: is it an assistant's; per block: a text, or which picture (9 is not in the store).
    prop::collection::vec((any::<bool>(), prop::collection::vec(prop::option::of(0u64..10), 0..5)), 0..12)
}

proptest! {
    #[test]
    fn a_render_keeps_length_and_order_counts_right_and_repeats_itself(
        plan in arbitrary_messages(), keep in 0usize..8, nested: bool,
    ) {
        let store = MemoryStore::new();
        let png = |seed: u64| fixtures::png(1, 1, seed);
        for seed in 0..9 {
            stored(&store, &png(seed));
        }
        let messages: Vec<Value> = plan.iter().map(|(assistant, items)| {
            let items: Vec<Value> = items.iter().map(|item| match item {
                None => json!({"type": "text", "text": "t"}),
                Some(seed) => record_block(BlobId::of(&png(*seed)), MediaType::Png, png(*seed).len() as u64),
            }).collect();
            let content = if nested { json!([{"type": "tool_result", "content": items}]) } else { json!(items) };
            json!({"role": if *assistant { "assistant" } else { "user" }, "content": content})
        }).collect();
        let rendered = run(render(&messages, keep, &store));
        prop_assert_eq!(rendered.len(), messages.len());
        let count = plan.iter().flat_map(|(_, items)| items).flatten().count();
        let mut seen = 0;
        for (message, was) in rendered.iter().zip(&messages) {
            let (now, was): (Vec<_>, Vec<_>) = (blocks(message).collect(), blocks(was).collect());
            prop_assert_eq!(now.len(), was.len());
            for (now, was) in now.iter().zip(was) {
                if file_block(was).is_none() {
                    prop_assert!(nested || *now == was);
                    continue;
                }
                let is_shown = now["source"]["type"] == "base64";
                let absent = crate::record::referenced_blobs(&json!({"content": [was]}))[0] == BlobId::of(&png(9)).to_string();
                prop_assert_eq!(is_shown, seen + keep >= count && !absent);
                seen += 1;
            }
        }
        prop_assert_eq!(seen, count);
        prop_assert!(!rendered.iter().any(|message| has_file_image(std::slice::from_ref(message))));
        let again = run(render(&messages, keep, &store));
        prop_assert_eq!(rendered, again);
    }
}
