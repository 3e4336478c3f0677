//! `attache view`: the page of a conversation, and the demo's.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use attache_tests::message::inline_image;
use attache_tests::{pictures, sha256};
use serde_json::json;

use crate::session::Session;

fn page(session: &Session) -> String {
    fs::read_to_string(session.path("page.html")).unwrap()
}

#[test]
fn the_page_shows_all_four_states_and_what_the_model_sees_instead() {
    let session = Session::new();
    // In order: aged, withheld, missing, damaged, shown.
    let images: Vec<_> = (0..5).map(|n| pictures::png(20, 10, n)).collect();
    let shas: Vec<_> = images.iter().map(|bytes| sha256(bytes)).collect();
    for bytes in &images {
        session.append(&[json!({"role": "user", "content": [inline_image("image/png", bytes)]})]);
    }
    session.json(&format!("withhold {}", shas[1]));
    fs::remove_file(session.blob(&shas[2])).unwrap();
    fs::write(session.blob(&shas[3]), vec![7; images[3].len()]).unwrap();
    let log = session.log();

    let reply = session.json("view --keep 3 --out page.html");
    assert_eq!(reply, json!({"out": session.path("page.html").canonicalize().unwrap()}));
    let html = page(&session);
    for (state, count) in [("aged", 1), ("withheld", 1), ("missing", 2), ("shown", 1)] {
        let figures = html.matches(&format!("<figure class=\"image {state}\"")).count();
        assert_eq!(figures, count, "{state}: {html}");
    }
    assert_eq!(html.matches("<img ").count(), 2, "the aged one and the shown one: {html}");
    for part in ["No picture: the stored image is missing", "No picture: the stored image is damaged"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let withheld = html.split("<figure ").find(|figure| figure.contains(&shas[1])).unwrap();
    assert!(!withheld.contains("<img") && !withheld.contains("data:"), "{withheld}");
    for sha in &shas {
        assert!(html.contains(&format!("title=\"{sha}\"")), "{sha}: {html}");
    }
    let lines = session.rendered_blocks("--keep 3");
    let lines: Vec<_> = lines.iter().filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(lines.len(), 4);
    for line in lines {
        assert!(html.contains(&format!("<code class=\"line\">{line}</code>")), "{line}: {html}");
    }
    assert_eq!(session.log(), log, "nothing is written to the conversation");

    session.json("view --keep 3 --out page.html");
    assert_eq!(page(&session), html, "the same conversation makes the same page");
    assert_eq!(fs::metadata(session.path("page.html")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn nothing_in_a_message_is_markup() {
    let session = Session::new();
    let hostile = "</div><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\n\"'";
    session.append(&[
        json!({"role": hostile, "content": hostile}),
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": hostile, "name": hostile, "input": {hostile: hostile}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": hostile, "content": hostile}, {"type": hostile}]}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": hostile, "function": {"name": hostile, "arguments": hostile}}]}),
        json!({"role": "user", "content": [{"type": "image", "source":
            {"type": "file", "sha256": hostile, "media_type": hostile, "bytes": 1}}]}),
    ]);
    session.write("note.txt", "no image");
    session.attach("--tool fetch --text Look. note.txt=image/png");
    session.json("view --out page.html");
    let html = page(&session);
    for never in ["<script", "<img", "\u{202e}", "</div></div>"] {
        assert!(!html.contains(never), "{never}: {html}");
    }
    for part in [
        "default-src 'none'; img-src data:; style-src 'sha256-",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "<span class=\"hidden\">U+202E</span>",
        "<p class=\"note refused\"><strong>Refused</strong> <span class=\"line\">attachment &#39;note.txt&#39; was not attached: ",
        "No picture: the record names no image",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
}

#[test]
fn data_in_a_foreign_log_is_counted_and_not_printed() {
    let session = Session::new();
    session.append(&[json!({"role": "user", "content": "hi"})]);
    let path = session.context().join("conversation.jsonl");
    let data = "QUJD".repeat(5000);
    let foreign = json!({"role": "user", "content": [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}}]});
    fs::write(&path, format!("{}{foreign}\n", session.log())).unwrap();
    session.json("view --out page.html");
    let html = page(&session);
    assert!(!html.contains("QUJDQUJD") && html.contains("(20000 characters)"), "{html}");
}

#[test]
fn only_a_regular_file_is_replaced() {
    let session = Session::new();
    session.append(&[json!({"role": "user", "content": "hi"})]);
    fs::write(session.path("theirs"), "theirs").unwrap();
    symlink("theirs", session.path("link")).unwrap();
    symlink("nowhere", session.path("dangling")).unwrap();
    for (out, code) in [
        ("link", "bad_out"),
        ("dangling", "bad_out"),
        ("work", "bad_out"),
        ("absent/page.html", "bad_out"),
        ("..", "bad_out"),
        ("ctx/page.html", "out_in_conversation"),
    ] {
        let run = session.run(&format!("view -c ctx --json --out {out}"));
        assert_eq!(run.expect_code(3).json()["error"]["code"], code, "{out}");
    }
    assert_eq!(fs::read(session.path("theirs")).unwrap(), b"theirs");
    assert!(!session.path("nowhere").exists());
    session.json("view --out theirs");
    assert!(fs::read(session.path("theirs")).unwrap().starts_with(b"<!doctype html>"));
    session.run("view -c absent --out page.html").expect_code(3);
    session.run("view -c ctx --out page.html --keep 1001").expect_code(3);
    let names = fs::read_dir(session.path("")).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with('.')), "nothing half written is left");
}

#[test]
fn the_demo_makes_its_page() {
    let session = Session::new();
    let reply = session.json_alone("demo demo");
    let path = session.path("demo/view.html").canonicalize().unwrap();
    assert_eq!(reply["view"], json!(path));
    let html = fs::read_to_string(path).unwrap();
    let shown = session.run("show -c demo/session --json").expect_code(0).json();
    let images = shown["images"].as_array().unwrap();
    assert_eq!((html.matches("<img ").count(), html.contains("No picture")), (images.len(), false));
    assert!(html.contains("<p class=\"note refused\">"));
    let text = session.run("demo again").expect_code(0).text().to_owned();
    assert!(text.contains("again/view.html"), "{text}");
}
