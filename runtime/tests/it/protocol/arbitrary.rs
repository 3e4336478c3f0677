//! Whatever JSON a peer sends: nothing breaks, no image is lost or doubled, and no base64 is left in text.

use std::collections::BTreeMap;

use attache_runtime::{MemoryStore, NoteKind, Part, Settings, Taken, a2a, acp, mcp};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::protocol::{base64, data_url, noise, outline};

/// Words of the protocols, so that arbitrary objects come close to real ones.
const KEYS: [&str; 26] = [
    "type",
    "text",
    "data",
    "mimeType",
    "resource",
    "uri",
    "blob",
    "content",
    "contents",
    "structuredContent",
    "isError",
    "result",
    "jsonrpc",
    "source",
    "image",
    "image_url",
    "url",
    "kind",
    "file",
    "bytes",
    "raw",
    "mediaType",
    "filename",
    "name",
    "metadata",
    "x/~y",
];

const WORDS: [&str; 10] =
    ["text", "image", "audio", "resource", "resource_link", "blob", "image/png", "text/plain", "file", "2.0"];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned),
        2 => "\\PC{0,12}",
        1 => "[\\n\\r\u{202e}'{}\\[\\]\"]{0,9}",
        1 => (1usize..5000).prop_map(noise),
        1 => (1usize..5000).prop_map(|chars| format!("data:image/png;base64,{}", noise(chars))),
        1 => (1usize..5000).prop_map(|chars| format!("see data:image/png;base64,{} there", noise(chars))),
    ]
}

/// A leaf that is no sound image.
fn leaf() -> BoxedStrategy<Value> {
    prop_oneof![3 => word().prop_map(Value::from), 1 => any::<i64>().prop_map(Value::from), 1 => Just(Value::Null)]
        .boxed()
}

fn tree(leaf: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let key = prop_oneof![9 => prop::sample::select(&KEYS[..]).prop_map(str::to_owned), 1 => word()];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
    .boxed()
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn every_way(value: &Value) -> [Taken; 4] {
    let (store, settings) = (MemoryStore::new(), Settings::default());
    let list = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
    [
        mcp::take_result(value, &store, &settings).await,
        mcp::take_content(&list, &store, &settings).await,
        acp::take_blocks(&list, &store, &settings).await,
        a2a::take_parts(&list, &store, &settings).await,
    ]
}

/// The longest run of base64 in a text that is not the data of a data URL in it.
fn longest_run(text: &str) -> usize {
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || "+/-_=".contains(c);
    let outside_urls: String = text
        .split(";base64,")
        .enumerate()
        .map(|(n, piece)| if n == 0 { piece } else { piece.trim_start_matches(is_symbol) })
        .collect();
    outside_urls.split(|c| !is_symbol(c)).map(str::len).max().unwrap_or_default()
}

fn check(taken: &Taken) {
    for part in &taken.parts {
        match part {
            Part::Text(text) => {
                assert!(!text.trim().is_empty());
                assert!(longest_run(text) <= 1024, "{text}");
            }
            Part::Note(note) => {
                assert!(!note.contains(['\n', '\r', '\u{202e}']) && longest_run(note) <= 1024, "{note}");
            }
            Part::Image(_) => {}
        }
    }
    if let Some(structured) = &taken.structured {
        // Keys are the peer's.
        let no_keys = structured.to_string();
        assert!(longest_run(&no_keys) <= 5000, "{no_keys}");
    }
    let is_refusal = |part: &&Part| matches!(part, Part::Note(note) if note.kind() == NoteKind::Refused);
    let refused = taken.parts.iter().filter(is_refusal).count();
    assert_eq!(taken.images().count() + refused, taken.trace.len());
}

/// Shapes in which an image is known for what it is; the last three only in structured content, where a string is no
/// text.
fn known_shapes(seed: u64) -> Vec<Value> {
    let (b64, url) = (base64(seed), data_url(seed));
    vec![
        json!({"type": "image", "data": b64, "mimeType": "image/png"}),
        json!({"type": "image", "data": url}),
        json!({"type": "resource", "resource": {"uri": "a", "blob": b64}}),
        json!({"type": "blob", "data": b64}),
        json!({"type": "image_url", "image_url": {"url": url}}),
        json!({"source": {"media_type": "image/png", "data": b64}}),
        json!({"deep": [[{"er": url}], 7]}),
        json!(b64),
        json!(url),
        json!([url]),
    ]
}

/// Puts a value at a place in a tree, chosen by a number.
fn plant(tree: Value, place: usize, value: Value) -> Value {
    match tree {
        Value::Array(mut values) if !values.is_empty() => {
            let at = place % values.len();
            let inner = values[at].take();
            values[at] = plant(inner, place / 7, value);
            Value::Array(values)
        }
        other => json!({"was": other, "x": value}),
    }
}

/// JSON in which no string is taken for an image or is cut, of keys that say nothing.
fn plain_tree() -> BoxedStrategy<Value> {
    let leaf = prop_oneof!["[a-z ]{0,9}".prop_map(Value::from), any::<i32>().prop_map(Value::from)].boxed();
    leaf.prop_recursive(4, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec(("[m-z]{1,3}", inner), 0..5).prop_map(|fields| Value::Object(Map::from_iter(fields))),
        ]
    })
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_json_breaks_nothing(value in tree(leaf())) {
        for taken in run(every_way(&value)) {
            check(&taken);
        }
    }

    #[test]
    fn arbitrary_content_breaks_nothing(content in tree(leaf()), structured in tree(leaf()), in_text in tree(leaf())) {
        let text = json!({"type": "text", "text": in_text.to_string()});
        let result = json!({"content": [text, content], "structuredContent": structured, "isError": in_text});
        for taken in run(every_way(&result)) {
            check(&taken);
        }
    }

    /// Sound images of distinct bytes, in shapes that are known, at arbitrary places among blocks and in structured
    /// content: each comes out once.
    #[test]
    fn every_image_comes_out_once(
        blocks in prop::collection::vec((0usize..7, plain_tree(), any::<usize>(), any::<bool>()), 0..6),
        structured in prop::option::of((6usize..10, plain_tree(), any::<usize>())),
    ) {
        let mut seeds = 0..;
        let mut shape = |which: usize| {
            let seed = seeds.next().unwrap();
            known_shapes(seed)[which].clone()
        };
        let content: Vec<_> = blocks
            .into_iter()
            .map(|(which, tree, place, planted)| {
                let shape = shape(which);
                if planted { plant(json!([tree, 1]), place, shape) } else { shape }
            })
            .collect();
        let structured = structured.map(|(which, tree, place)| plant(json!([tree, 1]), place, shape(which)));
        let sent = seeds.next().unwrap();
        let mut result = json!({"content": content});
        if let Some(structured) = structured {
            result["structuredContent"] = structured;
        }
        let taken = run(mcp::take_result(&result, &MemoryStore::new(), &Settings::default()));
        check(&taken);
        let mut shown: BTreeMap<String, usize> = BTreeMap::new();
        for part in outline(&taken).into_iter().filter(|part| part.starts_with('<')) {
            *shown.entry(part).or_default() += 1;
        }
        let expected: BTreeMap<_, _> = (0..sent).map(|seed| (format!("<png {seed}>"), 1)).collect();
        prop_assert_eq!(shown, expected, "{}", result);
        prop_assert_eq!(taken.trace.len() as u64, sent);
    }
}
