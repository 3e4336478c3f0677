//! Writes and edits: races with others in the sandbox, and what is left behind.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::Duration;

use attache_workdir_fs::{Edit, FileError, FileSystem as _, Operation, WriteIntent, Written};
use axum::response::IntoResponse as _;

use crate::server::{Sandbox, mode};

async fn write(sandbox: &Sandbox, name: &str, content: &str, intent: &WriteIntent) -> Result<Written, FileError> {
    let fs = sandbox.fs();
    fs.write_text(&fs.resolve(name, None).await?, content, intent).await
}

async fn edit(sandbox: &Sandbox, name: &str, old: &str, new: &str) -> Result<Written, FileError> {
    let fs = sandbox.fs();
    let edit = Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false };
    fs.edit_text(&fs.resolve(name, None).await?, &edit, None).await
}

#[tokio::test]
async fn what_comes_up_before_publication_is_never_replaced() {
    type Appears = fn(&Sandbox);
    let file: Appears = |sandbox| sandbox.put("a", "theirs");
    let directory: Appears = |sandbox| fs::create_dir(sandbox.root.join("a")).unwrap();
    let dangling: Appears = |sandbox| symlink("nowhere", sandbox.root.join("a")).unwrap();
    for (appears, code) in
        [(file, "FS_NOT_OBSERVED"), (directory, "FS_NOT_REGULAR_FILE"), (dangling, "FS_NOT_REGULAR_FILE")]
    {
        for moment in ["POST", "Start /bin/sh -c ln "] {
            let sandbox = Sandbox::start().await;
            sandbox.before(moment, appears);
            let error = write(&sandbox, "a", "ours", &WriteIntent::CreateIfAbsent).await.unwrap_err();
            assert_eq!(error.code(), code, "{error}");
            assert_eq!(sandbox.names(), ["a"], "nothing private is left");
            if code == "FS_NOT_OBSERVED" {
                assert_eq!(sandbox.get("a"), "theirs");
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_comes_up_is_replaced_only_by_an_unconditional_write() {
    let sandbox = Sandbox::start().await;
    sandbox.before("Start /bin/sh -c ln ", |sandbox| sandbox.put("a", "theirs"));
    let written = write(&sandbox, "a", "ours", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!((written.operation, written.before.as_deref()), (Operation::Update, Some("theirs")));
    assert_eq!((sandbox.get("a"), sandbox.names()), ("ours".to_owned(), vec!["a".to_owned()]));
}

#[tokio::test]
async fn a_change_in_between_makes_a_guarded_write_stale() {
    for moment in ["GET", "POST", "Start /bin/sh -c chmod"] {
        let sandbox = Sandbox::start().await;
        sandbox.put("a", "one");
        let fs = sandbox.fs();
        let target = fs.resolve("a", None).await.unwrap();
        let known = fs.stat(&target).await.unwrap().version;
        sandbox.before(moment, |sandbox| sandbox.put("a", "theirs, longer"));
        let outcome = fs.write_text(&target, "ours", &WriteIntent::ReplaceIfVersion(known)).await;
        let error = outcome.unwrap_err();
        let message = "cannot write \"a\": file changed since it was read";
        assert_eq!((error.code(), &error.to_string()[..]), ("FS_STALE_VERSION", message), "{moment}");
        assert_eq!((sandbox.get("a"), sandbox.names().len()), ("theirs, longer".to_owned(), 1));
    }
}

#[tokio::test]
async fn an_edit_meets_the_change_of_another() {
    for moment in ["GET", "POST", "Start /bin/sh -c chmod"] {
        let sandbox = Sandbox::start().await;
        sandbox.put("a", "one two");
        sandbox.before(moment, |sandbox| sandbox.put("a", "one two three"));
        edit(&sandbox, "a", "one", "1").await.unwrap();
        assert_eq!(sandbox.get("a"), "1 two three", "{moment}");
        assert_eq!(sandbox.names(), ["a"]);
    }
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "one");
    sandbox.before("POST", |sandbox| fs::remove_file(sandbox.root.join("a")).unwrap());
    assert_eq!(edit(&sandbox, "a", "one", "1").await.unwrap_err().code(), "FS_STALE_VERSION");
    assert_eq!(sandbox.names(), [""; 0], "nothing is created anew");
}

#[tokio::test]
async fn a_private_file_is_private_and_its_name_is_nowhere() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "one");
    fs::set_permissions(sandbox.root.join("a"), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    sandbox.before("Start /bin/sh -c chmod", |sandbox| {
        let names = sandbox.names();
        let staged = names.iter().find(|name| *name != "a").expect("a private file");
        assert_eq!(mode(&sandbox.root.join(staged)), 0o600, "it holds the content, and nobody else may read it");
        assert_eq!(sandbox.get(staged), "two");
    });
    write(&sandbox, "a", "two", &WriteIntent::Unconditional).await.unwrap();
    assert_eq!((mode(&sandbox.root.join("a")), sandbox.get("a")), (0o644, "two".to_owned()));

    for (step, replaces) in [
        ("MakeDir", false),
        ("Start /bin/sh -c set", true),
        ("POST", true),
        ("POST", false),
        ("Start /bin/sh -c chmod", true),
        ("Start /bin/sh -c ln", false),
        ("Move", true),
    ] {
        let name = if replaces { "a" } else { "dir/new" };
        let (before, listed) = (sandbox.get("a"), sandbox.names());
        sandbox.refuse(
            step,
            500,
            r#"{"code":"internal","message":"write /w/.attache-tmp-0: no space left on device"}"#,
        );
        let error = write(&sandbox, name, "three", &WriteIntent::Unconditional).await.unwrap_err();
        let message = format!("cannot write \"{name}\": the sandbox answered 500 internal");
        assert_eq!((error.code(), error.to_string()), ("FS_IO_ERROR", message), "{step}");
        assert!(!format!("{error:?}").contains("attache-tmp"), "{error:?}");
        assert_eq!(sandbox.get("a"), before);
        _ = fs::remove_dir(sandbox.root.join("dir"));
        assert_eq!(sandbox.names(), listed, "{step} leaves nothing");
    }
}

#[tokio::test]
async fn an_answer_that_is_lost_on_its_way_does_not_turn_success_into_failure() {
    let staged = |sandbox: &Sandbox| {
        let names = sandbox.names();
        sandbox.root.join(names.iter().find(|name| name.starts_with('.')).expect("a private file"))
    };
    for (request, is_there) in [("Start /bin/sh -c ln ", false), ("Move", true)] {
        let sandbox = Sandbox::start().await;
        if is_there {
            sandbox.put("a", "theirs");
        }
        sandbox.instead(request, move |sandbox| {
            if is_there {
                fs::rename(staged(sandbox), sandbox.root.join("a")).unwrap();
            } else {
                fs::hard_link(staged(sandbox), sandbox.root.join("a")).unwrap();
            }
            Some((axum::http::StatusCode::BAD_GATEWAY, "").into_response())
        });
        let intent = if is_there { WriteIntent::Unconditional } else { WriteIntent::CreateIfAbsent };
        write(&sandbox, "a", "ours", &intent).await.unwrap();
        assert_eq!((sandbox.get("a"), sandbox.names()), ("ours".to_owned(), vec!["a".to_owned()]));
    }
}

#[tokio::test]
async fn a_write_that_nobody_waits_for_goes_to_its_end() {
    let sandbox = Sandbox::start().await;
    sandbox.put("a", "one");
    let (reached, mut reaches) = tokio::sync::mpsc::unbounded_channel();
    sandbox.before("POST", move |_| reached.send(()).unwrap());
    let intent = WriteIntent::Unconditional;
    tokio::select! {
        biased;
        _ = reaches.recv() => {}
        outcome = write(&sandbox, "a", "two", &intent) => panic!("{outcome:?} before the upload"),
    }
    while sandbox.get("a") != "two" || sandbox.names() != ["a"] {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_writers_at_once_wins() {
    let sandbox = Sandbox::start().await;
    for round in 0..5 {
        sandbox.put("a", format!("{round}"));
        let fs = sandbox.fs();
        let target = fs.resolve("a", None).await.unwrap();
        let known = fs.stat(&target).await.unwrap().version;
        // Each with a client of its own, as several sessions of one process have.
        let writers = (0..6).map(|writer| {
            let (fs, target, intent) = (sandbox.fs(), target.clone(), WriteIntent::ReplaceIfVersion(known.clone()));
            tokio::spawn(async move { fs.write_text(&target, &format!("by {writer}"), &intent).await })
        });
        let mut won = Vec::new();
        for (writer, running) in writers.collect::<Vec<_>>().into_iter().enumerate() {
            match running.await.unwrap() {
                Ok(_) => won.push(writer),
                Err(error) => assert_eq!(error.code(), "FS_STALE_VERSION"),
            }
        }
        assert_eq!(won.len(), 1, "{won:?}");
        assert_eq!(sandbox.get("a"), format!("by {}", won[0]));
    }
}
