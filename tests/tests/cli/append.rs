//! `attache append`: lines in, inline images lifted, all or nothing.

use attache_tests::message::{inline_image, lines, record, text};
use attache_tests::{pictures, sha256};
use serde_json::{Value, json};

use crate::session::{Session, code_of};

fn user(content: &[Value]) -> Value {
    json!({"role": "user", "content": content})
}

#[test]
fn messages_come_from_a_file_or_a_pipe_and_survive_byte_for_byte() {
    let session = Session::new();
    let odd = [
        r#"{"role":"user","content":"hi","z":1e400,"a":1.0,"n":12345678901234567890123,"a":2}"#,
        r#"{ "content" : [ ] ,	"role" : "assistant" , "u":"\u00e9\/" }"#,
        r#"{"role":"user","content":"data:image/png;base64,iVBORw0KGgo= stays text"}"#,
    ];
    std::fs::write(session.path("messages.jsonl"), odd.join("\n")).unwrap();
    assert_eq!(session.json("append messages.jsonl"), json!({"appended": 3, "lifted": 0, "notes": []}));
    let windows = odd.map(|line| format!("{line}\r\n\r\n")).join("");
    let run = session.call("append -c ctx").stdin(format!("\u{feff}{windows}")).run();
    assert_eq!(run.expect_code(0).text(), "3 messages appended, 0 images lifted\n");
    assert_eq!(session.call("append -c ctx --json -").stdin("").run().expect_code(0).json()["appended"], 0);

    let log = session.log();
    let stored: Vec<_> = log.lines().skip(1).collect();
    assert_eq!(stored, [odd, odd].concat());
    // The render copies them as they are.
    let rendered = session.run("render -c ctx").expect_code(0).text().to_owned();
    assert_eq!(rendered, format!("[{}]\n", stored.join(",")));
}

