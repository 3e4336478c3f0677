//! `attache profiles`: what routes accept, and profiles of one's own.

use serde_json::{Value, json};

use crate::session::Session;

#[test]
fn all_of_them() {
    let session = Session::new();
    let document = session.json_alone("profiles");
    let profiles = document["profiles"].as_array().unwrap();
    let ids: Vec<&str> = profiles.iter().map(|profile| profile["id"].as_str().unwrap()).collect();
    assert!(ids.len() == 16 && ids.is_sorted(), "{ids:?}");
    let text = session.run("profiles").expect_code(0).text().to_owned();
    let lines: Vec<&str> = text.lines().collect();
    for (line, id) in lines[1..].iter().zip(&ids) {
        assert!(line.starts_with(id), "{line}");
    }
    // Each column begins where its head does.
    for head in ["wire", "per image", "images", "edge", "body", "tokens"] {
        let at = lines[0].find(head).unwrap();
        assert!(
            lines[1..=16].iter().all(|line| line.as_bytes()[at - 1] == b' ' && line.as_bytes()[at] != b' '),
            "{text}"
        );
    }
    let row: Vec<_> = lines[1].split_whitespace().collect();
    assert_eq!(row, ["anthropic", "anthropic.messages", "5242880", "b64", "100", "2000", "32000000", "patch", "28"]);
}

#[test]
fn one_of_them() {
    let session = Session::new();
    let profile = session.json_alone("profiles anthropic");
    assert_eq!((&profile["id"], &profile["wire"]), (&json!("anthropic"), &json!("anthropic.messages")));
    let limit = &profile["limits"]["per_image"];
    for (key, value) in [
        ("max", json!(5_242_880)),
        ("unit", json!("b64_chars")),
        ("scope", json!("each")),
        ("alt", json!(10_485_760)),
        ("conflict", json!(true)),
        ("src", json!("I")),
        ("as_of", json!("2026-09")),
    ] {
        assert_eq!(limit[key], value, "{key}");
    }
    let all = session.json_alone("profiles");
    assert!(all["profiles"].as_array().unwrap().contains(&profile));
    insta::assert_snapshot!("profiles-gemini", session.run("profiles gemini").expect_code(0).text());

    let run = session.run("profiles nobody");
    let text = run.expect_code(3).error_text();
    assert!(text.contains("\"nobody\"") && text.contains("anthropic, anthropic-bedrock, "), "{text}");
    let error = session.run("profiles nobody --json").expect_code(3).json()["error"].clone();
    assert_eq!((&error["code"], &error["exit_code"]), (&json!("unknown_profile"), &json!(3)));
}

#[test]
fn one_of_ones_own() {
    let session = Session::new();
    let check = |text: &str| {
        std::fs::write(session.path("mine.toml"), text).unwrap();
        session.run("profiles --file mine.toml --json")
    };
    let mine = check("extends = 'anthropic'\nid = 'mine'\nlimits.per_image.max = 10_485_760\n").expect_code(0).json();
    let limit = &mine["limits"]["per_image"];
    assert_eq!((&mine["id"], &limit["max"], &limit["src"]), (&json!("mine"), &json!(10_485_760), &json!("set")));
    assert_eq!((&limit["alt"], &limit["as_of"]), (&Value::Null, &Value::Null));
    assert_eq!(mine["limits"]["request_bytes"]["max"], 32_000_000);
    let text = session.run("profiles --file mine.toml").expect_code(0).text().to_owned();
    assert!(
        text.starts_with("mine (anthropic.messages)\n") && text.contains("10485760 characters of base64"),
        "{text}"
    );

    for (text, parts) in [
        ("extends = 'anthropic'\nlimits.per_image.max = '5 MB'", ["limits.per_image.max: ", "\"5 MB\""]),
        ("extends = 'anthropic'\nlimits.per_imagee.max = 5", ["limits.per_imagee: ", "unknown field `per_imagee`"]),
        ("extends = 'nobody'", ["extends: ", "\"nobody\""]),
        ("id = 'mine'", ["missing field", "wire"]),
        ("id = ", ["line 1", ""]),
        ("\"\\u001b[2J\" = 5\nextends = 'xai'", ["unknown field", "\\u{1b}"]),
    ] {
        let error = check(text).expect_code(3).json()["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert_eq!(error["code"], "invalid_profile", "{message}");
        assert!(message.starts_with("\"mine.toml\": ") && !message.contains('\x1b'), "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{text}: {message}");
    }
    let error = session.run("profiles --file gone.toml --json").expect_code(3).json()["error"].clone();
    assert_eq!(error["code"], "io_error");
    assert!(error["message"].as_str().unwrap().contains("gone.toml"), "{error}");
    session.run("profiles anthropic --file mine.toml").expect_code(2);
}
