//! `attache render` and `attache show`: what a model receives, and why.

use std::os::unix::fs::symlink;

use attache_tests::message::{inline_image, record, text};
use attache_tests::{pictures, sha256};
use serde_json::{Value, json};

use crate::session::Session;

fn picture(n: u64) -> Vec<u8> {
    pictures::png(2, 2, n)
}

/// A conversation of `count` user messages with a picture each.
fn album(count: u64) -> Session {
    let session = Session::new();
    let messages: Vec<_> = (0..count)
        .map(|n| json!({"role": "user", "content": [text(format!("picture {n}")), inline_image("image/png", &picture(n))]}))
        .collect();
    session.append(&messages);
    session
}

fn states(session: &Session, words: &str) -> Vec<String> {
    let shown = session.json(&format!("show {words}"));
    let images = shown["images"].as_array().unwrap();
    images.iter().map(|image| image["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_newest_are_shown_and_the_others_are_lines() {
    let session = album(3);
    let log = session.log();
    let shown = session.render("--keep 2");
    let old = picture(0);
    let line = shown[0]["content"][1]["text"].as_str().unwrap();
    let begins = format!("[image not shown: image/png, {} bytes, sha256 {}; ", old.len(), sha256(&old));
    assert!(line.starts_with(&begins) && line.ends_with(']') && line.contains('2'), "{line}");
    for (n, message) in (1..).zip(&shown[1..]) {
        assert_eq!(message["content"][1], inline_image("image/png", &picture(n)));
    }
    assert_eq!(session.log(), log, "a render changes nothing");
}

#[test]
fn what_cannot_be_shown_is_a_line_and_what_is_not_ours_passes() {
    let session = album(3);
    let [missing, short, other] = [0, 1, 2].map(picture);
    std::fs::remove_file(session.blob(&sha256(&missing))).unwrap();
    std::fs::write(session.blob(&sha256(&short)), &short[..short.len() - 1]).unwrap();
    let mut changed = other.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(session.blob(&sha256(&other)), changed).unwrap();
    let mut escape = record("image/png", b"");
    escape["source"]["sha256"] = json!("../../etc/passwd");
    let linked = picture(7);
    let url = json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}});
    let provider = json!({"type": "image", "source": {"type": "file", "file_id": "file_1"}});
    let content = [escape, record("image/png", &linked), url.clone(), provider.clone()];
    session.append(&[json!({"role": "user", "content": content})]);
    std::fs::write(session.path("elsewhere"), &linked).unwrap();
    symlink(session.path("elsewhere"), session.blob(&sha256(&linked))).unwrap();

    let blocks: Vec<_> = session.rendered_blocks("").into_iter().filter(|block| !is_caption(block)).collect();
    for (block, bytes) in blocks.iter().zip([&missing, &short, &other]) {
        let line = format!("[image unavailable: image/png, {} bytes, sha256 {}]", bytes.len(), sha256(bytes));
        assert_eq!(*block, text(line));
    }
    assert_eq!(blocks[3], text("[image unavailable: image/png, 0 bytes, sha256 ../../etc/passwd]"));
    assert!(blocks[4]["text"].as_str().unwrap().starts_with("[image unavailable: "), "a link is not followed");
    assert_eq!(blocks[5..], [url, provider]);
    assert_eq!(states(&session, ""), ["missing"; 5]);
    // They keep their slots: the newest two are the malformed one and the link.
    assert_eq!(states(&session, "--keep 2"), ["aged", "aged", "aged", "missing", "missing"]);
}

fn is_caption(block: &Value) -> bool {
    block["text"].as_str().is_some_and(|text| text.starts_with("picture "))
}

