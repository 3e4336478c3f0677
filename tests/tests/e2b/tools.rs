//! The four tools of a model over a sandbox.

use std::sync::Arc;

use attache_media::fixtures;
use attache_runtime::{
    CallContext, Cancel, FileSession, FileToolOptions, MemoryStore, Modality, ModelInfo, ToolOutput, ToolSet,
};
use serde_json::{Value, json};

use crate::server::Sandbox;

#[tokio::test]
async fn the_tools_read_and_change_a_sandbox() {
    let sandbox = Sandbox::start().await;
    let image = fixtures::png(3, 2, 1);
    sandbox.put("shot.png", &image);
    sandbox.put("notes.txt", "one\r\ntwo\r\n");
    let seeing = ModelInfo { id: "seeing".to_owned(), input_modalities: Some(vec![Modality::Text, Modality::Image]) };
    let set = ToolSet::new(Arc::new(sandbox.fs()), FileToolOptions::default().with_model(seeing));
    set.mount(Arc::new(MemoryStore::new()));
    let (tools, session, cancel) = (set.tools(), FileSession::new(), Cancel::new());
    let call = async |name: &str, input: Value| -> ToolOutput {
        tools.call(name, &input, CallContext::new(&session, &cancel)).await
    };

    let unseen = call("edit", json!({"file_path": "notes.txt", "old_string": "one", "new_string": "1"})).await;
    assert_eq!(unseen.code.as_deref(), Some("FS_NOT_OBSERVED"));
    sandbox.requests();
    let read = call("read", json!({"file_path": "notes.txt"})).await;
    assert!(read.text.contains("1: one\n2: two\n\n(End of file - total 2 lines)"), "{}", read.text);
    assert_eq!(
        sandbox.requests().iter().filter(|name| *name == "Stat").count(),
        2,
        "one for the version, one to stream"
    );
    let edited = call("edit", json!({"file_path": "notes.txt", "old_string": "one", "new_string": "1"})).await;
    assert_eq!(edited.text, "The file notes.txt has been updated successfully.");
    assert_eq!(sandbox.get("notes.txt"), "1\r\ntwo\r\n");

    sandbox.put("notes.txt", "somebody else's");
    let stale = call("write", json!({"file_path": "notes.txt", "content": "mine"})).await;
    assert_eq!(
        stale.text,
        "Error: cannot write \"notes.txt\": file changed since it was read — re-read the file, then retry"
    );
    assert_eq!(call("write", json!({"file_path": "new/a.txt", "content": "mine"})).await.is_error, None);
    assert_eq!(sandbox.get("new/a.txt"), "mine");

    let seen = call("read_image", json!({"file_path": "shot.png"})).await;
    let text = format!("image/png image, 3x2 px, {} bytes", image.len());
    assert!(seen.text.contains(&text), "{}", seen.text);
    assert_eq!(seen.images.len(), 1);
    let outside = call("read_image", json!({"file_path": "../shot.png"})).await;
    assert_eq!(outside.code.as_deref(), Some("FS_OUTSIDE_ROOT"));
}
