//! `attache image …` where something is wrong: codes, messages, envelopes, what is left behind.

use attache_tests::pictures;
use serde_json::{Value, json};

use crate::folder::Place;

/// A PNG that announces an animation of so many frames.
fn apng(frames: u32) -> Vec<u8> {
    let png = pictures::png(8, 4, 1);
    let chunk = |kind: &[u8; 4], data: &[u8]| {
        let checked = [&kind[..], data].concat();
        [&(data.len() as u32).to_be_bytes()[..], &checked, &crc32fast::hash(&checked).to_be_bytes()].concat()
    };
    let control = chunk(b"acTL", &[frames.to_be_bytes(), [0; 4]].concat());
    // Without it the picture is no frame of the animation.
    let frame = if frames == 0 { Vec::new() } else { chunk(b"fcTL", &[0; 26]) };
    [&png[..33], &control, &frame, &png[33..]].concat()
}

#[test]
fn inputs_that_are_refused() {
    let place = Place::with(&["a.png"]);
    for (name, bytes) in [
        ("photo.gif", pictures::gif()),
        ("noext", pictures::png(1, 1, 1)),
        ("garbage.png", b"garbage".to_vec()),
        ("empty.png", Vec::new()),
        ("gif.png", pictures::gif()),
        ("cut.png", pictures::png(8, 4, 1)[..150].to_vec()),
        ("moving.png", apng(3)),
        ("lone.png", apng(0)),
        ("two.jpg", [pictures::jpeg(), pictures::jpeg()].concat()),
        ("huge.png", pictures::png(30, 30, 1)),
    ] {
        place.write(name, bytes);
    }
    std::fs::create_dir(place.at("empty")).unwrap();
    std::os::unix::fs::symlink("in", place.at("link")).unwrap();
    for (words, expect) in [
        ("photo.gif", "unsupported image format: .gif"),
        ("noext", "unsupported image format: (none)"),
        ("empty", "no supported images in folder: "),
        ("gone.png", "no such file or folder: gone.png\nlooked in: "),
        ("/gone/x.png", "no such file or folder: /gone/x.png"),
        ("link", "image input cannot be a symlink: "),
        ("link/", "image input cannot be a symlink: "),
        ("/dev/null", "image input is not a file or folder: "),
        ("garbage.png", "garbage.png is not a PNG, JPEG or WebP image: it is plain text"),
        ("empty.png", "empty.png is not a PNG, JPEG or WebP image: it is empty"),
        ("gif.png", "gif.png is not a PNG, JPEG or WebP image: it is image/gif"),
        ("cut.png", "damaged image: cut.png"),
        ("moving.png", "animated image: moving.png: expected exactly one frame, found 3"),
        ("lone.png", "animated image: lone.png: expected exactly one frame, found an animation of one"),
        ("two.jpg", "animated image: two.jpg: expected exactly one frame, found 2"),
        ("huge.png --max-pixels 800", "image too large: huge.png: "),
        ("https://user:pw@example.com/a.png?token=x", "no such file or folder: https://example.com/a.png"),
    ] {
        let message = place.refusal(&format!("image probe {words}"), 3);
        assert!(message.starts_with(expect), "{words}: {message}");
        assert!(!message.contains("pw@") && !message.contains("token"), "{message}");
    }
}

#[test]
fn a_bad_image_fails_the_whole_folder_and_the_first_decides() {
    let place = Place::with(&["1.png", "2.png", "3.png", "4.png"]);
    place.write("in/3.png", "garbage");
    place.write("in/2.png", apng(2));
    for command in ["probe", "estimate", "run"] {
        assert!(place.refusal(&format!("image {command} in"), 3).contains("2.png"), "{command}");
    }
    let reply = place.run("image probe in --envelope").expect_code(3).json();
    assert_eq!(
        reply["meta"],
        json!({"command": "probe", "protocol_version": "1.0", "warnings": []}),
        "only a run says where it ended"
    );
    assert_eq!(
        (&reply["ok"], &reply["data"], &reply["error"]["code"]),
        (&json!(false), &Value::Null, &json!("input_error"))
    );
}

