use attache_blobstore::BlobId;
use attache_media::MediaType;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::record::{blocks, record_block};

fn message(line: &str, look: Look) -> Scan {
    match scan_line(line, look).unwrap() {
        Line::Message(scan) => scan,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_are_sorted_by_what_they_are() {
    let kinds = |line: &str| match scan_line(line, Look::ForFiles) {
        Ok(Line::Message(scan)) => format!("{:?}", scan.role),
        Ok(Line::Ours(_)) => "ours".to_owned(),
        Ok(Line::Aside(kind)) => format!("aside {kind}"),
        Ok(Line::Other) => "other".to_owned(),
        Err(_) => "damaged".to_owned(),
    };
    for (line, expected) in [
        (r#"{"role":"user","content":"hi"}"#, "User"),
        (r#" {"content":[],"role":"assistant"} "#, "Assistant"),
        (r#"{"role":"tool","content":[{}, 1, null]}"#, "Other"),
        (r#"{"role":5,"content":[]}"#, "other"),
        (r#"{"role":"user","role":5}"#, "other"),
        (r#"{"type":"attache.header","version":1}"#, "ours"),
        (r#"{"type":"attache.meta","meta":{"type":"attache.header"}}"#, "aside meta"),
        (r#"{"v":1,"type":"attache.h\u00e9"}"#, "aside hé"),
        (r#"{"type":"attache."}"#, "aside "),
        (r#"{"type":"attache.meta","role":"user"}"#, "User"),
        (r#"{"type":"attache.meta""#, "damaged"),
        (r#"{"type":"attached"}"#, "other"),
        (r#"{"type":"summary"}"#, "other"),
        ("[1,2]", "other"),
        ("17", "other"),
        (r#"{"role":"user""#, "damaged"),
        (r#"{"role":"user"} x"#, "damaged"),
        ("\0\0\0", "damaged"),
    ] {
        assert_eq!(kinds(line), expected, "{line}");
    }
}

#[test]
fn spans_point_at_the_blocks() {
    let id = BlobId::of(b"x");
    let record = record_block(id, MediaType::Png, 1).to_string();
    let line = format!(
        r#"{{"role":"user","content":[ {record} ,{{"type":"tool_result","content":[{record}]}},{{"type":"text","text":""}},
        {{"type":"image","source":{{"type":"base64","data":"AA=="}}}}]}}"#
    );
    let scan = message(&line, Look::ForAll);
    let kinds: Vec<_> = scan.blocks.iter().map(|block| &line[block.start..block.end]).collect();
    assert_eq!(
        kinds,
        [
            &*record,
            &*record,
            r#"{"type":"text","text":""}"#,
            r#"{"type":"image","source":{"type":"base64","data":"AA=="}}"#
        ]
    );
    assert_eq!(message(&line, Look::ForFiles).blocks.len(), 2);
}

#[test]
fn words_spelled_with_escapes_are_still_found() {
    let id = BlobId::of(b"x").to_string();
    let line = format!(
        r#"{{"role":"user","content":[{{"\u0074ype":"im\u0061ge","source":{{"type":"f\u0069le","sha256":"{id}","bytes":3}}}}]}}"#
    );
    assert_eq!(message(&line, Look::ForFiles).blocks.len(), 1);
}

#[test]
fn nesting_is_limited_and_brackets_in_strings_do_not_count() {
    let nested = |levels: usize| format!(r#"{{"role":"u","x":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(scan_line(&nested(MAX_DEPTH - 1), Look::ForFiles).is_ok());
    assert!(scan_line(&nested(MAX_DEPTH), Look::ForFiles).unwrap_err().contains("120 levels"));
    assert!(scan_line(&nested(100_000), Look::ForFiles).is_err());
    let text = json!({"role": "u", "content": "[{\"\\".repeat(1000)}).to_string();
    assert!(scan_line(&text, Look::ForFiles).is_ok());
}

fn arbitrary_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof![
        Just("image".to_owned()),
        Just("file".to_owned()),
        Just("text".to_owned()),
        Just("tool_result".to_owned()),
        Just("ab".repeat(32)),
        any::<String>(),
    ];
    let leaf = prop_oneof![word.prop_map(Value::from), any::<u64>().prop_map(Value::from), Just(Value::Null)];
    let key = prop_oneof![
        Just("role"),
        Just("type"),
        Just("content"),
        Just("source"),
        Just("sha256"),
        Just("bytes"),
        Just("media_type"),
        Just("text"),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

fn likely_message() -> impl Strategy<Value = Value> {
    let source = prop::collection::vec(
        prop_oneof![
            Just(("type", json!("file"))),
            Just(("sha256", json!("ab".repeat(32)))),
            Just(("bytes", json!(5))),
            Just(("bytes", json!(-5))),
            Just(("media_type", json!("image/png"))),
            Just(("sha256", json!(1))),
        ],
        0..6,
    )
    .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    let block = prop_oneof![source.prop_map(|source| json!({"type": "image", "source": source})), arbitrary_json(),];
    let result = prop::collection::vec(block.clone(), 0..4)
        .prop_map(|content| json!({"type": "tool_result", "content": content}));
    prop::collection::vec(prop_oneof![block, result], 0..6)
        .prop_map(|content| json!({"role": "user", "content": content}))
}

proptest! {
    /// The scan of the text and the walk of the values must agree on what is a file block.
    #[test]
    fn text_and_values_find_the_same_blocks(value in prop_oneof![arbitrary_json(), likely_message()]) {
        let line = value.to_string();
        if let Line::Message(scan) = scan_line(&line, Look::ForFiles).unwrap() {
            let found: Vec<_> = scan.blocks.into_iter().map(|block| match block.found {
                Found::File(file) => file,
                other => panic!("{other:?}"),
            }).collect();
            let expected: Vec<_> = blocks(&value).filter_map(file_block).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn arbitrary_text_never_panics(text in "[\\[\\]{}\":,a-z\\\\ 0-9]{0,200}") {
        let _ = scan_line(&text, Look::ForAll);
    }
}
