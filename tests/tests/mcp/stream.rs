//! What a client writes without waiting, and lines that are no messages: calls are taken up in order, and every request is answered.

use attache_tests::attache;
use serde_json::{Value, json};

use crate::client::{Place, text};

/// Calls that are written at once.
fn at_once(calls: &[(&str, Value)]) -> String {
    let line = |(at, (tool, arguments)): (usize, &(&str, Value))| {
        let params = json!({"name": tool, "arguments": arguments});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": 1_000 + at, "method": "tools/call", "params": params}))
    };
    calls.iter().enumerate().map(line).collect()
}

#[test]
fn calls_that_are_written_at_once_run_in_order() {
    let place = Place::new();
    let mut client = place.serve(&[]);
    for round in 0..25 {
        let (file, lines) = (format!("{round}.txt"), |n: usize| format!("{n}\n").repeat(n));
        std::fs::write(place.work(&file), "old\n").unwrap();
        let mut calls = vec![("read", json!({"file_path": file}))];
        calls.extend((1..6).map(|n| ("write", json!({"file_path": file, "content": lines(n)}))));
        calls.push(("read", json!({"file_path": file})));
        client.send_raw(at_once(&calls).as_bytes());
        let mut answers: Vec<Value> = calls.iter().map(|_| client.receive()).collect();
        answers.sort_by_key(|answer| answer["id"].as_u64());
        for answer in &answers {
            assert_eq!(answer["result"]["isError"], false, "round {round}: {answer}");
        }
        assert_eq!(answers[6]["result"]["structuredContent"]["totalLines"], 5, "round {round}");
        assert_eq!(std::fs::read_to_string(place.work(&file)).unwrap(), lines(5));
    }
}

#[test]
fn requests_that_cannot_be_read_are_answered_by_their_ids() {
    let place = Place::new();
    std::fs::write(place.work("a.txt"), "one\n").unwrap();
    let mut client = place.serve(&[]);
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    for (id, value) in [r#""\ud83d""#, "1e400", &*deep].into_iter().enumerate() {
        for line in [
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"read","arguments":{{"file_path":{value}}}}}}}"#
            ),
            format!(
                r#"{{"method":"tools/call","params":{{"name":"read","arguments":{{"file_path":{value}}}}},"jsonrpc":"2.0","id":{id}}}"#
            ),
        ] {
            client.send_raw(format!("{line}\n").as_bytes());
            let answer = client.receive();
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32_700)), "{line}: {answer}");
        }
    }
    client.send_raw(b"hello\n{\"half\n\xff\xfe\n\n");
    assert!(text(&client.call("read", json!({"file_path": "a.txt"}))).contains("1: one\n"));
    assert_eq!(client.leave(), Some(0));
}

#[test]
fn a_message_may_have_64_mib_and_a_longer_one_is_refused() {
    const LIMIT: usize = 64 << 20;
    let place = Place::new();
    let mut client = place.serve(&[]);
    let request = |id: u64, length: usize| {
        let begin = r#"{"method":"tools/call","params":{"name":"write","arguments":{"file_path":"big.txt","content":""#;
        let end = format!(r#""}}}},"jsonrpc":"2.0","id":{id}}}"#);
        let filling = "x".repeat(length - begin.len() - end.len());
        format!("{begin}{filling}{end}\n")
    };
    client.send_raw(request(1, LIMIT + 1).as_bytes());
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32_600)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("67108864 bytes"), "{answer}");
    assert!(!place.work("big.txt").exists());
    client.send_raw(request(2, LIMIT).as_bytes());
    let answer = client.receive();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(2), &json!(false)), "{answer}");
    let written = std::fs::metadata(place.work("big.txt")).unwrap().len();
    assert!(written > (LIMIT - 1_000) as u64, "{written}");
}

#[test]
fn a_last_line_without_an_end_is_a_message_too() {
    let place = Place::new();
    let mut client = place.serve(&[]);
    let call = at_once(&[("write", json!({"file_path": "last.txt", "content": "last"}))]);
    client.send_raw(call.trim_end().as_bytes());
    client.close_input();
    assert_eq!(client.receive()["result"]["isError"], false);
    assert_eq!(client.wait(), Some(0));
    assert_eq!(std::fs::read(place.work("last.txt")).unwrap(), b"last");
}

#[test]
fn a_client_that_says_nothing_of_use_is_no_failure() {
    let place = Place::new();
    for input in ["", "\n", "hello\n"] {
        let call = attache("mcp --workdir work".split(' ')).current_dir(place.path("")).stdin(input);
        assert!(call.run().expect_code(0).stdout.is_empty(), "{input:?}");
    }
}