#[test]
fn a_render_is_the_same_bytes_after_every_restart() {
    let session = album(8);
    let first = session.run("render -c ctx --keep 3").expect_code(0).stdout.clone();
    for _ in 0..3 {
        assert!(session.run("render -c ctx --keep 3").expect_code(0).stdout == first);
    }
    let report = session.json("render --keep 3 --out request.json");
    assert_eq!(report, json!({"out": "request.json", "bytes": first.len(), "messages": 8}));
    assert!(std::fs::read(session.path("request.json")).unwrap() == first);
    let run = session.run("render -c ctx --json --out absent/request.json");
    assert_eq!(run.expect_code(6).json()["error"]["code"], "io_error");
}

#[test]
fn the_stable_policy_keeps_the_prefix_for_prompt_caches() {
    let session = album(5);
    let words = "render -c ctx --policy stable --keep 3 --step 4";
    let mut breaks = 0;
    let mut previous = session.run(words).expect_code(0).stdout.clone();
    for n in 5..17 {
        let content = [inline_image("image/png", &picture(n))];
        session.append(&[json!({"role": "user", "content": content})]);
        let next = session.run(words).expect_code(0).stdout.clone();
        // Without the closing bracket and newline.
        breaks += usize::from(!next.starts_with(&previous[..previous.len() - 2]));
        let shown = states(&session, "--policy stable --keep 3 --step 4");
        let count = shown.iter().filter(|state| *state == "shown").count();
        assert!((3..7).contains(&count), "{shown:?}");
        previous = next;
    }
    assert_eq!(breaks, 3, "12 more images move the boundary every 4");
}

#[test]
fn an_open_turn_and_pinned_images_are_shown_beyond_keep() {
    let session = album(2);
    session.append(&[json!({"role": "assistant", "content": "I see."})]);
    let tool = [3, 4].map(|n| inline_image("image/png", &picture(n)));
    session.append(&[json!({"role": "tool", "tool_call_id": "c", "content": tool})]);
    assert_eq!(states(&session, "--keep 1"), ["aged", "aged", "aged", "shown"]);
    assert_eq!(states(&session, "--keep 1 --open-turn"), ["aged", "aged", "shown", "shown"]);
    assert_eq!(states(&session, "--keep 1 --pin-user"), ["shown", "shown", "aged", "shown"]);
    assert_eq!(states(&session, "--keep 0"), ["aged"; 4]);
    // Pruned from the request, never from the store.
    assert_eq!(states(&session, ""), ["shown"; 4]);
}

#[test]
fn show_lists_every_image_with_its_place() {
    let session = album(2);
    let bytes = picture(1);
    let shown = session.json("show --keep 1");
    assert_eq!(shown["messages"], 2);
    let expected = json!({
        "index": 1, "sha256": sha256(&bytes), "media_type": "image/png", "bytes": bytes.len(), "state": "shown",
        "message": 1,
    });
    assert_eq!(shown["images"][1], expected);
    assert_eq!(shown["images"][0]["state"], "aged");
}

#[test]
fn after_a_restart_a_new_image_is_not_taken_for_the_old_one() {
    let session = Session::new();
    for n in 0..2 {
        session.write("shot.png", picture(n));
        session.attach("shot.png");
        let last = session.rendered_blocks("--keep 1").pop().unwrap();
        assert_eq!(last, inline_image("image/png", &picture(n)));
    }
}

#[test]
fn readers_of_what_is_not_there_make_nothing() {
    let session = Session::new();
    for command in ["render", "show", "check", "sweep", "withhold abc", "restore abc", "check --repair"] {
        let error = session.run(&format!("{command} -c ctx --json")).expect_code(3).json();
        assert_eq!(error["error"]["code"], "conversation_not_found", "{command}");
        assert_eq!((&error["ok"], &error["error"]["exit_code"]), (&json!(false), &json!(3)));
    }
    assert!(!session.context().exists());
    for keep in ["--keep 1001", "--keep 18446744073709551615"] {
        let error = session.run(&format!("render -c ctx --json {keep}")).expect_code(3).json();
        assert_eq!(error["error"]["code"], "limit_out_of_range", "{keep}");
    }
}
