//! `attache withhold` and `attache restore`.

use attache_tests::message::inline_image;
use attache_tests::{pictures, sha256};
use serde_json::{Value, json};

use crate::session::Session;

fn session() -> (Session, Vec<String>) {
    let session = Session::new();
    let images: Vec<_> = (0..40).map(|n| pictures::png(2, 2, n)).collect();
    let blocks: Vec<_> = images.iter().map(|bytes| inline_image("image/png", bytes)).collect();
    session.append(&[json!({"role": "user", "content": blocks})]);
    (session, images.iter().map(|bytes| sha256(bytes)).collect())
}

fn last_line(session: &Session) -> Value {
    serde_json::from_str(session.log().lines().last().unwrap()).unwrap()
}

fn state(session: &Session, sha: &str) -> Value {
    let shown = session.json("show --keep 100");
    shown["images"].as_array().unwrap().iter().find(|image| image["sha256"] == sha).unwrap().clone()
}

#[test]
fn an_image_is_withheld_until_it_is_restored() {
    let (session, shas) = session();
    let sha = &shas[3];
    let call = session.call(&format!("withhold {sha} -c ctx --json")).args(["--reason", "not\nneeded ]"]);
    let entry = call.run().expect_code(0).json();
    assert_eq!(entry, json!({"type": "attache.withhold", "sha256": sha, "reason": "not\nneeded ]"}));
    assert_eq!(last_line(&session), entry, "what is printed is the log's entry");

    let block = &session.rendered_blocks("--keep 100")[3];
    let line = block["text"].as_str().unwrap();
    assert!(line.starts_with("[image withheld: image/png, ") && line.contains(&format!("sha256 {sha}; ")), "{line}");
    assert!(line.ends_with(" ]]") && !line.contains('\n'), "the reason is told, and cleaned: {line}");
    assert_eq!(state(&session, sha)["state"], "withheld");
    assert_eq!(state(&session, sha)["reason"], "not\nneeded ]");

    let entry = session.json(&format!("restore {sha}"));
    assert_eq!(entry, json!({"type": "attache.restore", "sha256": sha}));
    assert_eq!(last_line(&session), entry);
    assert_eq!(state(&session, sha)["state"], "shown");
    assert_eq!(session.rendered_blocks("--keep 100")[3]["source"]["type"], "base64");
}

#[test]
fn the_beginning_of_a_sha_will_do_if_no_other_image_has_it() {
    let (session, shas) = session();
    let sha = &shas[0];
    let shared = |len: usize| shas.iter().filter(|other| other[..len] == sha[..len]).count();
    let unique = (1..64).find(|len| shared(*len) == 1).unwrap();
    let entry = session.json(&format!("withhold {}", &sha[..unique].to_uppercase()));
    assert_eq!((&entry["sha256"], &entry["reason"]), (&json!(sha), &json!("withheld on request")));
    session.json(&format!("restore {}", &sha[..unique]));

    // Of 40 images two begin alike.
    let begin = "0123456789abcdef".chars().find(|c| shas.iter().filter(|sha| sha.starts_with(*c)).count() > 1).unwrap();
    let log = session.log();
    for (prefix, part) in [(begin.to_string(), "beginning of"), ("zz".to_owned(), "zz"), ("f".repeat(64), "no image")] {
        for command in ["withhold", "restore"] {
            let error = session.run(&format!("{command} {prefix} -c ctx --json")).expect_code(3).json();
            assert_eq!(error["error"]["code"], "no_such_image");
            assert!(error["error"]["message"].as_str().unwrap().contains(part), "{error}");
        }
    }
    let empty = session.call("withhold -c ctx --json").arg("").run();
    assert_eq!(empty.expect_code(3).json()["error"]["code"], "no_such_image");
    assert_eq!(session.log(), log);
}
