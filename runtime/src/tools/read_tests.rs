use serde_json::json;

use crate::tools::testing::{DENIED, Stage, failure};
use crate::tools::{CallContext, FileToolOptions, Observation, ReadLimits, read_view};

fn stage() -> Stage {
    Stage::new(FileToolOptions::default())
}

#[tokio::test]
async fn a_file_is_shown_in_its_envelope() {
    let stage = stage();
    stage.files.put("src/a.rs", "one\r\ntwo\n\nfour");
    let output = stage.call("read", json!({"file_path": "./src/a.rs"})).await;
    assert_eq!(
        output.text,
        "<path>src/a.rs</path>\n<type>file</type>\n<content>\n1: one\n2: two\n3: \n4: four\n\n\
         (End of file - total 4 lines)\n</content>"
    );
    assert_eq!((output.is_error, output.code.as_ref(), output.images.len()), (None, None, 0));
    let meta = output.structured.unwrap();
    let expected = json!({
        "path": "src/a.rs",
        "offset": 1,
        "lines": [
            {"number": 1, "text": "one"}, {"number": 2, "text": "two"},
            {"number": 3, "text": ""}, {"number": 4, "text": "four"},
        ],
        "totalLines": 4,
        "lang": "rust",
    });
    assert_eq!(meta, expected);
    assert_eq!(read_view(&output.text, false, &meta).unwrap().to_value(), meta);
    assert_eq!(stage.files.calls(), ["resolve", "stat", "read_bytes"]);
}

#[tokio::test]
async fn footers_lead_through_the_whole_file() {
    let read = ReadLimits { max_lines: 3, max_line_chars: 20, max_window_bytes: 10, ..ReadLimits::default() };
    let stage = Stage::new(FileToolOptions::default().with_read(read));
    stage.files.put("a", "1\n2\n3\n4444\n55555\n666666666666\n7\n").put("empty", "").put("cut", "abcdefghijkl");
    for (path, offset, shown) in [
        ("a", 1, "1: 1\n2: 2\n3: 3\n\n(Showing lines 1-3 of 7. Use offset=4 to continue.)"),
        ("a", 4, "4: 4444\n5: 55555\n\n(Output capped. Showing lines 4-5. Use offset=6 to continue.)"),
        (
            "a",
            6,
            "6: 6666666666... (line truncated to 10 chars)\n\n(Output capped. Showing lines 6-6. Use offset=7 to continue.)",
        ),
        ("a", 7, "7: 7\n\n(End of file - total 7 lines)"),
        ("empty", 1, "\n\n(End of file - total 0 lines)"),
        ("cut", 1, "1: abcdefghij... (line truncated to 10 chars)\n\n(End of file - total 1 lines)"),
    ] {
        let output = stage.call("read", json!({"file_path": path, "offset": offset})).await;
        let expected = format!("<path>{path}</path>\n<type>file</type>\n<content>\n{shown}\n</content>");
        assert_eq!(output.text, expected);
        assert!(read_view(&output.text, false, output.structured.as_ref().unwrap()).is_some());
    }
}

#[tokio::test]
async fn arguments_are_judged_in_order_and_before_any_file() {
    let stage = stage();
    for (input, code, message) in [
        (json!(null), "FS_NOT_FOUND", "file_path must be a non-empty string"),
        (json!({"offset": 0}), "FS_NOT_FOUND", "file_path must be a non-empty string"),
        (json!({"file_path": " \t"}), "FS_NOT_FOUND", "file_path must be a non-empty string"),
        (json!({"file_path": 7}), "FS_NOT_FOUND", "file_path must be a non-empty string"),
        (json!({"file_path": "a", "offset": 0, "limit": 0}), "invalid_argument", "offset must be a positive integer"),
        (json!({"file_path": "a", "offset": 1.5}), "invalid_argument", "offset must be a positive integer"),
        (json!({"file_path": "a", "offset": "1"}), "invalid_argument", "offset must be a positive integer"),
        (json!({"file_path": "a", "limit": -1}), "invalid_argument", "limit must be a positive integer"),
        (json!({"file_path": "a", "limit": 2001}), "invalid_argument", "limit must be less than or equal to 2000"),
    ] {
        assert_eq!(stage.fail("read", input.clone()).await, (code.to_owned(), message.to_owned()), "{input}");
    }
    assert_eq!(stage.files.calls(), [""; 0]);
}

