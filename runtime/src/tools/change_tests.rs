use serde_json::json;

use crate::tools::testing::Stage;
use crate::tools::{DiffMeta, FileToolOptions, Observation};

fn stage() -> Stage {
    Stage::new(FileToolOptions::default())
}

fn at(path: &str) -> serde_json::Value {
    json!({"file_path": path})
}

fn write(path: &str, content: &str) -> serde_json::Value {
    json!({"file_path": path, "content": content})
}

fn edit(path: &str, old: &str, new: &str) -> serde_json::Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

fn pair(code: &str, message: &str) -> (String, String) {
    (code.to_owned(), message.to_owned())
}

fn hunks(output: &crate::tool::ToolOutput) -> String {
    let meta = DiffMeta::from_value(output.structured.as_ref().unwrap()).unwrap();
    meta.hunks.unwrap().iter().map(ToString::to_string).collect()
}

#[tokio::test]
async fn a_write_says_what_it_did_and_never_repeats_the_content() {
    let stage = stage();
    let created = stage.call("write", write("a.txt", "one\n")).await;
    let envelope = |done| format!("<path>a.txt</path>\n<type>file</type>\n<content>\n{done}\n</content>");
    assert_eq!((created.text.as_str(), created.is_error), (envelope("Created file").as_str(), None));
    assert_eq!(
        created.structured,
        Some(json!({
            "path": "a.txt",
            "created": true,
            "hunks": [{"oldStart": 0, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+one"]}],
        }))
    );
    let updated = stage.call("write", write("a.txt", "two\n")).await;
    assert_eq!(updated.text, envelope("Updated file"));
    assert_eq!(hunks(&updated), "@@ -1 +1 @@\n-one\n+two\n");
    assert_eq!(stage.files.text("a.txt").unwrap(), "two\n");
}

#[tokio::test]
async fn an_edit_says_what_it_did() {
    let stage = stage();
    stage.call("write", write("a.txt", "x y x\nz\n")).await;
    let one = stage.call("edit", edit("a.txt", "y", "$&")).await;
    assert_eq!(one.text, "The file a.txt has been updated successfully.");
    assert_eq!(hunks(&one), "@@ -1,2 +1,2 @@\n-x y x\n+x $& x\n z\n");
    let mut all = edit("a.txt", "x", "w");
    all["replace_all"] = json!(true);
    let all = stage.call("edit", all).await;
    assert_eq!(all.text, "The file a.txt has been updated. All occurrences were successfully replaced.");
    assert_eq!(stage.files.text("a.txt").unwrap(), "w $& w\nz\n");
}

#[tokio::test]
async fn arguments_are_judged_in_order_and_before_any_file() {
    let stage = stage();
    let blank = pair("FS_NOT_FOUND", "file_path must be a non-empty string");
    let argument = |message| pair("invalid_argument", message);
    for (tool, input, failed) in [
        ("write", write(" ", "x"), blank.clone()),
        ("write", json!({}), blank.clone()),
        ("write", at("a"), argument("content must be a string")),
        ("write", json!({"file_path": "a", "content": {}}), argument("content must be a string")),
        ("edit", edit("", "", ""), blank),
        ("edit", edit("a", "", ""), argument("old_string must be a non-empty string")),
        ("edit", at("a"), argument("old_string must be a non-empty string")),
        ("edit", edit("a", "x", "x"), argument("old_string and new_string must differ")),
        ("edit", edit("a", "x\r\n", "x\n"), argument("old_string and new_string must differ")),
        ("edit", json!({"file_path": "a", "old_string": "x"}), argument("new_string must be a string")),
        (
            "edit",
            json!({"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": "yes"}),
            argument("replace_all must be a boolean"),
        ),
    ] {
        assert_eq!(stage.fail(tool, input.clone()).await, failed, "{tool} {input}");
    }
    assert_eq!(stage.files.calls(), [""; 0]);
}

#[tokio::test]
async fn what_was_not_seen_is_neither_overwritten_nor_edited() {
    let stage = stage();
    stage.files.put("a", "theirs");
    let overwrite =
        pair("FS_NOT_OBSERVED", "cannot overwrite existing \"a\" without reading it first — read the file, then retry");
    let unread = pair("FS_NOT_OBSERVED", "edit requires reading \"a\" first — read the file, then retry");
    assert_eq!(stage.fail("write", write("a", "ours")).await, overwrite);
    assert_eq!(stage.fail("edit", edit("a", "t", "T")).await, unread);
    // Neither failure has seen anything.
    assert_eq!(stage.fail("write", write("a", "ours")).await, overwrite);
    assert_eq!(stage.files.text("a").unwrap(), "theirs");
    stage.call("read", at("a")).await;
    assert_eq!(stage.call("edit", edit("a", "t", "T")).await.is_error, None);
    assert_eq!(stage.call("write", write("a", "ours")).await.is_error, None);
    assert_eq!(stage.files.text("a").unwrap(), "ours");
}

#[tokio::test]
async fn what_changed_since_is_stale_until_it_is_read_again() {
    let stage = stage();
    stage.files.put("a", "1");
    stage.call("read", at("a")).await;
    stage.files.put("a", "2");
    let stale = |verb: &str| {
        let message = format!("cannot {verb} \"a\": file changed since it was read — re-read the file, then retry");
        pair("FS_STALE_VERSION", &message)
    };
    assert_eq!(stage.fail("write", write("a", "3")).await, stale("write"));
    assert_eq!(stage.fail("edit", edit("a", "2", "3")).await, stale("edit"));
    stage.call("read", at("a")).await;
    assert_eq!(stage.call("edit", edit("a", "2", "3")).await.is_error, None);
}

#[tokio::test]
async fn other_failures_have_no_remedy_and_change_nothing_that_was_seen() {
    let stage = stage();
    stage.files.put("a", "x x");
    stage.call("read", at("a")).await;
    let seen = stage.session.observations();
    for (input, code, message) in [
        (edit("a", "y", "z"), "FS_EDIT_NOT_FOUND", "old_string was not found in \"a\""),
        (
            edit("a", "x", "z"),
            "FS_AMBIGUOUS_EDIT",
            "old_string matched 2 times in \"a\"; provide a more specific old_string or set replace_all to true",
        ),
    ] {
        assert_eq!(stage.fail("edit", input).await, pair(code, message));
    }
    assert_eq!(stage.session.observations(), seen);
}

#[tokio::test]
async fn a_deleted_file_is_stale_then_absent_then_new() {
    let stage = stage();
    stage.files.put("a", "1");
    stage.call("read", at("a")).await;
    stage.files.delete("a");
    assert_eq!(stage.fail("edit", edit("a", "1", "2")).await.0, "FS_STALE_VERSION");
    assert_eq!(stage.fail("write", write("a", "2")).await.0, "FS_STALE_VERSION");
    assert_eq!(stage.files.text("a"), None, "a write never recreates what it meant to replace");
    let gone = pair("FS_NOT_FOUND", "cannot read \"a\": not found");
    assert_eq!(stage.fail("read", at("a")).await, gone);
    assert_eq!(stage.session.observations().get("a"), Some(&Observation::Absent));
    let absent = pair("FS_NOT_FOUND", "cannot edit \"a\": not found");
    assert_eq!(stage.fail("edit", edit("a", "1", "2")).await, absent);
    let created = stage.call("write", write("a", "2")).await;
    assert!(created.text.contains("Created file"), "{}", created.text);
    assert_eq!(stage.call("edit", edit("a", "2", "3")).await.is_error, None);
}

#[tokio::test]
async fn a_window_is_enough_to_edit_elsewhere() {
    let stage = stage();
    stage.files.put("a", "1\n2\n3\n");
    stage.call("read", json!({"file_path": "a", "offset": 1, "limit": 1})).await;
    assert_eq!(stage.call("edit", edit("a", "3", "three")).await.is_error, None);
    assert_eq!(stage.files.text("a").unwrap(), "1\n2\nthree\n");
}

#[tokio::test]
async fn without_the_policy_everything_is_unconditional() {
    let stage = Stage::new(FileToolOptions::default().with_policy(false));
    stage.files.put("a", "1");
    assert_eq!(stage.call("edit", edit("a", "1", "2")).await.is_error, None);
    stage.files.put("a", "other");
    assert_eq!(stage.call("write", write("a", "3")).await.is_error, None);
    stage.call("read", at("a")).await;
    assert_eq!(stage.session.observations(), Default::default());
    // The file system alone speaks then, and its remedy is the same.
    let stale = "cannot edit \"gone\": file changed since it was read — re-read the file, then retry";
    assert_eq!(stage.fail("edit", edit("gone", "1", "2")).await, pair("FS_STALE_VERSION", stale));
}

#[tokio::test]
async fn a_resumed_session_goes_on_with_what_it_saw() {
    let first = stage();
    first.files.put("kept", "1").put("changed", "1");
    first.call("read", at("kept")).await;
    first.call("read", at("changed")).await;
    first.files.put("changed", "2");
    let saved = serde_json::to_string(&first.session.observations()).unwrap();

    let resumed = Stage { session: crate::tools::FileSession::resume(serde_json::from_str(&saved).unwrap()), ..first };
    assert_eq!(resumed.call("edit", edit("kept", "1", "2")).await.is_error, None);
    assert_eq!(resumed.fail("write", write("changed", "3")).await.0, "FS_STALE_VERSION");
}

#[tokio::test]
async fn one_file_is_one_file_however_it_is_spelled() {
    let stage = stage();
    stage.files.put("a", "1");
    stage.call("read", at("./a")).await;
    assert_eq!(stage.call("edit", edit("a", "1", "2")).await.is_error, None);
}
