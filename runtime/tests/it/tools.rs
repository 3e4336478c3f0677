//! The file tools on a real folder.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use attache_runtime::workdir_fs::LocalFs;
use attache_runtime::{CallContext, Cancel, FileSession, FileToolOptions, FileTools, Modality, ModelInfo, ToolSet};
use serde_json::{Value, json};

use crate::support::{FakeStore, Folder, png};
use crate::trace::Sink;

fn set(folder: &Folder, options: FileToolOptions) -> ToolSet {
    ToolSet::new(Arc::new(LocalFs::new(folder.work.clone())), options)
}

fn seer() -> ModelInfo {
    ModelInfo { id: "seer".to_owned(), input_modalities: Some(vec![Modality::Text, Modality::Image]) }
}

/// A call that must succeed or fail; its text.
async fn call(tools: &FileTools, session: &FileSession, name: &str, input: Value) -> String {
    tools.call(name, &input, CallContext::new(session, &Cancel::new())).await.text
}

#[tokio::test]
async fn a_file_is_written_read_edited_lost_and_made_again() {
    let folder = Folder::new();
    let set = set(&folder, FileToolOptions::default());
    let (tools, session) = (set.tools(), FileSession::new());
    let on_disk = || std::fs::read_to_string(folder.path().join("src/a.txt")).unwrap();
    let edit = |old: &str, new: &str| json!({"file_path": "src//a.txt", "old_string": old, "new_string": new});

    let text = call(&tools, &session, "write", json!({"file_path": "src/a.txt", "content": "one\ntwo\n"})).await;
    assert_eq!(text, "<path>src/a.txt</path>\n<type>file</type>\n<content>\nCreated file\n</content>");
    folder.write("src/a.txt", "\u{feff}one\r\ntwo\n");
    let text = call(&tools, &session, "edit", edit("one", "1")).await;
    assert_eq!(text, "Error: cannot edit \"src/a.txt\": file changed since it was read — re-read the file, then retry");
    let text = call(&tools, &session, "read", json!({"file_path": "./src/a.txt", "limit": 1})).await;
    assert!(text.contains("\n1: one\n\n(Showing lines 1-1 of 2. Use offset=2 to continue.)\n"), "{text}");
    let text = call(&tools, &session, "edit", edit("one\ntwo", "1\n2")).await;
    assert_eq!(text, "The file src/a.txt has been updated successfully.");
    assert_eq!(on_disk(), "\u{feff}1\r\n2\n");

    // What was seen survives the session, the set and the handle on the folder.
    let saved = serde_json::to_string(&session.observations()).unwrap();
    let again = ToolSet::new(
        Arc::new(LocalFs::new(attache_runtime::WorkDir::open(folder.path()).unwrap())),
        FileToolOptions::default(),
    );
    let (tools, session) = (again.tools(), FileSession::resume(serde_json::from_str(&saved).unwrap()));
    call(&tools, &session, "edit", edit("2", "two")).await;
    assert_eq!(on_disk(), "\u{feff}1\r\ntwo\n");

    std::fs::remove_file(folder.path().join("src/a.txt")).unwrap();
    let text = call(&tools, &session, "write", json!({"file_path": "src/a.txt", "content": ""})).await;
    assert_eq!(
        text,
        "Error: cannot write \"src/a.txt\": file changed since it was read — re-read the file, then retry"
    );
    let text = call(&tools, &session, "read", json!({"file_path": "src/a.txt"})).await;
    assert_eq!(text, "Error: cannot read \"src/a.txt\": not found");
    let text = call(&tools, &session, "edit", edit("two", "2")).await;
    assert_eq!(text, "Error: cannot edit \"src/a.txt\": not found");
    let text = call(&tools, &session, "write", json!({"file_path": "src/a.txt", "content": ""})).await;
    assert!(text.contains("\nCreated file\n"), "{text}");
}

#[tokio::test]
async fn nothing_outside_the_folder_is_read_or_written() {
    let folder = Folder::new();
    std::fs::write(folder.outside("secret.png"), png(1)).unwrap();
    std::os::unix::fs::symlink("../secret.png", folder.path().join("link.png")).unwrap();
    let set = set(&folder, FileToolOptions::default().with_model(seer()));
    set.mount(Arc::new(FakeStore::default()));
    let (tools, session) = (set.tools(), FileSession::new());
    for path in ["../secret.png", "link.png"] {
        for (name, input) in [
            ("read", json!({"file_path": path})),
            ("read_image", json!({"file_path": path})),
            ("write", json!({"file_path": path, "content": "x"})),
        ] {
            let output = tools.call(name, &input, CallContext::new(&session, &Cancel::new())).await;
            assert_eq!(output.code.as_deref(), Some("FS_OUTSIDE_ROOT"), "{name} {path}: {}", output.text);
        }
    }
    assert_eq!(std::fs::read(folder.outside("secret.png")).unwrap(), png(1));
}

#[tokio::test]
async fn a_store_that_fails_costs_the_picture_and_tells_no_secrets() {
    let folder = Folder::new();
    folder.write("a.png", png(1)).write("b.png", png(2));
    let set = set(&folder, FileToolOptions::default().with_model(seer()));
    let store = Arc::new(FakeStore::default());
    set.mount(store.clone());
    let (tools, session) = (set.tools(), FileSession::new());
    store.fail_for(&png(1));
    for (path, sync_fails) in [("a.png", false), ("b.png", true)] {
        store.sync_fails.store(sync_fails, Ordering::SeqCst);
        let output =
            tools.call("read_image", &json!({"file_path": path}), CallContext::new(&session, &Cancel::new())).await;
        assert_eq!(output.code.as_deref(), Some("store_failed"));
        assert_eq!(
            output.text,
            format!("Error: cannot read \"{path}\": the image could not be stored: the disk is full")
        );
        assert!(output.images.is_empty());
        assert_eq!(session.observations().get(path), None, "only what is durable was seen");
    }
}

#[tokio::test]
async fn every_failure_is_in_the_log_with_its_code() {
    let folder = Folder::new();
    let set = set(&folder, FileToolOptions::default());
    let (tools, session) = (set.tools(), FileSession::new());
    let sink = Sink::default();
    let guard = sink.listen();
    for (name, input) in [
        ("read", json!({"file_path": "gone\n"})),
        ("read_image", json!({"file_path": "a.png"})),
        ("edit", json!({"file_path": "a"})),
    ] {
        call(&tools, &session, name, input).await;
    }
    drop(guard);
    let log = sink.text();
    let lines: Vec<_> = log.lines().filter(|line| line.contains("attache::tool")).collect();
    assert_eq!(lines.len(), 3, "{log}");
    for (line, words) in lines.iter().zip([
        [r#"tool="read""#, r#"code="FS_NOT_FOUND""#],
        [r#"tool="read_image""#, r#"code="unknown_tool""#],
        [r#"tool="edit""#, r#"code="invalid_argument""#],
    ]) {
        assert!(words.iter().all(|word| line.contains(word)), "{line}");
    }
}