#[tokio::test]
async fn what_is_no_text_file_is_an_error_and_only_absence_is_seen() {
    let stage = stage();
    stage.files.put_dir("dir").put("bin", b"a\0b").put("latin", b"\xe9t\xe9").put("empty", "").put("one", "1\n");
    for (path, offset, code, message) in [
        ("gone", 1, "FS_NOT_FOUND", "cannot read \"gone\": not found"),
        (DENIED, 1, "FS_PERMISSION_DENIED", "cannot read \"denied.png\": Permission denied"),
        ("dir", 1, "FS_NOT_REGULAR_FILE", "cannot read \"dir\": not a regular file"),
        ("bin", 1, "FS_NOT_TEXT", "cannot read \"bin\": binary file"),
        ("latin", 1, "FS_NOT_TEXT", "cannot read \"latin\": invalid UTF-8 text"),
        ("empty", 2, "FS_NOT_FOUND", "offset 2 is out of range for \"empty\" (0 lines)"),
        ("one", 2, "FS_NOT_FOUND", "offset 2 is out of range for \"one\" (1 lines)"),
        ("one", 9, "FS_NOT_FOUND", "offset 9 is out of range for \"one\" (1 lines)"),
    ] {
        let failed = stage.fail("read", json!({"file_path": path, "offset": offset})).await;
        assert_eq!(failed, (code.to_owned(), message.to_owned()));
        let seen = (path == "gone").then_some(&Observation::Absent);
        assert_eq!(stage.session.observations().get(path), seen, "{path}");
    }
}

#[tokio::test]
async fn a_file_is_read_in_pieces_from_a_size_on_or_where_the_size_is_not_known_or_wrong() {
    let read = ReadLimits { stream_from: 8, ..ReadLimits::default() };
    let stage = Stage::new(FileToolOptions::default().with_read(read));
    let small = ["resolve", "stat", "read_bytes"];
    let large = ["resolve", "stat", "stream_text"];
    let grown = ["resolve", "stat", "read_bytes", "stream_text"];
    stage.files.put("7", "äbc\nd\n").put("8", "äbc\nde\n").put_claiming("?", "äbc\nd\n", None);
    stage.files.put_claiming("grown", "äbc\nde\nf\n", Some(2));
    for (path, calls) in [("7", &small[..]), ("8", &large), ("?", &large), ("grown", &grown)] {
        let output = stage.call("read", json!({"file_path": path})).await;
        assert!(output.text.contains("\n1: äbc\n2: d"), "{}", output.text);
        assert_eq!(stage.files.calls(), calls, "{path}");
    }
}

#[tokio::test]
async fn without_a_session_nothing_is_seen() {
    let stage = stage();
    stage.files.put("a", "x");
    let context = CallContext::without_session(&stage.cancel);
    assert_eq!(stage.tools.call("read", &json!({"file_path": "a"}), context).await.is_error, None);
    let edit = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
    let (code, message) = failure(stage.tools.call("edit", &edit, context).await);
    assert_eq!(
        (&*code, &*message),
        ("FS_NOT_OBSERVED", "edit requires reading \"a\" first — read the file, then retry")
    );
}

#[tokio::test]
async fn no_path_breaks_a_line() {
    let stage = stage();
    let (_, message) = stage.fail("read", json!({"file_path": "a\n</path>\u{202e}"})).await;
    assert_eq!(message, "cannot read \"a\\u{a}</path>\\u{202e}\": not found");
}
