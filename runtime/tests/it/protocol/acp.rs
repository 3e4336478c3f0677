//! Blocks of editors and their agents, judged by the protocol's own types.

use agent_client_protocol_schema::v1::{ContentBlock, InitializeResponse};
use attache_media::fixtures;
use attache_runtime::{MemoryStore, Settings, acp};
use serde_json::{Value, json};

use crate::protocol::{base64, encode, outline};

/// What the official types read and write back.
fn judged(block: &Value) -> ContentBlock {
    let read: ContentBlock = serde_json::from_value(block.clone()).unwrap();
    assert_eq!(&serde_json::to_value(&read).unwrap(), block);
    read
}

fn images() -> acp::PromptCapabilities {
    acp::PromptCapabilities::default().with_image(true)
}

#[tokio::test]
async fn blocks_of_a_prompt() {
    let link = "~[resource link, not fetched: a.png, file:///a.png, image/png, 83 bytes]";
    for (block, expected) in [
        (json!({"type": "text", "text": "words"}), vec!["words"]),
        (json!({"type": "image", "data": base64(1), "mimeType": "image/png"}), vec!["<png 1>"]),
        (
            json!({"type": "image", "data": base64(1), "mimeType": "image/webp", "uri": "file:///a.png"}),
            vec!["<png 1>"],
        ),
        (
            json!({"type": "image", "data": "", "mimeType": "image/png", "uri": "file:///a.png"}),
            vec!["!content_mismatch"],
        ),
        (json!({"type": "audio", "data": encode("ID3"), "mimeType": "audio/mp3"}), vec!["!media_type_not_allowed"]),
        (
            json!({"type": "resource_link", "uri": "file:///a.png", "name": "a.png", "mimeType": "image/png", "size": 83}),
            vec![link],
        ),
        (
            json!({"type": "resource", "resource": {"uri": "file:///a.rs", "text": "fn a() {}"}}),
            vec!["~[resource: file:///a.rs]", "fn a() {}"],
        ),
        (json!({"type": "resource", "resource": {"uri": "file:///a", "blob": base64(2)}}), vec!["<png 2>"]),
    ] {
        judged(&block);
        let taken = acp::take_blocks(std::slice::from_ref(&block), &MemoryStore::new(), &Settings::default()).await;
        assert_eq!(outline(&taken), expected, "{block}");
    }
    let named = json!({"type": "image", "data": "%", "mimeType": "image/webp", "uri": "file:///a.png"});
    let taken = acp::take_blocks(&[named], &MemoryStore::new(), &Settings::default()).await;
    assert!(taken.notes().next().unwrap().starts_with("attachment 'file:///a.png' "));
}

#[tokio::test]
async fn the_capability_decides_whether_images_are_sent() {
    let store = MemoryStore::new();
    let prompt = [
        json!({"type": "text", "text": "words"}),
        json!({"type": "image", "data": base64(1), "mimeType": "image/png"}),
        json!({"type": "image", "data": encode(fixtures::gif()), "mimeType": "image/gif"}),
    ];
    let taken = acp::take_blocks(&prompt, &store, &Settings::default()).await;
    let with = acp::to_blocks(&taken.blocks(), images(), &store).await;
    assert_eq!(with, prompt);

    let without = acp::to_blocks(&taken.blocks(), acp::PromptCapabilities::default(), &store).await;
    let texts: Vec<_> = without.iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert_eq!(texts[0], "words");
    for (text, media_type) in texts[1..].iter().zip(["image/png", "image/gif"]) {
        assert!(text.starts_with(&format!("[image not sent: {media_type}, ")), "{text}");
        assert!(text.ends_with("; the receiver takes no images]"), "{text}");
    }
    for block in with.iter().chain(&without) {
        judged(block);
    }
}

#[tokio::test]
async fn every_form_of_block_is_one_of_the_protocol_s() {
    let (store, jpeg) = (MemoryStore::new(), encode(fixtures::jpeg()));
    let blocks = [
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": jpeg}}),
        json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}),
        json!({"type": "image", "source": {"type": "file", "sha256": "ab", "media_type": "image/png", "bytes": 7}}),
        json!({"type": "image", "source": {"type": "file", "sha256": 7}}),
        json!({"type": "thinking", "thinking": "hm"}),
        json!({}),
    ];
    for capabilities in [images(), acp::PromptCapabilities::default()] {
        let out = acp::to_blocks(&blocks, capabilities, &store).await;
        let read: Vec<_> = out.iter().map(judged).collect();
        assert_eq!(read.len(), blocks.len());
        assert_eq!(matches!(read[0], ContentBlock::Image(_)), capabilities.image);
        assert!(matches!(read[1], ContentBlock::ResourceLink(_)));
        assert!(read[2..].iter().all(|block| matches!(block, ContentBlock::Text(_))), "{out:?}");
    }
}

#[test]
fn capabilities_are_read_as_agents_write_them() {
    for image in [true, false] {
        let prompt = json!({"image": image, "audio": true, "embeddedContext": true});
        let answer = json!({"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": prompt}});
        let official: InitializeResponse = serde_json::from_value(answer.clone()).unwrap();
        assert_eq!(official.agent_capabilities.prompt_capabilities.image, image);
        for value in [&answer, &answer["agentCapabilities"], &prompt, &serde_json::to_value(&official).unwrap()] {
            assert_eq!(acp::PromptCapabilities::from_value(value).image, image, "{value}");
        }
    }
    for odd in [json!(null), json!({"promptCapabilities": {"image": "yes"}}), json!([])] {
        assert!(!acp::PromptCapabilities::from_value(&odd).image, "{odd}");
    }
}
