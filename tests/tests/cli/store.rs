//! `attache check` and `attache sweep`.

use std::fs;
use std::os::unix::fs::symlink;

use attache_tests::message::{inline_image, record, text};
use attache_tests::{pictures, sha256};
use serde_json::{Value, json};

use crate::session::Session;

fn picture(n: u64) -> Vec<u8> {
    pictures::png(2, 2, n)
}

/// A conversation with a picture for each of these numbers.
fn holding(numbers: impl IntoIterator<Item = u64>) -> Session {
    let session = Session::new();
    let blocks: Vec<_> = numbers.into_iter().map(|n| inline_image("image/png", &picture(n))).collect();
    session.append(&[json!({"role": "user", "content": blocks})]);
    session
}

fn orphan(session: &Session, n: u64) -> String {
    let sha = sha256(&picture(n));
    fs::write(session.blob(&sha), picture(n)).unwrap();
    sha
}

fn paths(findings: &Value) -> Vec<String> {
    let path = |finding: &Value| finding["path"].as_str().unwrap().to_owned();
    findings.as_array().unwrap().iter().map(path).collect()
}

#[test]
fn a_whole_store_is_ok_and_orphans_are_no_damage() {
    let session = holding(0..3);
    let report = session.json("check");
    assert_eq!((&report["ok"], &report["blobs"]), (&json!(true), &json!(3)), "{report}");
    for list in ["missing", "damaged", "orphaned", "foreign"] {
        assert_eq!(report[list], json!([]), "{list}");
    }
    assert_eq!(report["log"]["messages"], 1);

    let sha = orphan(&session, 9);
    fs::write(session.context().join("blobs/notes.txt"), "x").unwrap();
    symlink("/etc/passwd", session.context().join("blobs").join("0".repeat(64))).unwrap();
    let report = session.json("check");
    assert_eq!((&report["ok"], &report["blobs"]), (&json!(true), &json!(4)));
    assert_eq!(
        report["orphaned"],
        json!([{"sha256": sha, "bytes": picture(9).len(), "path": format!("ctx/blobs/{sha}")}])
    );
    assert_eq!(paths(&report["foreign"]), [format!("ctx/blobs/{}", "0".repeat(64)), "ctx/blobs/notes.txt".to_owned()]);
    let reasons: Vec<_> = report["foreign"].as_array().unwrap().iter().map(|foreign| &foreign["reason"]).collect();
    assert_eq!(reasons, ["link", "wrong_name"]);
}

#[test]
fn every_finding_has_its_path_and_the_exit_code_is_3() {
    let session = holding(0..3);
    let [missing, short, rotten] = [0, 1, 2].map(|n| sha256(&picture(n)));
    fs::remove_file(session.blob(&missing)).unwrap();
    fs::write(session.blob(&short), &picture(1)[1..]).unwrap();
    let mut bytes = picture(2);
    bytes[40] ^= 1;
    fs::write(session.blob(&rotten), &bytes).unwrap();
    let report = session.run("check -c ctx --json").expect_code(3).json();
    assert_eq!(report["ok"], false);
    assert_eq!(paths(&report["missing"]), [format!("ctx/blobs/{missing}")]);
    let mut damaged = [format!("ctx/blobs/{short}"), format!("ctx/blobs/{rotten}")];
    damaged.sort();
    assert_eq!(paths(&report["damaged"]), damaged);
    let found = report["damaged"].as_array().unwrap().iter().find(|found| found["sha256"] == rotten).unwrap();
    assert_eq!((&found["found_sha256"], &found["found_bytes"]), (&json!(sha256(&bytes)), &json!(bytes.len())));

    // What was damaged is moved aside, and not a byte of it is lost.
    let report = session.run("check -c ctx --json --repair").expect_code(3).json();
    let moved = report["quarantined"].as_array().unwrap().clone();
    assert_eq!(moved.len(), 2);
    for entry in moved {
        let kept = fs::read(session.path(entry["moved_to"].as_str().unwrap())).unwrap();
        assert!(kept == bytes || kept == picture(1)[1..]);
    }
    let report = session.run("check -c ctx --json").expect_code(3).json();
    assert_eq!((paths(&report["missing"]).len(), &report["damaged"]), (3, &json!([])));
    // Whoever has the bytes heals it.
    let blocks = [0, 1, 2].map(|n| inline_image("image/png", &picture(n)));
    session.append(&[json!({"role": "user", "content": blocks})]);
    assert_eq!(session.json("check")["ok"], true);
}

#[test]
fn attaching_again_replaces_a_damaged_blob() {
    let session = holding([0]);
    let sha = sha256(&picture(0));
    fs::write(session.blob(&sha), b"").unwrap();
    session.append(&[json!({"role": "user", "content": [inline_image("", &picture(0))]})]);
    session.audit().expect_whole("after it was attached again");
}

#[test]
fn a_record_with_a_wrong_length_is_a_finding() {
    let session = holding([0]);
    let mut lying = record("image/png", &picture(0));
    lying["source"]["bytes"] = json!(7);
    session.append(&[json!({"role": "user", "content": [lying]})]);
    let report = session.run("check -c ctx --json").expect_code(3).json();
    assert_eq!((&report["wrong_length"][0]["expected_bytes"], &report["damaged"]), (&json!(7), &json!([])), "{report}");
}

