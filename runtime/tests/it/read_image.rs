//! Both ends of `read_image`, whole: what a model that sees gets, and what one that does not is told.

use std::sync::Arc;

use attache_runtime::workdir_fs::LocalFs;
use attache_runtime::{
    AgentLoop, BlobId, Cancel, Conversation, FileSession, FileToolOptions, OpenOptions, Recorded, Script,
    ScriptedDriver, Settings, ToolSet, call_metas,
};
use serde_json::{Value, json};

use crate::support::{Folder, png};

struct Asked {
    requests: Vec<Recorded>,
    /// The log, our own lines too.
    log: Vec<Value>,
    blobs: usize,
    code: Option<String>,
}

/// The same question and the same call, of one of two models.
async fn ask(model: &str, mounted: bool) -> Asked {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("shots")).unwrap();
    folder.write("shots/login.png", png(1));
    let context = tempfile::tempdir().unwrap();
    let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
    let set = ToolSet::new(Arc::new(LocalFs::new(folder.work.clone())), FileToolOptions::default());
    if mounted {
        set.mount(Arc::clone(conversation.store()));
    }
    let script = json!({
        "models": [{"id": "reader", "input_modalities": ["text"]}, {"id": "seer", "input_modalities": ["text", "image"]}],
        "entries": [
            {"chunks": [{"text": "Let me look."}, {"tool_call": {
                "id": "call_1", "name": "read_image", "input": {"file_path": "shots/login.png"},
            }}]},
            {"chunks": [{"text": "I see."}]},
        ],
    });
    let driver = Arc::new(ScriptedDriver::from_script(Script::from_json(&script.to_string()).unwrap()));
    let agent = AgentLoop::new(driver.clone(), folder.work.clone(), Settings::default())
        .with_model(model)
        .with_file_tools(set.tools(), Arc::new(FileSession::new()));
    agent.ask(&mut conversation, "What is on the screen?", &Cancel::new()).await.unwrap();
    driver.finish().unwrap();
    let text = std::fs::read_to_string(context.path().join("conversation.jsonl")).unwrap();
    let code = call_metas(&conversation).await.unwrap()[0].value["error"]["code"].as_str().map(str::to_owned);
    Asked {
        requests: driver.recorded(),
        log: text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        blobs: conversation.store().inventory().await.unwrap().blobs.len(),
        code,
    }
}

fn messages(log: &[Value]) -> Vec<&Value> {
    log.iter().filter(|line| line.get("role").is_some()).collect()
}

#[tokio::test]
async fn a_model_that_sees_gets_two_blocks_and_the_bytes_with_the_next_request() {
    let Asked { requests, log, blobs, code } = ask("seer", true).await;
    insta::assert_json_snapshot!("read_image_success", messages(&log));
    let result = messages(&log)[2];
    assert_eq!(result["content"].as_array().unwrap().len(), 2);
    assert_eq!(result["content"][1]["source"]["sha256"], BlobId::of(&png(1)).to_string());
    let data = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, png(1));
    assert!(!serde_json::to_string(&log).unwrap().contains(&data), "no bytes in the log");
    let shown = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}});
    assert_eq!(requests[1].messages[2]["content"][1], shown);
    assert_eq!((requests.len(), blobs, code), (2, 1, None));
}

#[tokio::test]
async fn a_model_that_does_not_see_gets_the_refusal_and_no_image_is_anywhere() {
    let Asked { requests, log, blobs, code } = ask("reader", true).await;
    insta::assert_json_snapshot!("read_image_refused", messages(&log));
    assert!(!serde_json::to_string(&log).unwrap().contains("\"image\""), "{log:?}");
    assert!(!serde_json::to_string(&requests[1].messages).unwrap().contains("\"image\""));
    assert_eq!((requests.len(), blobs, code.as_deref()), (2, 0, Some("model_takes_no_images")));
}

#[tokio::test]
async fn both_models_are_offered_the_same_tools() {
    let [seer, reader] = [ask("seer", true).await.requests, ask("reader", true).await.requests];
    for (seer, reader) in seer.iter().zip(&reader) {
        assert_eq!(seer.tools, reader.tools);
    }
    let tools = seer[0]
        .tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}));
    insta::assert_json_snapshot!("tools", tools.collect::<Vec<_>>());
}

#[tokio::test]
async fn without_a_store_there_is_no_such_tool() {
    let Asked { requests, log, blobs, code } = ask("seer", false).await;
    assert!(!requests[0].tools.iter().any(|tool| tool.name == "read_image"));
    let result = messages(&log)[2];
    assert_eq!(result["content"], json!([{"type": "text", "text": "Error: unknown tool \"read_image\""}]));
    assert!(!serde_json::to_string(&log).unwrap().contains("\"image\""), "{log:?}");
    assert_eq!((blobs, code.as_deref()), (0, Some("unknown_tool")));
}
