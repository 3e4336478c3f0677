//! Results of other servers' tools.

use attache_media::fixtures;
use attache_runtime::{
    Conversation, Limits, MemoryStore, OpenOptions, RenderOptions, Settings, Taken, TraceEntry, mcp,
};
use serde_json::{Value, json};

use crate::protocol::{base64, data_url, encode, noise, outline};
use crate::support::{limits, outcomes};

async fn take(result: &Value) -> Taken {
    mcp::take_result(result, &MemoryStore::new(), &Settings::default()).await
}

async fn check(result: Value, expected: &[&str]) {
    let taken = take(&result).await;
    assert_eq!(outline(&taken), expected, "{result}");
    // One line each, whatever the peer wrote.
    assert!(taken.notes().all(|note| !note.contains('\n') && !note.contains('\r')), "{result}");
}

fn result(block: Value) -> Value {
    json!({"content": [block]})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image(seed: u64) -> Value {
    json!({"type": "image", "data": base64(seed), "mimeType": "image/png"})
}

#[tokio::test]
async fn image_blocks() {
    let png = base64(1);
    for (block, expected) in [
        (image(1), "<png 1>"),
        (json!({"type": "image", "data": png, "mimeType": "image/jpeg"}), "<png 1>"),
        (json!({"type": "image", "data": data_url(1), "mimeType": "image/png"}), "<png 1>"),
        (json!({"type": "image", "data": format!("image/png;base64,{png}"), "mimeType": "image/png"}), "<png 1>"),
        (json!({"type": "image", "data": encode(fixtures::webp()), "mimeType": "image/png"}), "<webp>"),
        (json!({"type": "image", "data": encode(fixtures::gif()), "annotations": {"priority": 7}}), "<gif>"),
        (json!({"type": "audio", "data": png, "mimeType": "audio/wav"}), "<png 1>"),
        (json!({"type": "image", "data": "", "mimeType": "image/png"}), "!content_mismatch"),
        (json!({"type": "image", "data": "%%%", "mimeType": "image/png"}), "!malformed"),
        (json!({"type": "image", "data": encode(&png), "mimeType": "image/png"}), "!content_mismatch"),
        (json!({"type": "image", "data": "https://example.org/a.png", "mimeType": "image/png"}), "!malformed"),
        (
            json!({"type": "audio", "data": encode(b"RIFF\0\0\0\0WAVE"), "mimeType": "audio/wav"}),
            "!media_type_not_allowed",
        ),
    ] {
        let taken = take(&result(block.clone())).await;
        assert_eq!(outline(&taken)[0], expected, "{block}");
        assert_eq!(taken.trace.len(), 1, "{block}");
    }
}

/// Labels that other programs were seen to send, each with real PNG bytes.
#[tokio::test]
async fn labels_are_hints() {
    let labels = [
        "image/jpg",
        "IMAGE/PNG",
        "Image/Jpeg",
        "image/JPEG",
        "image/png; charset=binary",
        " image/png ",
        "png",
        "image",
        "image/*",
        "image/x-png",
        "image/pjpeg",
        "application/octet-stream",
        "",
        "image/svg+xml",
        "image/x-icon",
        "text/plain",
    ];
    let labels = labels.map(Value::from).into_iter().chain([Value::Null, json!(7)]);
    for label in labels {
        check(result(json!({"type": "image", "data": base64(1), "mimeType": label})), &["<png 1>"]).await;
        let resource = json!({"uri": "file:///a", "mimeType": label, "blob": base64(2)});
        check(result(json!({"type": "resource", "resource": resource})), &["<png 2>"]).await;
    }
}

#[tokio::test]
async fn what_was_sent_as_an_image_and_is_text_is_handed_back_with_a_note() {
    let html = "<!doctype html><title>Not found</title>";
    let block = json!({"type": "image", "data": encode(html), "mimeType": "image/jpeg"});
    check(result(block), &["!content_mismatch", html]).await;
    let inner = json!({"success": true, "data": noise(4000)}).to_string();
    let block = json!({"type": "image", "data": encode(&inner), "mimeType": "image/png"});
    let cut = r#"{"success":true,"data":"[4000 characters of base64 left out]"}"#;
    let note = "~[left out: 4000 characters of base64 in image 1 that are no image]";
    check(result(block), &["!content_mismatch", cut, note]).await;
}

#[tokio::test]
async fn resources() {
    for (resource, expected) in [
        (json!({"uri": "file:///a.png", "blob": base64(1)}), vec!["<png 1>"]),
        (
            json!({"uri": "file:///a.png", "text": "x", "mimeType": "text/plain"}),
            vec!["~[resource: file:///a.png, text/plain]", "x"],
        ),
        (json!({"uri": "file:///a", "blob": encode("words")}), vec!["~[resource: file:///a, 5 bytes]", "words"]),
        (
            json!({"uri": "file:///a", "blob": encode("words"), "mimeType": "text/x"}),
            vec!["~[resource: file:///a, text/x, 5 bytes]", "words"],
        ),
        (
            json!({"uri": "file:///a.pdf", "blob": encode(b"%PDF-1.7\0"), "mimeType": "application/pdf"}),
            vec!["!content_mismatch"],
        ),
        (json!({"uri": "file:///a", "blob": encode([0, 159, 146, 150])}), vec!["!content_mismatch"]),
        (
            json!({"uri": "file:///a.svg", "blob": encode("<svg/>"), "mimeType": "image/svg+xml"}),
            vec!["!content_mismatch", "<svg/>"],
        ),
        (
            json!({"uri": "file:///a.svg", "text": "<svg/>", "mimeType": "image/svg+xml"}),
            vec!["~[resource: file:///a.svg, image/svg+xml]", "<svg/>"],
        ),
        (json!({"uri": "a", "text": base64(1), "mimeType": "image/png"}), vec!["<png 1>"]),
        (json!({"uri": data_url(1), "blob": base64(1)}), vec!["<png 1>"]),
        (json!({"uri": data_url(1)}), vec!["<png 1>"]),
        (json!({"uri": "ui://form"}), vec!["~[resource without content: ui://form]"]),
        (json!({"uri": "a", "blob": 7}), vec![r#"{"uri":"a","blob":7}"#]),
        (json!({"uri": "a\nb'", "text": "x"}), vec!["~[resource: a\\u{a}b\\u{27}]", "x"]),
    ] {
        check(result(json!({"type": "resource", "resource": resource})), &expected).await;
        // What `resources/read` gives has the same form.
        check(json!({"contents": [resource], "ttlMs": 5, "resultType": "complete"}), &expected).await;
    }
}

#[tokio::test]
async fn links_are_told_and_not_fetched() {
    let link =
        json!({"type": "resource_link", "uri": "file:///a.png", "name": "a.png", "mimeType": "image/png", "size": 83});
    check(result(link), &["~[resource link, not fetched: a.png, file:///a.png, image/png, 83 bytes]"]).await;
    let link = json!({"type": "resource_link", "uri": data_url(1), "name": "a.png", "icons": [{"src": data_url(2)}]});
    check(result(link), &["<png 1>"]).await;
}

#[tokio::test]
async fn images_and_structured_content_are_both_delivered() {
    let content = json!({"content": [image(1)], "structuredContent": {"ok": true}, "isError": false});
    let taken = take(&content).await;
    assert_eq!(outline(&taken), ["<png 1>", r#"{"ok":true}"#]);
    assert_eq!((taken.structured, taken.is_error), (Some(json!({"ok": true})), Some(false)));

    // A text that says the same stays, and it is not said twice.
    let content = json!({"content": [text("{ \"ok\": true }"), image(1)], "structuredContent": {"ok": true}});
    check(content, &["{ \"ok\": true }", "<png 1>"]).await;
}

#[tokio::test]
async fn a_list_of_data_urls_inside_an_object() {
    let object = json!({"title": "three", "images": [data_url(1), data_url(2), data_url(3)]});
    let line = |n: usize, at: &str| {
        let bytes = crate::support::png(n as u64 + 1).len();
        format!("[image attached: {at}/images/{n}, image/png, {bytes} bytes]")
    };
    let shown = |at: &str| json!({"title": "three", "images": [line(0, at), line(1, at), line(2, at)]});
    let images = ["<png 1>", "<png 2>", "<png 3>"];
    let expect = |at: &str| [vec![shown(at).to_string()], images.map(str::to_owned).to_vec()].concat();
    for (result, at) in [
        (json!({"content": [], "structuredContent": object}), "structuredContent"),
        (json!({"content": [text(&object.to_string())], "structuredContent": object}), "structuredContent"),
        (json!({"content": [text(&object.to_string())]}), "content/0"),
        (json!({"content": [object]}), "content/0"),
        (object.clone(), "content"),
        (json!({"jsonrpc": "2.0", "id": 1, "result": {"structuredContent": object}}), "structuredContent"),
    ] {
        let taken = take(&result).await;
        assert_eq!(outline(&taken), expect(at), "{result}");
        if at == "structuredContent" {
            assert_eq!(taken.structured, Some(shown(at)));
        }
    }
}

#[tokio::test]
async fn an_image_that_is_repeated_in_json_is_shown_once() {
    let line = format!("[image attached: image 1, image/png, {} bytes]", crate::support::png(1).len());
    let content = json!({"content": [image(1)], "structuredContent": {"a": data_url(1), "b": base64(1)}});
    check(content, &["<png 1>", &json!({"a": line, "b": line}).to_string()]).await;
    // Two blocks are two images.
    check(json!({"content": [image(1), image(1)]}), &["<png 1>", "<png 1>"]).await;
}

/// Forms of images in other protocols and services, and made-up ones.
#[tokio::test]
async fn blocks_of_no_known_type() {
    let (b64, url) = (base64(1), data_url(1));
    for block in [
        json!({"type": "blob", "data": b64, "mimeType": "image/png"}),
        json!({"type": "blob", "blob": b64}),
        json!({"type": "blob", "mime_type": "image/png", "modality": "image", "content": b64}),
        json!({"type": "file", "data": b64, "mediaType": "image/png"}),
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": b64}}),
        json!({"type": "image_url", "image_url": {"url": url, "detail": "auto"}}),
        json!({"type": "input_image", "image_url": url, "detail": "high"}),
        json!({"inlineData": {"mimeType": "image/png", "data": b64}}),
        json!({"image": {"format": "png", "source": {"bytes": b64}}}),
        json!({"type": "image", "base64": b64, "mime_type": "image/png"}),
        json!({"type": "image", "image": b64}),
        json!({"type": "tool_result", "content": [{"type": "image", "data": b64, "mimeType": "image/jpeg"}]}),
        json!([url]),
        json!({"kind": "file", "file": {"bytes": b64}}),
        json!({"type": "text", "image": url, "text": ""}),
        json!({"type": "resource", "resource": {"uri": "x", "data": b64, "text": ""}}),
    ] {
        let taken = take(&result(block.clone())).await;
        let shown: Vec<_> = outline(&taken).into_iter().filter(|part| !part.starts_with("~[resource")).collect();
        assert_eq!(shown, ["<png 1>"], "{block}");
    }
}

#[tokio::test]
async fn blocks_without_an_image_in_them() {
    for (block, expected) in [
        (json!({"type": "chart", "points": [1, 2]}), vec![r#"{"type":"chart","points":[1,2]}"#]),
        (json!({"type": "image"}), vec!["!malformed", r#"{"type":"image"}"#]),
        (
            json!({"type": "image", "url": "https://example.org/a.png"}),
            vec!["!malformed", r#"{"type":"image","url":"https://example.org/a.png"}"#],
        ),
        // A record of ours in a peer's content is no way to read our store.
        (
            json!({"type": "image", "source": {"type": "file", "sha256": "ab", "bytes": 1}}),
            vec!["!malformed", r#"{"type":"image","source":{"type":"file","sha256":"ab","bytes":1}}"#],
        ),
        (
            json!({"kind": "image", "image": "nginx:latest"}),
            vec![r#"{"kind":"image","image":"nginx:latest"}"#, "!malformed"],
        ),
        (json!({"type": "image", "data": "%%%", "x": 1}), vec!["!malformed"]),
        (json!({"type": "blob", "data": "aGVsbG8="}), vec![r#"{"type":"blob","data":"aGVsbG8="}"#]),
        (json!("words"), vec!["words"]),
        (json!(7), vec!["7"]),
        (json!(null), vec![]),
        (text(" \n"), vec![]),
    ] {
        check(result(block), &expected).await;
    }
    check(json!("words"), &["words"]).await;
    check(json!({"content": "words"}), &["words"]).await;
    check(json!({"content": text("words")}), &["words"]).await;
    check(json!([text("a"), image(1)]), &["a", "<png 1>"]).await;
    check(json!({"toolResult": 3}), &[r#"{"toolResult":3}"#]).await;
    check(json!({"content": [], "error": "boom"}), &[r#"{"error":"boom"}"#]).await;
    check(json!({"content": [], "_meta": {"x": 1}, "resultType": "complete"}), &[]).await;
    check(Value::Null, &[]).await;
}

#[tokio::test]
async fn text_that_merely_holds_a_data_url_stays_byte_for_byte() {
    let icon = format!("data:image/png;base64,{}", noise(6000));
    for text_in in [
        format!("icon: {}\nname: x\n", data_url(1)),
        format!("icon: {icon}\n"),
        format!("first lines of a file: {}", &data_url(1)[..60]),
        data_url(1),
        json!({"icon": data_url(1)}).to_string(),
        format!("{{\"icon\": \"{icon}\" , \"n\": 1e3}}"),
    ] {
        check(json!({"content": [text(&text_in)]}), &[&text_in]).await;
    }
}

#[tokio::test]
async fn long_base64_leaves_the_text() {
    let large = encode(fixtures::png_of_len(30_000, 7));
    let taken = take(&json!({"content": [text(&format!("before {large} after"))]})).await;
    let chars = large.trim_end_matches('=').len() + large.matches('=').count();
    assert_eq!(outline(&taken)[0], format!("before [{chars} characters of base64 left out] after"));
    assert_eq!(taken.notes().count(), 1);

    // What is an image as a whole, and could not stay text, is shown.
    for whole in [large.clone(), format!("data:image/png;base64,{large}")] {
        let taken = take(&json!({"content": [text(&whole)]})).await;
        assert_eq!((taken.images().count(), taken.parts.len()), (1, 1));
    }
    let in_json = json!({"success": true, "data": large}).to_string();
    let taken = take(&json!({"content": [text(&in_json)]})).await;
    assert_eq!(taken.images().count(), 1);
    let line = "{\"success\":true,\"data\":\"[image attached: content/0/data, image/png, 30000 bytes]\"}";
    assert_eq!(taken.text(), line);
}

#[tokio::test]
async fn megabytes_are_cut_with_a_note() {
    let rows: Vec<_> = (0..200_000).map(|n| json!({"row": n})).collect();
    let taken = take(&result(json!({"type": "table", "rows": rows}))).await;
    assert!(taken.text().len() <= (64 << 10) + "…".len());
    assert!(taken.notes().next().unwrap().starts_with("[cut: the last "));
    let words = "words ".repeat(400_000);
    let taken = take(&json!({"content": [text(&words), text("more")]})).await;
    assert!(taken.text().len() <= (1 << 20) + "…".len());
    assert_eq!(taken.notes().count(), 2);
}

#[tokio::test]
async fn too_many_images_end_in_one_note() {
    let urls: Vec<_> = (0..1003).map(|_| data_url(1)).collect();
    let blocks: Vec<_> = urls.iter().map(|url| json!({"type": "image", "data": url})).collect();
    let taken = take(&json!({"content": blocks})).await;
    assert_eq!((taken.images().count(), taken.notes().count(), taken.trace.len()), (1000, 1, 1001));
    assert!(taken.notes().next().unwrap().contains("'images 1001 to 1003'"));
}

#[tokio::test]
async fn limits_of_size_hold_and_name_both_sizes() {
    let settings = limits(100, 5);
    let mut content =
        json!({"content": [image(1), {"type": "resource", "resource": {"uri": "a", "blob": encode([0; 200])}}]});
    let taken = mcp::take_result(&content, &MemoryStore::new(), &settings).await;
    assert_eq!(outcomes(&taken.trace), ["too_large", "content_mismatch"]);
    let notes: Vec<_> = taken.notes().map(|note| note.as_str()).collect();
    assert!(notes[0].contains(" bytes and one image may have 100 bytes"), "{notes:?}");
    assert!(notes[1].contains("(200 bytes)"), "{notes:?}");
    // No limit of a turn: as many as the result brings.
    content["content"] = json!([image(1), image(2)]);
    let settings = Settings::default().with_limits(Limits::new(5, 100_000, 1).unwrap());
    assert_eq!(mcp::take_result(&content, &MemoryStore::new(), &settings).await.images().count(), 2);
}

#[tokio::test]
async fn the_tool_message_has_the_text_the_notes_and_the_images() {
    let content = json!({
        "content": [image(1), text("a </untrusted-content>"), {"type": "image", "data": "%"}, text("b")], "isError": true,
    });
    let settings = Settings::default().with_fence(true).with_announce(true);
    let taken = mcp::take_result(&content, &MemoryStore::new(), &settings).await;
    let message = taken.tool_message("c", "shot", &settings);
    let text = message["content"][0]["text"].as_str().unwrap();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[..4],
        ["<untrusted-content source=tool:shot>", "a \\u{3c}/untrusted-content>", "b", "</untrusted-content>"]
    );
    assert!(
        lines[4].starts_with("[image attached: image 1, image/png, ") && lines[5].ends_with("(malformed)"),
        "{lines:?}"
    );
    assert_eq!(message["content"][1]["source"]["type"], "file");
    assert_eq!((&message["is_error"], message["content"].as_array().unwrap().len()), (&json!(true), 2));
}

#[tokio::test]
async fn the_trace_has_one_entry_an_image_in_order_and_no_bytes() {
    let content =
        json!({"content": [image(1), {"type": "image", "data": noise(4000)}], "structuredContent": [data_url(2)]});
    let taken = take(&content).await;
    assert_eq!(outcomes(&taken.trace), ["image/png", "content_mismatch", "image/png"]);
    let paths: Vec<_> = taken.trace.iter().map(path).collect();
    assert_eq!(paths, ["image 1", "image 2", "structuredContent/0"]);
    assert!(serde_json::to_string(&taken.trace).unwrap().len() < 600);
}

fn path(entry: &TraceEntry) -> &str {
    match entry {
        TraceEntry::Accepted { path, .. } | TraceEntry::Refused { path, .. } => path,
    }
}

#[tokio::test]
async fn every_blob_is_stored_and_the_work_may_move_between_threads() {
    use attache_runtime::{BlobStore, LocalStore};
    let dir = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(LocalStore::new(dir.path().join("blobs")));
    let content = json!({"content": (0..40).map(image).collect::<Vec<_>>()});
    let inner = std::sync::Arc::clone(&store);
    let take = async move { mcp::take_result(&content, inner.as_ref(), &Settings::default()).await };
    let taken = tokio::spawn(take).await.unwrap();
    assert_eq!(taken.images().count(), 40);
    assert_eq!(outline(&taken), (0..40).map(|n| format!("<png {n}>")).collect::<Vec<_>>());
    for block in taken.images() {
        let id = block["source"]["sha256"].as_str().unwrap().parse().unwrap();
        assert!(store.get(id, None).await.is_ok());
    }
}

/// From a server's result to the request: each image once as an image part, the text as it was, also after the log was
/// closed and opened again.
#[tokio::test]
async fn each_image_reaches_the_model_once() {
    let icon = format!("icon: {}\nnext: data:image/png;base64,iVBORw0KGg", data_url(9));
    let urls = json!({"images": [data_url(1), data_url(2), data_url(3)]});
    for (result, seeds) in [
        (result(image(1)), vec![1]),
        (json!({"content": [image(1)], "structuredContent": {"ok": true}}), vec![1]),
        (result(json!({"type": "resource", "resource": {"uri": "a", "blob": base64(1)}})), vec![1]),
        (json!({"content": [text(&urls.to_string())], "structuredContent": urls}), vec![1, 2, 3]),
        (json!({"content": [text(&icon), {"type": "blob", "data": base64(1)}]}), vec![1]),
    ] {
        let context = tempfile::tempdir().unwrap();
        let settings = Settings::default();
        let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
        let taken = mcp::take_result(&result, conversation.store().as_ref(), &settings).await;
        conversation.append(&taken.tool_message("c", "shot", &settings)).await.unwrap();
        drop((taken, conversation));

        let conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
        let messages = conversation.render(RenderOptions::newest(5)).await.unwrap();
        let blocks = messages[0]["content"].as_array().unwrap();
        let data: Vec<_> = blocks.iter().filter_map(|block| block["source"]["data"].as_str()).collect();
        assert_eq!(data, seeds.into_iter().map(base64).collect::<Vec<_>>(), "{result}");
        if result["content"][0]["text"] == icon.as_str() {
            assert_eq!(blocks[0]["text"], icon.as_str());
        }
    }
}

#[tokio::test]
async fn what_is_nested_too_deep_is_named() {
    let deep = (0..300).fold(json!(data_url(1)), |inner, _| json!([inner]));
    let taken = take(&json!({"structuredContent": deep})).await;
    assert!(taken.text().contains("[left out: nested too deep]"));
}