#[test]
fn a_bad_line_is_named_and_nothing_is_written() {
    let session = Session::new();
    session.append(&[user(&[text("before")])]);
    let before = session.log();
    let good = user(&[inline_image("image/png", &pictures::png(2, 2, 0))]).to_string();
    for (bad, why) in [
        ("{\"role\":", "not JSON"),
        ("[]", "an array"),
        (r#"{"content":"x"}"#, "no role"),
        (r#"{"role":1}"#, "a role that is no string"),
        ("\u{0}", "a NUL"),
        (r#"{"role":"user"} {"role":"user"}"#, "two on a line"),
    ] {
        // Blank lines count as lines.
        let input = format!("{good}\n\n{bad}\n{good}\n");
        let run = session.call("append -c ctx --json").stdin(input.clone()).run();
        let error = run.expect_code(3).json()["error"].clone();
        assert_eq!((&error["code"], &error["exit_code"]), (&json!("invalid_message"), &json!(3)), "{why}");
        assert!(error["message"].as_str().unwrap().starts_with("line 3: "), "{why}: {error}");
        let run = session.call("append -c ctx").stdin(input).run();
        assert!(run.expect_code(3).error_text().starts_with("attache: line 3: "), "{run}");
        assert_eq!(run.stdout, b"");
    }
    let mut latin = good.clone().into_bytes();
    latin.extend_from_slice(b"\n{\"role\":\"\xe9\"}\n");
    let run = session.call("append -c ctx").stdin(latin).run();
    assert!(run.expect_code(3).error_text().contains("line 2: not UTF-8"), "{run}");
    assert_eq!(session.log(), before);
    assert!(!session.context().join("blobs").exists());

    let nowhere = session.call("append -c other --json").stdin("{").run();
    nowhere.expect_code(3);
    assert!(!session.path("other").exists(), "a conversation that could not be begun is not there");
}

#[test]
fn inline_images_are_lifted_wherever_they_are_and_labelled_by_their_bytes() {
    let session = Session::new();
    let (png, jpeg, gif) = (pictures::png(2, 2, 0), pictures::jpeg(), pictures::gif());
    let nested = |block: Value| json!({"type": "tool_result", "tool_use_id": "t1", "content": [text("shot"), block]});
    let messages = [
        user(&[text("a"), inline_image("image/png", &png), text("b")]),
        user(&[nested(inline_image("image/png", &jpeg))]),
        user(&[inline_image("", &gif), inline_image("application/octet-stream", &png)]),
    ];
    let report = session.append(&messages);
    assert_eq!((&report["appended"], &report["lifted"]), (&json!(3), &json!(4)), "{report}");
    let expected = [
        user(&[text("a"), record("image/png", &png), text("b")]),
        user(&[nested(record("image/jpeg", &jpeg))]),
        user(&[record("image/gif", &gif), record("image/png", &png)]),
    ];
    assert_eq!(session.audit().messages, expected);
    assert_eq!(session.audit().expect_whole("lifted").blobs.len(), 3);
    assert!(!session.log().contains("base64"));
    // And out again.
    let shown = session.render("");
    assert_eq!(shown[0], messages[0]);
    assert_eq!(shown[1], user(&[nested(inline_image("image/jpeg", &jpeg))]));
}

#[test]
fn whatever_the_label_says_png_bytes_go_out_as_png() {
    let session = Session::new();
    let png = pictures::png(2, 2, 0);
    let labels = [
        "image/jpg",
        "IMAGE/PNG",
        "Image/Jpeg",
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
    ];
    let mut blocks: Vec<_> = labels.iter().map(|label| inline_image(label, &png)).collect();
    let mut unlabelled = inline_image("", &png);
    unlabelled["source"]["media_type"] = Value::Null;
    blocks.push(unlabelled);
    let report = session.append(&[user(&blocks)]);
    assert_eq!(report["lifted"], blocks.len(), "{report}");
    let out = session.rendered_blocks("--keep 100");
    assert_eq!(out, vec![inline_image("image/png", &png); blocks.len()]);
}

#[test]
fn inline_images_that_fail_become_notes_in_their_place() {
    let session = Session::new();
    let mut broken = inline_image("image/png", b"");
    broken["source"]["data"] = json!("%%%");
    let good = pictures::png(2, 2, 0);
    let too_large = pictures::png_of_len(3_932_161, 0);
    let message = user(&[
        inline_image("image/png", &good),
        broken,
        inline_image("image/png", b"just text"),
        inline_image("image/png", &good[..30]),
        inline_image("image/png", &too_large),
        inline_image("image/png", b""),
        inline_image("image/png", &good),
    ]);
    let report = session.append(&[message]);
    let notes = report["notes"].as_array().unwrap();
    let codes: Vec<_> = notes.iter().map(code_of).collect();
    assert_eq!(codes[..4], ["malformed", "content_mismatch", "undecodable", "too_large"], "{report}");
    assert_eq!((codes.len(), &report["lifted"]), (5, &json!(2)));
    for (n, note) in (2..).zip(notes) {
        let begins = format!("attachment 'inline image {n}' was not attached: ");
        assert!(note.as_str().unwrap().starts_with(&begins), "{note}");
    }
    let audit = session.audit();
    let content = audit.messages[0]["content"].as_array().unwrap();
    assert_eq!(content.len(), 7);
    for (at, note) in (1..6).zip(notes) {
        assert_eq!(content[at], json!({"type": "text", "text": note}));
    }
    // With the plainest checks the stub passes.
    let lenient =
        session.call("append -c ctx --json --verify magic").stdin(lines(&[user(&[inline_image("", &good[..30])])]));
    assert_eq!(lenient.run().expect_code(0).json()["lifted"], 1);
}

#[test]
fn a_stored_session_full_of_faults_becomes_one_that_can_be_sent() {
    let session = Session::new();
    let mut images: Vec<Value> = (0..103).map(|n| inline_image("image/png", &pictures::png(2, 2, n))).collect();
    images[7] = inline_image("image/webp", &pictures::jpeg());
    images[9] = inline_image("image/png", &pictures::png(8, 8, 0)[..60]);
    let huge = inline_image("image/png", &pictures::png_of_len(7_070_877, 0));
    let messages = [
        user(&[text(""), images[0].clone()]),
        user(&[text("")]),
        user(&[images[7].clone(), images[9].clone(), huge]),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "shot", "input": {}}]}),
        user(&images),
    ];
    let report = session.append(&messages);
    assert_eq!(report["appended"], 5);
    for _ in 0..2 {
        // The second time around stands for a restart.
        let shown = session.render("");
        let body = Value::from(shown.clone()).to_string();
        assert_eq!(body.matches(r#""type":"base64""#).count(), 5, "the newest, and no more");
        assert!(!body.contains(r#""text":"""#), "no empty text block");
        assert!(shown.iter().all(|message| message["content"].as_array().is_none_or(|content| !content.is_empty())));
        assert!(body.len() < 100_000);
        session.append(&[user(&[text("and now?")])]);
    }
    // The wrong label is gone.
    let audit = session.audit();
    audit.expect_whole("a healed session");
    assert_eq!(audit.messages[2]["content"][0], record("image/jpeg", &pictures::jpeg()));
}

#[test]
fn the_log_does_not_grow_with_the_pictures() {
    let session = Session::new();
    let big = inline_image("image/png", &pictures::png_of_len(500_000, 0));
    // Forty times the same capture, as computer-use loops send it.
    let messages = vec![user(&[big]); 40];
    session.append(&messages);
    let audit = session.audit();
    assert_eq!((audit.blobs.len(), audit.messages.len()), (1, 40));
    assert!(session.log().len() < 40 * 400);
    assert_eq!(*audit.blobs.first().unwrap(), sha256(&pictures::png_of_len(500_000, 0)));
}

#[test]
fn lines_of_attache_itself_are_passed_over_and_noted() {
    let session = Session::new();
    session.append(&[user(&[text("one")])]);
    // A log as it is, its header included.
    let run = session.call("append -c copy --json").stdin(session.log()).run();
    let report = run.expect_code(0).json();
    assert_eq!((&report["appended"], report["notes"].as_array().unwrap().len()), (&json!(1), 1), "{report}");
}

#[test]
fn a_file_that_cannot_be_read_is_bad_input() {
    let session = Session::new();
    for name in ["absent.jsonl", "work"] {
        let error = session.run(&format!("append -c ctx --json {name}")).expect_code(3).json()["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(name), "{error}");
    }
    assert!(!session.context().exists());
}
