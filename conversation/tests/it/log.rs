//! What is appended is what is read back, whatever happens in between.

use std::os::unix::fs::PermissionsExt;

use attache_conversation::{Conversation, ConversationErrorKind, Item, OpenOptions, RenderOptions, View};
use attache_media::fixtures;

use super::{Fixture, inline, options, user};

const HEADER: &str = "{\"type\":\"attache.header\",\"version\":1}\n";

#[test]
fn messages_survive_byte_for_byte_in_a_private_file() {
    let fixture = Fixture::new();
    let lines = [
        r#"{"z":1.50,"role":"user","a":1e400,"n":123456789012345678901234567890,"content":"ä\u00e4"}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"shot","input":{"b":1,"a":2}}]}"#,
        r#"{"role":"tool","tool_call_id":"c","content":[]}"#,
    ];
    let mut conversation = fixture.open();
    assert!(conversation.log_report().is_clean());
    for line in lines {
        fixture.run(conversation.append_json(line)).unwrap();
    }
    let expected = format!("{HEADER}{}\n", lines.join("\n"));
    assert_eq!(String::from_utf8(fixture.log()).unwrap(), expected);
    let mode = fixture.dir.path().join("conversation.jsonl").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    drop(conversation);
    let view = fixture.view();
    assert_eq!(fixture.run(view.message_json(1)).unwrap().unwrap(), lines[1]);
    let body = fixture.run(view.render_body(RenderOptions::newest(5), Default::default())).unwrap();
    assert_eq!(String::from_utf8(body).unwrap(), format!("[{}]", lines.join(",")));
    assert!(!fixture.dir.path().join("blobs").exists(), "nothing is made before the first blob");
}

