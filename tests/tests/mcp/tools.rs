//! What the tools say of themselves, and what they do.

use attache_tests::pictures;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::client::{Place, code, text};

fn names(listed: &Value) -> Vec<&str> {
    listed["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_tools_are_described() {
    let place = Place::new();
    let mut client = place.serve(&[]);
    let listed = client.request("tools/list", json!({}));
    assert_eq!(names(&listed), ["read", "read_image", "write", "edit"]);
    for (at, read_only, destructive, idempotent) in
        [(0, true, false, true), (1, true, false, true), (2, false, true, true), (3, false, true, false)]
    {
        let tool = &listed["result"]["tools"][at];
        let hints = &tool["annotations"];
        assert_eq!(
            (&hints["readOnlyHint"], &hints["destructiveHint"], &hints["idempotentHint"], &hints["openWorldHint"]),
            (&json!(read_only), &json!(destructive), &json!(idempotent), &json!(false)),
            "{tool}"
        );
        assert_eq!(tool["inputSchema"]["required"][0], "file_path");
        assert_eq!(tool["outputSchema"]["type"], "object");
    }
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn files_are_read_written_and_edited_by_the_policy() {
    let place = Place::new();
    std::fs::write(place.work("a.txt"), "one\r\ntwo\n").unwrap();
    let mut client = place.serve(&[]);

    let unseen = client.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "1"}));
    assert_eq!(code(&unseen), "FS_NOT_OBSERVED");
    let unseen = client.call("write", json!({"file_path": "a.txt", "content": "gone"}));
    assert_eq!(code(&unseen), "FS_NOT_OBSERVED");

    let read = client.call("read", json!({"file_path": "a.txt"}));
    assert!(text(&read).contains("1: one\n2: two\n"), "{read}");
    let lines = json!([{"number": 1, "text": "one"}, {"number": 2, "text": "two"}]);
    let expected = json!({"path": "a.txt", "offset": 1, "lines": lines, "totalLines": 2});
    assert_eq!(read["structuredContent"], expected);

    let edited = client.call("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "1"}));
    assert_eq!(text(&edited), "The file a.txt has been updated successfully.");
    assert_eq!(edited["structuredContent"]["hunks"][0]["lines"], json!(["-one", "+1", " two"]));
    assert_eq!(std::fs::read(place.work("a.txt")).unwrap(), b"1\r\ntwo\n");

    std::fs::write(place.work("a.txt"), "changed by another\n").unwrap();
    let stale = client.call("write", json!({"file_path": "a.txt", "content": "gone"}));
    assert_eq!(code(&stale), "FS_STALE_VERSION");
    let written = client.call("write", json!({"file_path": "new/b.txt", "content": "b"}));
    assert_eq!(written["structuredContent"]["created"], true);
    assert_eq!(std::fs::read(place.work("new/b.txt")).unwrap(), b"b");
    assert_eq!(std::fs::read(place.work("a.txt")).unwrap(), b"changed by another\n");
}

#[test]
fn a_read_only_server_has_no_tool_that_writes() {
    let place = Place::new();
    std::fs::write(place.work("a.txt"), "one\n").unwrap();
    let mut client = place.serve(&["--read-only"]);
    assert_eq!(names(&client.request("tools/list", json!({}))), ["read", "read_image"]);
    client.call("read", json!({"file_path": "a.txt"}));
    for (tool, arguments) in [
        ("write", json!({"file_path": "a.txt", "content": "x"})),
        ("edit", json!({"file_path": "a.txt", "old_string": "one", "new_string": "x"})),
        ("remove", json!({})),
    ] {
        assert_eq!(code(&client.call(tool, arguments)), "unknown_tool");
    }
    assert_eq!(std::fs::read(place.work("a.txt")).unwrap(), b"one\n");
}

#[test]
fn odd_arguments_and_odd_requests_get_an_answer() {
    let place = Place::new();
    let mut client = place.serve(&[]);
    for arguments in
        [json!({}), json!({"file_path": 7}), json!({"file_path": ""}), json!({"file_path": "a", "offset": -1})]
    {
        for tool in ["read", "read_image", "write", "edit"] {
            assert!(!code(&client.call(tool, arguments.clone())).is_empty());
        }
    }
    assert!(client.request("no/such/method", json!({}))["error"]["code"].is_i64());
    assert!(client.request("resources/read", json!({"uri": "attache://blobs/00"}))["error"]["code"].is_i64());
    assert!(client.request("resources/list", json!({"cursor": "x"}))["error"]["code"].is_i64());
}

#[test]
fn calls_run_side_by_side_and_a_cancelled_one_leaves_the_others() {
    let place = Place::new();
    std::fs::write(place.work("a.txt"), "one\n".repeat(100_000)).unwrap();
    std::fs::write(place.work("a.png"), pictures::png(3, 3, 0)).unwrap();
    let mut client = place.serve(&[]);
    let mut open = Vec::new();
    for n in 0..40 {
        let (tool, arguments) = match n % 4 {
            0 => ("read_image", json!({"file_path": "a.png"})),
            1 => ("write", json!({"file_path": format!("{n}.txt"), "content": n.to_string()})),
            _ => ("read", json!({"file_path": "a.txt", "offset": 99_990})),
        };
        open.push(client.ask("tools/call", json!({"name": tool, "arguments": arguments})));
    }
    let cancelled = client.ask("tools/call", json!({"name": "read", "arguments": {"file_path": "a.txt"}}));
    client.notify("notifications/cancelled", json!({"requestId": cancelled, "reason": "as arranged"}));
    while !open.is_empty() {
        let answer = client.receive();
        if answer["id"] != cancelled {
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            open.retain(|id| answer["id"] != *id);
        }
    }
    assert_eq!(std::fs::read(place.work("37.txt")).unwrap(), b"37");
}

#[test]
fn a_signal_ends_the_server_though_its_input_is_open() {
    let place = Place::new();
    let mut client = place.serve(&[]);
    client.call("read", json!({"file_path": "a"}));
    kill_process(Pid::from_raw(client.id().try_into().unwrap()).unwrap(), Signal::TERM).unwrap();
    assert_eq!(client.wait(), Some(0));
}
