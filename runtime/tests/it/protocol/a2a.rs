//! Parts of agents' messages, of both versions.

use attache_media::fixtures;
use attache_runtime::{MemoryStore, Settings, a2a};
use serde_json::{Value, json};

use crate::protocol::{base64, data_url, encode, noise, outline};
use crate::support::{limits, outcomes};

async fn check(part: Value, expected: &[&str]) {
    let taken = a2a::take_part(&part, &MemoryStore::new(), &Settings::default()).await;
    assert_eq!(outline(&taken), expected, "{part}");
    assert!(taken.notes().all(|note| !note.contains('\n')), "{part}");
}

/// A file as each version writes it, and as version 0.3 does in its other binding.
fn files(bytes: Option<&str>, url: Option<&str>, media_type: Option<&str>, name: Option<&str>) -> [Value; 3] {
    let some = |fields: &[(&str, Option<&str>)]| -> Value {
        let fields = fields.iter().filter_map(|(key, value)| Some(((*key).to_owned(), json!((*value)?))));
        Value::Object(fields.collect())
    };
    [
        json!({"kind": "file", "file": some(&[("bytes", bytes), ("uri", url), ("mimeType", media_type), ("name", name)])}),
        json!({"file": some(&[("fileWithBytes", bytes), ("fileWithUri", url), ("mimeType", media_type), ("name", name)])}),
        some(&[("raw", bytes), ("url", url), ("mediaType", media_type), ("filename", name)]),
    ]
}

#[tokio::test]
async fn files_with_bytes() {
    for (data, media_type, expected) in [
        (base64(1), Some("image/png"), vec!["<png 1>"]),
        (base64(1), None, vec!["<png 1>"]),
        (base64(1), Some(""), vec!["<png 1>"]),
        (base64(1), Some("image/jpeg"), vec!["<png 1>"]),
        (base64(1), Some("application/octet-stream"), vec!["<png 1>"]),
        (data_url(1), Some("image/png"), vec!["<png 1>"]),
        (encode(fixtures::jpeg()).trim_end_matches('=').to_owned(), Some("image/JPG; q=1"), vec!["<jpeg>"]),
        ("%%%".to_owned(), Some("image/png"), vec!["!malformed"]),
        (String::new(), Some("image/png"), vec!["!content_mismatch"]),
        (encode(b"%PDF-1.7\0\xff"), Some("application/pdf"), vec!["!content_mismatch"]),
        (encode(b"RIFF\0\0\0\0WAVEfmt "), Some("audio/wav"), vec!["!content_mismatch"]),
        (encode("a,b\n1,2\n"), Some("text/csv"), vec!["~[resource: a\\u{a}b, text/csv, 8 bytes]", "a,b\n1,2\n"]),
        (encode("<html>"), Some("image/png"), vec!["!content_mismatch", "<html>"]),
    ] {
        for part in files(Some(&data), None, media_type, Some("a\nb")) {
            check(part, &expected).await;
        }
    }
}

#[tokio::test]
async fn links_are_refused_by_name_and_not_fetched() {
    for part in files(None, Some("https://example.org/x.png"), Some("image/png"), Some("x.png")) {
        let taken = a2a::take_part(&part, &MemoryStore::new(), &Settings::default()).await;
        let notes: Vec<_> = taken.notes().map(|note| note.as_str()).collect();
        let note = "attachment 'x.png' was not attached: it is a link (\"https://example.org/x.png\"), \
                    and links are not fetched (malformed)";
        assert_eq!(notes, [note], "{part}");
        assert_eq!(outcomes(&taken.trace), ["malformed"]);
    }
    for url in ["file:///etc/passwd", "s3://bucket/key", "//host/x", ""] {
        for part in files(None, Some(url), None, None) {
            check(part, &["!malformed"]).await;
        }
    }
    // There is nothing to fetch in a data URL.
    for part in files(None, Some(&data_url(1)), None, None) {
        check(part, &["<png 1>"]).await;
    }
}

