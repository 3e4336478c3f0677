//! The two forms of the render pass agree, on any log.

use std::num::NonZero;

use attache_blobstore::BlobId;
use attache_conversation::{Frame, RenderOptions, Withheld, record_block, render_with};
use attache_media::{MediaType, fixtures};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Fixture, inline, user};

#[derive(Clone, Debug)]
enum Item {
    Text(String),
    /// A picture by its number; every third one is not in the store.
    Picture(u64),
    Nested(Vec<u64>),
    Malformed,
    Url,
}

#[derive(Clone, Debug)]
enum Line {
    Message(&'static str, Vec<Item>),
    Plain(String),
    /// A line of another tool, or a damaged one, which breaks the run of lines that can be copied at once.
    Foreign(&'static str),
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let item = prop_oneof![
        ".{0,40}".prop_map(Item::Text),
        (0u64..12).prop_map(Item::Picture),
        prop::collection::vec(0u64..12, 0..3).prop_map(Item::Nested),
        Just(Item::Malformed),
        Just(Item::Url),
    ];
    prop::collection::vec(item, 0..5)
}

fn lines() -> impl Strategy<Value = Vec<Line>> {
    let role = prop_oneof![Just("user"), Just("assistant"), Just("tool")];
    let line = prop_oneof![
        4 => (role, items()).prop_map(|(role, items)| Line::Message(role, items)),
        2 => ".{0,60}".prop_map(Line::Plain),
        1 => prop_oneof![Just("{\"type\":\"x\"}"), Just("{broken"), Just(""), Just("[1] \r")].prop_map(Line::Foreign),
    ];
    prop::collection::vec(line, 0..14)
}

fn picture(number: u64) -> Vec<u8> {
    fixtures::png(1, 1, number)
}

fn record(number: u64) -> Value {
    let png = picture(number);
    record_block(BlobId::of(&png), MediaType::Png, png.len() as u64)
}

fn block(item: &Item) -> Value {
    match item {
        Item::Text(text) => json!({"type": "text", "text": text}),
        Item::Picture(number) => record(*number),
        Item::Nested(numbers) => {
            json!({"type": "tool_result", "tool_use_id": "t", "content": numbers.iter().map(|n| record(*n)).collect::<Vec<_>>()})
        }
        Item::Malformed => json!({"type": "image", "source": {"type": "file", "sha256": 7}}),
        Item::Url => json!({"type": "image", "source": {"type": "url", "url": "https://example.org/"}}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn a_body_is_the_values_form_byte_for_byte(
        lines in lines(), keep in 0usize..8, step in 1usize..4, open: bool, pin: bool, withheld in 0u64..12,
    ) {
        let fixture = Fixture::new();
        let mut messages = Vec::new();
        let mut log = String::new();
        for line in &lines {
            let message = match line {
                Line::Message(role, items) => {
                    json!({"role": role, "content": items.iter().map(block).collect::<Vec<_>>()})
                }
                Line::Plain(text) => json!({"role": "user", "content": text}),
                Line::Foreign(text) => {
                    log.push_str(text);
                    log.push('\n');
                    continue;
                }
            };
            log.push_str(&message.to_string());
            log.push('\n');
            messages.push(message);
        }
        fixture.write_log(log.as_bytes());
        let mut conversation = fixture.open();
        for number in (0..12).filter(|number| number % 3 != 0) {
            fixture.run(conversation.store().put(picture(number).into())).unwrap();
        }
        let id = BlobId::of(&picture(withheld));
        fixture.run(conversation.withhold(id, "why \"not\"\n")).unwrap();
        let options = RenderOptions::stable(keep, NonZero::new(step).unwrap())
            .with_open_turn(open)
            .with_pinned_user_images(pin);
        let expected = fixture.run(render_with(
            &messages, options, &Withheld::from([(id, "why \"not\"\n".to_owned())]), conversation.store().as_ref(),
        ));
        let frame = Frame { before: b"{\"m\":", after: b"}" };
        let body = fixture.run(conversation.render_body(options, frame)).unwrap();
        let expected = format!("{{\"m\":{}}}", serde_json::to_string(&expected).unwrap());
        prop_assert_eq!(String::from_utf8(body).unwrap(), expected);
    }
}

#[test]
fn a_large_body_is_filled_right_by_several_threads_and_its_buffer_used_again() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let png = fixtures::png_of_len(1_000_003, 1);
    let long = "x".repeat(70_000);
    for round in 0..60 {
        let content = json!([{"type": "text", "text": format!("{round} {long}")}]);
        fixture.run(conversation.append(&json!({"role": "assistant", "content": content}))).unwrap();
        if round % 20 == 0 {
            fixture.run(conversation.append(&user(vec![inline(&png)]))).unwrap();
        }
    }
    let mut buffer = Vec::new();
    for keep in [3, 1, 0, 2] {
        let options = RenderOptions::newest(keep);
        fixture.run(conversation.render_body_into(options, Frame::default(), &mut buffer)).unwrap();
        let values: Vec<Value> = serde_json::from_slice(&buffer).unwrap();
        assert_eq!(values.len(), 63);
        let shown: Vec<_> = values.iter().filter_map(|value| value["content"][0]["source"]["data"].as_str()).collect();
        assert_eq!(shown.len(), keep);
        assert!(shown.iter().all(|data| base64_simd::STANDARD.decode_to_vec(data).unwrap() == png));
        let fresh = fixture.run(fixture.view().render_body(options, Frame::default())).unwrap();
        assert!(fresh == buffer, "a used buffer and a fresh one differ at keep {keep}");
    }
}

#[test]
fn an_empty_conversation_is_an_empty_array() {
    let fixture = Fixture::new();
    let conversation = fixture.open();
    assert_eq!(fixture.run(conversation.render_body(RenderOptions::newest(5), Frame::default())).unwrap(), b"[]");
}