#[test]
fn a_bad_message_in_a_batch_leaves_the_log_as_it_was() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    fixture.run(conversation.append(&user("one"))).unwrap();
    let before = fixture.log();
    let error = fixture.run(conversation.append_all(&[r#"{"role":"user"}"#, r#"{"no":"role"}"#])).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::InvalidMessage);
    assert_eq!(fixture.log(), before);
    assert_eq!(conversation.len(), 1);
    fixture.run(conversation.append(&user("two"))).unwrap();
    assert_eq!(conversation.len(), 2);
}

/// The log cut at every byte of its last three records: it opens, what was whole is there, what was torn is kept
/// beside it, and the next append works.
#[test]
fn a_cut_at_any_byte_of_the_last_records_loses_nothing_that_was_whole() {
    let fixture = Fixture::new();
    let mut conversation = fixture.open();
    let png = fixtures::png(2, 2, 1);
    for message in [user("first"), user("zweite ä"), user(vec![inline(&png)]), user("fourth")] {
        fixture.run(conversation.append(&message)).unwrap();
    }
    drop(conversation);
    let whole = fixture.log();
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', &whole).collect();
    let first_cut = ends[1] + 1;
    for cut in first_cut..=whole.len() {
        for tail in [&b""[..], b"\0\0\0\0\0\0\0\0"] {
            let mut bytes = whole[..cut].to_vec();
            bytes.extend_from_slice(tail);
            fixture.write_log(&bytes);
            // A cut right before a newline leaves a whole message, which stays; NULs behind it make it a torn one.
            let is_whole = whole[cut - 1] == b'\n' || (tail.is_empty() && ends.contains(&cut));
            let kept = ends.iter().filter(|end| **end < cut || (is_whole && **end == cut)).count() - 1;

            let view = fixture.view();
            assert_eq!(view.len(), kept, "a reader, cut at {cut}");
            assert_eq!(fixture.log(), bytes, "a reader changes nothing");
            let mut conversation = fixture.open();
            assert_eq!(conversation.len(), kept, "a writer, cut at {cut}");
            let torn_bytes = bytes.len() - ends.iter().rfind(|end| **end < cut).map_or(0, |end| end + 1);
            let torn = fixture.dir.path().join("conversation.jsonl.torn-1");
            if is_whole && tail.is_empty() {
                assert!(!torn.exists() && conversation.log_report().torn.is_none());
            } else {
                assert_eq!(std::fs::read(&torn).unwrap(), bytes[bytes.len() - torn_bytes..]);
                std::fs::remove_file(&torn).unwrap();
            }
            fixture.run(conversation.append(&user("next"))).unwrap();
            drop(conversation);
            let view = fixture.view();
            assert_eq!(view.len(), kept + 1);
            assert!(view.log_report().is_clean());
            let rendered = fixture.run(view.render(RenderOptions::newest(5))).unwrap();
            assert_eq!(rendered.last().unwrap(), &user("next"));
        }
    }
}

#[test]
fn each_torn_tail_gets_a_file_of_its_own() {
    let fixture = Fixture::new();
    for n in 1..=3 {
        fixture.write_log(format!("{HEADER}{{\"role\":\"us{n}").as_bytes());
        let conversation = fixture.open();
        let kept = conversation.log_report().torn.clone().unwrap().kept_as.unwrap();
        assert!(kept.ends_with(format!("conversation.jsonl.torn-{n}")), "{kept:?}");
        assert_eq!(std::fs::read_to_string(kept).unwrap(), format!("{{\"role\":\"us{n}"));
    }
}

#[test]
fn damage_in_the_middle_is_reported_and_never_dropped() {
    let fixture = Fixture::new();
    let text = format!(
        "{HEADER}{{\"role\":\"user\",\"content\":\"a\"}}\n{{\"role\":\"us\n\n{{\"role\":\"user\",\"content\":\"b\"}}\n"
    );
    fixture.write_log(text.as_bytes());
    let mut conversation = fixture.open();
    let report = conversation.log_report().clone();
    assert_eq!((report.messages, report.damaged_lines, report.damaged[0].line), (2, 1, 3));
    assert_eq!(fixture.log(), text.as_bytes());
    fixture.run(conversation.append(&user("c"))).unwrap();
    let rendered = fixture.run(conversation.render(RenderOptions::newest(1))).unwrap();
    assert_eq!(rendered, [user("a"), user("b"), user("c")]);
}

#[test]
fn other_tools_lines_are_passed_over() {
    let fixture = Fixture::new();
    fixture.write_log(b"{\"type\":\"summary\",\"x\":1}\r\n{\"role\":\"user\",\"content\":\"a\"}\r\n[1]\n{\"role\":\"user\",\"content\":\"b\"}\n");
    let view = fixture.view();
    assert_eq!((view.len(), view.log_report().other_lines), (2, 2));
    assert_eq!(fixture.run(view.render(RenderOptions::newest(1))).unwrap(), [user("a"), user("b")]);
}

#[test]
fn a_log_of_a_later_version_is_refused() {
    let fixture = Fixture::new();
    fixture.write_log(b"{\"type\":\"attache.header\",\"version\":2}\n");
    let error = fixture.run(View::open(fixture.dir.path(), options())).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::Damaged);
    assert!(error.to_string().contains("version 2"), "{error}");
}

#[test]
fn there_is_one_writer_and_any_number_of_readers() {
    let fixture = Fixture::new();
    let mut writer = fixture.open();
    fixture.run(writer.append(&user("a"))).unwrap();
    let error = fixture.run(Conversation::open(fixture.dir.path(), options())).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::Locked);
    assert!(
        error.to_string().contains(&format!("process {} (an embedded conversation)", std::process::id())),
        "{error}"
    );
    let view = fixture.view();
    fixture.run(writer.append(&user("b"))).unwrap();
    assert_eq!((view.len(), fixture.view().len()), (1, 2));
    drop(writer);
    fixture.open();
}

#[test]
fn reading_what_is_not_there_makes_nothing() {
    let fixture = Fixture::new();
    let absent = fixture.dir.path().join("absent");
    let error = fixture.run(View::open(&absent, options())).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::NotFound);
    let error = fixture.run(Conversation::open_existing(&absent, options())).unwrap_err();
    assert_eq!(error.kind(), ConversationErrorKind::NotFound);
    assert!(!absent.exists());
}

/// An agent runtime appends from tasks that move between threads, holding borrowed texts.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spawned_task_may_append() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_owned();
    let task = tokio::spawn(async move {
        let mut conversation = Conversation::open(&dir, OpenOptions::default()).await.unwrap();
        let texts = vec![String::from(r#"{"role":"user","content":"one"}"#)];
        for text in &texts {
            conversation.append_json(text).await.unwrap();
            conversation.append(&serde_json::from_str(text).unwrap()).await.unwrap();
            conversation.append_all(&[text]).await.unwrap();
            conversation.append_items(texts.iter().map(|text| Item::Message(text))).await.unwrap();
        }
        conversation.len()
    });
    assert_eq!(task.await.unwrap(), 4);
}
