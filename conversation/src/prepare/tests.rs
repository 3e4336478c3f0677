use attache_blobstore::{BlobId, MemoryStore};
use attache_media::{MediaType, fixtures};
use serde_json::{Value, json};

use super::*;

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn prepared(json: &str, store: &MemoryStore) -> Prepared {
    run(prepare(json, Intake::default(), store)).unwrap()
}

fn inline(media_type: &str, bytes: &[u8]) -> Value {
    let data = base64_simd::STANDARD.encode_to_string(bytes);
    json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
}

#[test]
fn a_message_without_images_is_kept_byte_for_byte() {
    let store = MemoryStore::new();
    for json in [
        r#"{"role":"user","content":"hi","n":1.0e2,"big":123456789012345678901234567890,"z":1,"a":2}"#,
        r#"{ "content" : [ {"type":"text","text":"x"} ] , "role":"user" }"#,
        r#"{"role":"user","content":"data:image/png;base64,iVBORw0KGgo="}"#,
        r#"{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}]}"#,
        r#"{"role":"assistant","content":""}"#,
        r#"{"role":"user","content":"x","other":1,"other":2}"#,
        r#"{"role":"user","content":"a\ud83d","n":1e400,"\ude00":-0}"#,
    ] {
        let prepared = prepared(json, &store);
        assert_eq!((prepared.line.as_str(), prepared.lifted, prepared.notes.len()), (json, 0, 0));
    }
    let pretty = "{\n  \"role\": \"user\",\r\n  \"content\": \"a\\nb\"\n}\n";
    assert_eq!(prepared(pretty, &store).line, r#"{   "role": "user",    "content": "a\nb" }"#);
}

#[test]
fn inline_images_are_lifted_wherever_they_stand_and_labelled_by_their_bytes() {
    let store = MemoryStore::new();
    let (png, gif) = (fixtures::of(MediaType::Png), fixtures::of(MediaType::Gif));
    let message = json!({"role": "user", "z": 1, "content": [
        {"type": "text", "text": "look"},
        inline("image/jpeg", &png),
        {"type": "tool_result", "tool_use_id": "t", "content": [inline("", &gif)]},
        {"type": "text", "text": "end"},
    ], "a": 1});
    let prepared = prepared(&message.to_string(), &store);
    let expected = json!({"role": "user", "z": 1, "content": [
        {"type": "text", "text": "look"},
        record_block(BlobId::of(&png), MediaType::Png, png.len() as u64),
        {"type": "tool_result", "tool_use_id": "t", "content": [record_block(BlobId::of(&gif), MediaType::Gif, gif.len() as u64)]},
        {"type": "text", "text": "end"},
    ], "a": 1});
    assert_eq!(prepared.line, expected.to_string());
    assert_eq!((prepared.lifted, prepared.scan.blocks.len()), (2, 2));
    assert_eq!(run(store.get(BlobId::of(&png), None)).unwrap(), png);
}

#[test]
fn what_fails_becomes_a_note_in_its_place_and_is_counted() {
    let store = MemoryStore::new();
    let cases = [
        (json!({"type": "base64", "media_type": "image/png", "data": "%%%"}), "malformed"),
        (json!({"type": "base64", "media_type": "image/png", "data": ""}), "content_mismatch"),
        (json!({"type": "base64", "media_type": "image/png"}), "malformed"),
        (json!({"type": "base64", "media_type": "image/png", "data": 7}), "malformed"),
        (
            json!({"type": "base64", "media_type": "image/png", "data": "data:image/png;base64,iVBORw0KGgo="}),
            "malformed",
        ),
        (json!({"type": "base64", "media_type": "image/png", "data": "PGh0bWw+"}), "content_mismatch"),
        (json!({"type": "base64", "media_type": "image/png", "data": "A".repeat(6_000_000)}), "too_large"),
    ];
    for (source, code) in cases {
        let good = inline("image/png", &fixtures::of(MediaType::Png));
        let message = json!({"role": "user", "content": [good, {"type": "image", "source": source}]}).to_string();
        let prepared = prepared(&message, &store);
        let written: Value = serde_json::from_str(&prepared.line).unwrap();
        let note = written["content"][1]["text"].as_str().unwrap();
        assert!(note.starts_with("attachment 'inline image 2' was not attached: "), "{note}");
        assert!(note.ends_with(&format!(" ({code})")), "{note}");
        assert_eq!(prepared.notes, [note]);
        assert_eq!(prepared.lifted, 1);
    }
}

#[test]
fn data_spelled_with_json_escapes_is_read() {
    let store = MemoryStore::new();
    let png = fixtures::of(MediaType::Png);
    let data = base64_simd::STANDARD.encode_to_string(&png).replace('/', "\\/");
    let json =
        format!(r#"{{"role":"user","content":[{{"type":"image","source":{{"data":"{data}\n","type":"base64"}}}}]}}"#);
    assert_eq!(prepared(&json, &store).lifted, 1);
}

/// Text that was cut in the middle of a character, and numbers beyond every double, are nobody's reason to keep bytes
/// in the log.
#[test]
fn inline_images_beside_what_no_value_can_hold_are_lifted() {
    let store = MemoryStore::new();
    let png = fixtures::of(MediaType::Png);
    let source = inline("image/png", &png)["source"].to_string();
    let members = &source[1..];
    for (block, message) in [
        (format!(r#"{{"type":"image","alt":"\ud83d","source":{source}}}"#), ""),
        (format!(r#"{{"\ude00":1e400,"type":"image","source":{source}}}"#), ""),
        (format!(r#"{{"type":"image","source":{{"\ud83d":-1e999,{members}}}"#), ""),
        (format!(r#"{{"type":"image","source":{source}}}"#), r#""\ud83d":1e400,"#),
    ] {
        let prepared = prepared(&format!(r#"{{{message}"role":"user","content":[{block}]}}"#), &store);
        let record = record_block(BlobId::of(&png), MediaType::Png, png.len() as u64);
        assert_eq!(prepared.line, format!(r#"{{{message}"role":"user","content":[{record}]}}"#));
        assert_eq!(prepared.lifted, 1);
    }
}

#[test]
fn empty_texts_are_left_out_without_touching_the_rest() {
    let store = MemoryStore::new();
    let empty = r#"{"type":"text","text":"","cache_control":{"type":"ephemeral"}}"#;
    let text = r#"{"type":"text","text":"x"}"#;
    for (content, expected) in [
        (format!("[{empty},{text}]"), format!("[{text}]")),
        (format!("[ {text} , {empty} ]"), format!("[ {text}  ]")),
        (format!("[{empty} , {empty},{text} ,{empty}]"), format!("[{text} ]")),
        (format!("[{empty}]"), r#"[{"type":"text","text":"(empty message)"}]"#.to_owned()),
        (format!("[{empty},{empty}]"), r#"[{"type":"text","text":"(empty message)"}]"#.to_owned()),
        (
            format!(r#"[{empty},{{"type":"tool_result","content":[{text},{empty},{empty} ]}},{empty},{empty}]"#),
            format!(r#"[{{"type":"tool_result","content":[{text}]}}]"#),
        ),
        (
            format!(r#"[{{"type":"tool_result","content":[{empty}]}},{empty}]"#),
            r#"[{"type":"tool_result","content":[{"type":"text","text":"(empty message)"}]}]"#.to_owned(),
        ),
    ] {
        let prepared = prepared(&format!(r#"{{"role":"user","content":{content}}}"#), &store);
        let written: Value = serde_json::from_str(&prepared.line).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        assert_eq!(written["content"], expected, "{content}");
        assert!(!prepared.notes.is_empty());
    }
}

/// Each that is left out costs one step, not a look at the whole message.
#[test]
fn a_message_of_many_empty_texts() {
    let count = 20_000;
    let content = [r#"{"type":"text","text":""}"#].repeat(count).join(", ");
    let prepared = prepared(&format!(r#"{{"role":"user","content":[{content}]}}"#), &MemoryStore::new());
    assert_eq!(prepared.line, r#"{"role":"user","content":[{"type":"text","text":"(empty message)"}]}"#);
    assert_eq!(prepared.notes.len(), count);
}

#[test]
fn what_is_no_message_is_refused_with_the_reason() {
    let store = MemoryStore::new();
    for (json, word) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "role"),
        (r#"{"content":"x"}"#, "role"),
        (r#"{"role":1}"#, "role"),
        (r#"{"type":"attache.header","version":1}"#, "role"),
        ("{\"role\":\"user\",\"content\":\"a\nb\"}", "control character"),
        (r#"{"role":"user","role":"user"}"#, "\"role\" stands twice"),
        (r#"{"role":"user","content":[{"type":"image"}],"content":"x"}"#, "\"content\" stands twice"),
        (r#"{"role":"user","content":[{"type":"image","type":"text"}]}"#, "\"type\" stands twice"),
        (
            r#"{"role":"user","content":[{"type":"image","source":{"data":"x"},"source":null}]}"#,
            "\"source\" stands twice",
        ),
        (
            r#"{"role":"user","content":[{"type":"image","source":{"type":"base64","type":"url"}}]}"#,
            "\"type\" stands twice",
        ),
        (
            r#"{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"a","text":"b"}]}]}"#,
            "\"text\" stands twice",
        ),
        (&format!(r#"{{"role":"u","x":{}{}}}"#, "[".repeat(200), "]".repeat(200)), "120 levels"),
    ] {
        let error = run(prepare(json, Intake::default(), &store)).unwrap_err();
        assert!(error.to_string().contains(word), "{json}: {error}");
    }
}

#[test]
fn a_record_whose_blob_did_not_come_along_is_kept_and_noted() {
    let store = MemoryStore::new();
    let png = fixtures::of(MediaType::Png);
    let [here, absent] = [run(store.put(png.into())).unwrap().id, BlobId::of(b"absent")];
    let json = json!({"role": "user", "content": [
        record_block(here, MediaType::Png, 1), record_block(absent, MediaType::Png, 6),
    ]})
    .to_string();
    let prepared = prepared(&json, &store);
    assert_eq!(prepared.line, json);
    assert_eq!(prepared.notes, [format!("the message names the blob {absent}, which is not in the store")]);
}