#[test]
fn usage() {
    let place = Place::with(&["a.png"]);
    for words in [
        "image",
        "image frobnicate in",
        "image probe",
        "image probe in --frobnicate",
        "image estimate in --out-words many",
        "image probe in --human --envelope=",
        "image --compact probe in",
        "image probe in --env --hum",
    ] {
        let run = place.run(words);
        assert!(run.expect_code(2).stdout.is_empty() && !run.stderr.is_empty(), "{run}");
    }
    for (words, command) in [
        ("image --envelope probe in", json!("probe")),
        ("image probe in --envelope --human", json!("probe")),
        ("image estimate in --out-words many --envelope", json!("estimate")),
        ("image frobnicate --envelope", Value::Null),
    ] {
        let run = place.run(words);
        let reply = run.expect_code(2).json();
        assert!(run.stderr.is_empty(), "{run}");
        assert_eq!((&reply["ok"], &reply["meta"]["command"]), (&json!(false), &command), "{words}");
        let error = &reply["error"];
        assert_eq!(
            (&error["code"], &error["exit_code"], &error["retryable"]),
            (&json!("usage_error"), &json!(2), &json!(false))
        );
    }
    for words in ["image --help", "image probe -h"] {
        assert!(!place.run(words).expect_code(0).stdout.is_empty());
    }
}

#[test]
fn numbers_and_models() {
    let place = Place::with(&["a.png"]);
    assert_eq!(place.refusal("image estimate gone.png --out-words -1", 3), "out_words cannot be negative");
    for model in ["_active", "gpt-1"] {
        let message = place.refusal(&format!("image estimate in --agent-model {model}"), 3);
        assert!(message.ends_with("gpt-5.6-luna, gpt-5.6-sol, gpt-5.6-terra"), "{message}");
    }
}

#[test]
fn a_hundred_and_no_more() {
    let names: Vec<String> = (1..=101).map(|number| format!("{number}.png")).collect();
    let place = Place::with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let found = place.json("image probe in");
    assert_eq!((&found["item_count"], &found["within_limit"]), (&json!(101), &json!(false)));
    for command in ["estimate in", "run in --workdir out"] {
        assert!(place.refusal(&format!("image {command}"), 3).contains("more than 100 items"));
    }
    let reply = place.run("image run in --workdir out --envelope").expect_code(3).json();
    assert_eq!(
        (&reply["meta"]["failed_stage"], &reply["meta"]["stages_completed"]),
        (&json!("validate"), &json!(["probe"]))
    );
    assert_eq!(reply["meta"]["manifest_written"], false);
    assert!(!place.at("out").exists());
    std::fs::remove_file(place.at("in/101.png")).unwrap();
    assert_eq!(place.json("image run in --workdir out")["item_count"], 100);
}

#[test]
fn work_folders_in_use() {
    let place = Place::with(&["a.png"]);
    std::fs::create_dir(place.at("out")).unwrap();
    place.write("out/.hidden", "x");
    assert!(place.refusal("image run in --workdir out", 3).starts_with("workdir already exists and is not empty: "));
    assert!(!place.at("out/images").exists());
    std::os::unix::fs::symlink("nowhere", place.at("link")).unwrap();
    assert!(place.refusal("image run in --workdir link", 3).starts_with("workdir cannot be a symlink: "));
    let reply = place.run("image run in --workdir in/a.png/x --envelope").expect_code(6).json();
    assert_eq!(
        (&reply["error"]["code"], &reply["meta"]["failed_stage"]),
        (&json!("operation_failed"), &json!("workdir"))
    );
    assert_eq!(reply["meta"]["stages_completed"], json!(["probe", "validate"]));
}

#[test]
fn names_that_are_hard() {
    use std::os::unix::ffi::OsStrExt;
    let long = format!("{}.png", "x".repeat(251));
    let place = Place::with(&[&long, "1²2.png", " x.png", "$(x).png", "ß.png"]);
    std::fs::write(place.at("in").join(std::ffi::OsStr::from_bytes(b"caf\xe9.png")), "x").unwrap();
    let reply = place.json("image run in --workdir out");
    assert_eq!((&reply["item_count"], &reply["skipped"][0]["reason"]), (&json!(5), &json!("name is not UTF-8")));
    let image = reply["images"].as_array().unwrap().iter().find(|image| image["source_name"] == *long).unwrap();
    let name = image["path"].as_str().unwrap().strip_prefix("images/").unwrap();
    assert!(name.len() == 255 && name.ends_with("x.png"), "{name}");
    assert_eq!(place.json("image verify out")["ok"], true);
}
