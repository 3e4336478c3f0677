//! One writer at a time, any number of readers.

use std::time::Duration;

use attache_runtime::{Conversation, OpenOptions};
use attache_tests::pictures;
use serde_json::json;

use crate::session::Session;

async fn hold(session: &Session) -> Conversation {
    let options = OpenOptions::default().with_writer("the first writer");
    Conversation::open(session.context(), options).await.unwrap()
}

#[tokio::test]
async fn a_second_writer_is_told_who_the_first_one_is() {
    let session = Session::new();
    session.write("a.png", pictures::png(2, 2, 0));
    session.attach("a.png");
    let sha = session.audit().blobs.first().unwrap().clone();
    let holder = hold(&session).await;
    let before = session.log();
    let named = format!("process {} (the first writer)", std::process::id());
    let commands = [
        "attach --workdir work a.png".to_owned(),
        "append".to_owned(),
        format!("withhold {sha}"),
        format!("restore {sha}"),
        "check --repair".to_owned(),
        "sweep".to_owned(),
    ];
    for command in commands {
        let call = session.call(&format!("{command} -c ctx --json --lock-wait 0s")).stdin(r#"{"role":"user"}"#);
        let error = call.run().expect_code(6).json()["error"].clone();
        assert_eq!(error["code"], "conversation_locked", "{command}");
        assert!(error["message"].as_str().unwrap().contains(&named), "{command}: {error}");
    }
    assert_eq!(session.log(), before);
    // Readers do not ask.
    for command in ["render", "show", "check"] {
        session.json(command);
    }
    drop(holder);
    session.attach("--lock-wait 0s a.png");
}

#[tokio::test]
async fn a_writer_waits_for_its_turn() {
    let session = Session::new();
    let holder = hold(&session).await;
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        drop(holder);
    });
    let run = session.call("append -c ctx --json --lock-wait 55s").stdin(r#"{"role":"user"}"#).run();
    release.join().unwrap();
    assert_eq!(run.expect_code(0).json(), json!({"appended": 1, "lifted": 0, "notes": []}));
}