#[tokio::test]
async fn text_and_data() {
    let icon = format!("icon: {}", data_url(1));
    let line = format!("[image attached: part 1/shots/0, image/png, {} bytes]", crate::support::png(1).len());
    for (part, expected) in [
        (json!({"kind": "text", "text": "words"}), vec!["words"]),
        (json!({"text": "words", "metadata": {"a": 1}}), vec!["words"]),
        (json!({"text": icon}), vec![icon.as_str()]),
        (json!({"kind": "text", "text": " "}), vec![]),
        (json!({"kind": "data", "data": {"a": 1}}), vec![r#"{"a":1}"#]),
        (json!({"data": [1, "two"]}), vec![r#"[1,"two"]"#]),
        (json!({"data": {"shots": [data_url(1)]}}), vec![&json!({"shots": [line]}).to_string(), "<png 1>"]),
        (
            json!({"kind": "data", "data": {"x": noise(4000)}}),
            vec![
                r#"{"x":"[4000 characters of base64 left out]"}"#,
                "~[left out: 4000 characters of base64 in part 1 that are no image]",
            ],
        ),
        (json!({"kind": "unheard of", "x": 1}), vec![r#"{"kind":"unheard of","x":1}"#]),
        (json!({"type": "image", "data": base64(1), "mimeType": "image/png", "uri": "x"}), vec!["<png 1>"]),
        (json!({"text": "words", "raw": base64(1)}), vec!["words", "<png 1>"]),
        (json!({"text": "words", "thumbnail": data_url(1)}), vec!["words", "<png 1>"]),
        (json!("words"), vec!["words"]),
        (json!(null), vec![]),
    ] {
        let expected: Vec<&str> = expected.into_iter().collect();
        check(part, &expected).await;
    }
}

#[tokio::test]
async fn names_count_the_parts() {
    let parts = [json!({"text": "a"}), json!({"raw": "%"}), json!({"raw": base64(1), "filename": "b.png"})];
    let settings = limits(10, 5);
    let taken = a2a::take_parts(&parts, &MemoryStore::new(), &settings).await;
    let notes: Vec<_> = taken.notes().map(|note| note.as_str()).collect();
    assert!(notes[0].starts_with("attachment 'part 2' ") && notes[1].starts_with("attachment 'b.png' "), "{notes:?}");
    assert_eq!(outcomes(&taken.trace), ["malformed", "too_large"]);
}

#[tokio::test]
async fn there_and_back_again() {
    let store = MemoryStore::new();
    let parts = [
        json!({"text": "words"}),
        json!({"raw": base64(1)}),
        json!({"raw": encode(fixtures::webp())}),
        json!({"raw": "%"}),
    ];
    let taken = a2a::take_parts(&parts, &store, &Settings::default()).await;
    let blocks = taken.blocks();
    for version in [a2a::Version::V0_3, a2a::Version::V1_0] {
        let parts = a2a::to_parts(&blocks, version, &store).await;
        let again = a2a::take_parts(&parts, &store, &Settings::default()).await;
        assert_eq!(again.blocks(), blocks);
    }
    let parts = a2a::to_parts(&blocks[..2], a2a::Version::V1_0, &store).await;
    let image = json!({"raw": base64(1), "mediaType": "image/png", "filename": "image.png"});
    assert_eq!(parts, [json!({"text": "words"}), image]);
    let parts = a2a::to_parts(&blocks[..2], a2a::Version::V0_3, &store).await;
    let image = json!({"kind": "file", "file": {"bytes": base64(1), "mimeType": "image/png", "name": "image.png"}});
    assert_eq!(parts, [json!({"kind": "text", "text": "words"}), image]);
}

#[tokio::test]
async fn every_form_of_block_has_a_way_out() {
    let (store, jpeg) = (MemoryStore::new(), encode(fixtures::jpeg()));
    let spelled = format!("data:image/png;base64,{}", jpeg.trim_end_matches('=').replace('+', "-").replace('/', "_\n"));
    let sha = "ab".repeat(32);
    let blocks = [
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": spelled}}),
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}),
        json!({"type": "image", "source": {"type": "file", "file_id": "f1"}}),
        json!({"type": "image", "source": {"type": "file", "sha256": sha, "media_type": "image/png", "bytes": 7}}),
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "%%%"}}),
        json!({"type": "tool_result", "content": [{"type": "text", "text": "inner"}, {"type": "text", "text": ""}]}),
        json!({"type": "tool_result", "content": "plain"}),
        json!({"type": "thinking\n", "thinking": "hm"}),
    ];
    let parts = a2a::to_parts(&blocks, a2a::Version::V1_0, &store).await;
    let unavailable = format!("[image unavailable: image/png, 7 bytes, sha256 {sha}]");
    let expected = [
        json!({"raw": jpeg, "mediaType": "image/jpeg", "filename": "image.jpg"}),
        json!({"url": "https://example.org/a.png"}),
        json!({"text": "[image left out: only the service that keeps it can show it]"}),
        json!({"text": unavailable}),
        json!({"text": "[image left out: its data is none]"}),
        json!({"text": "inner"}),
        json!({"text": "plain"}),
        json!({"text": "[left out: a block of the type \"thinking\\u{a}\"]"}),
    ];
    assert_eq!(parts, expected);
    let parts = a2a::to_parts(&blocks[1..2], a2a::Version::V0_3, &store).await;
    assert_eq!(parts, [json!({"kind": "file", "file": {"uri": "https://example.org/a.png"}})]);
}