#[test]
fn damage_of_the_log_is_reported_and_a_torn_tail_is_kept() {
    let session = holding([0]);
    let log = session.context().join("conversation.jsonl");
    let whole = session.log();
    let damaged = format!("{whole}{{\"role\": oops}}\n{{\"role\":\"user\",\"content\":\"later\"}}\n{{\"role\":\"us");
    fs::write(&log, &damaged).unwrap();
    let report = session.run("check -c ctx --json").expect_code(3).json();
    assert_eq!((&report["ok"], &report["log"]["messages"]), (&json!(false), &json!(2)), "the rest loads");
    let damage = &report["log"]["damaged"][0];
    assert_eq!((&damage["line"], &damage["offset"]), (&json!(3), &json!(whole.len())));
    assert_eq!(report["log"]["torn"]["bytes"], 11);
    assert_eq!(fs::read_to_string(&log).unwrap(), damaged, "a check changes nothing");

    let report = session.run("check -c ctx --json --repair").expect_code(3).json();
    let kept = report["log"]["torn"]["kept_as"].as_str().unwrap();
    assert_eq!(fs::read_to_string(session.path(kept)).unwrap(), "{\"role\":\"us");
    assert_eq!(fs::read_to_string(&log).unwrap(), damaged[..damaged.len() - 11]);
    // It goes on, and the damaged line stays where it is.
    session.append(&[json!({"role": "user", "content": [text("next")]})]);
    let messages = session.render("");
    assert_eq!(messages.len(), 3);
    assert!(session.log().contains("oops"));
}

#[test]
fn a_torn_tail_alone_is_no_loss() {
    let session = holding([0]);
    let log = session.context().join("conversation.jsonl");
    for tail in [&b"{\"role\":\"user\",\"content\":\"\xc3"[..], b"\0\0\0\0\0\0\0\0", b"x"] {
        let mut bytes = fs::read(&log).unwrap();
        bytes.extend_from_slice(tail);
        fs::write(&log, bytes).unwrap();
        assert_eq!(session.json("check")["log"]["torn"]["bytes"], tail.len());
        session.append(&[json!({"role": "user", "content": [text("next")]})]);
    }
    let audit = session.audit();
    audit.expect_whole("after torn tails");
    assert_eq!((audit.messages.len(), audit.torn_copies.len()), (4, 3));
}

#[test]
fn a_sweep_deletes_what_no_record_names_and_only_that() {
    let session = holding(0..8);
    let (old, other) = (orphan(&session, 20), orphan(&session, 21));
    session.json(&format!("withhold {}", sha256(&picture(7))));
    let mut both = [old, other];
    both.sort();

    let spared = session.json("sweep");
    assert_eq!((&spared["deleted"], &spared["kept"]), (&json!([]), &json!(10)), "younger than an hour");
    let planned = session.json("sweep --grace 0s --dry-run");
    assert_eq!((&planned["deleted"], &planned["dry_run"]), (&json!(both), &json!(true)));
    assert_eq!(session.audit().blobs.len(), 10);
    let swept = session.json("sweep --grace 0s");
    let bytes = picture(20).len() + picture(21).len();
    assert_eq!((&swept["deleted"], &swept["kept"], &swept["bytes"]), (&json!(both), &json!(8), &json!(bytes)));
    session.audit().expect_whole("after the sweep");
    assert_eq!(session.audit().blobs.len(), 8, "aged and withheld images are still named");
    assert_eq!(session.json("sweep --grace 0s")["deleted"], json!([]));
}

#[test]
fn a_sweep_that_cannot_know_everything_deletes_nothing() {
    let session = holding(0..2);
    let sha = orphan(&session, 9);
    let log = session.context().join("conversation.jsonl");
    let whole = session.log();
    fs::write(&log, format!("{whole}not a line\n")).unwrap();
    let error = session.run("sweep -c ctx --json --grace 0s").expect_code(3).json();
    assert_eq!(error["error"]["code"], "conversation_damaged");
    assert!(session.blob(&sha).exists());
    fs::write(&log, whole).unwrap();
    // A named blob that is missing: perhaps this is another conversation's store.
    fs::remove_file(session.blob(&sha256(&picture(0)))).unwrap();
    let error = session.run("sweep -c ctx --json --grace 0s").expect_code(6).json();
    assert_eq!(error["error"]["code"], "store_failed");
    assert!(session.blob(&sha).exists());
}

#[test]
fn two_conversations_with_the_same_picture_do_not_share_their_fate() {
    let session = holding([0]);
    session.write("a.png", picture(0));
    let second = session.run("attach -c second --workdir work --json a.png");
    second.expect_code(0);
    fs::remove_dir_all(session.context()).unwrap();
    session.run("sweep -c second --json --grace 0s").expect_code(0);
    assert_eq!(session.run("check -c second --json").expect_code(0).json()["ok"], true);
}
