//! Scripts: positions, models, quotes, and pieces as they are heard.

use std::sync::{Arc, Mutex};

use attache_runtime::{
    AgentError, AgentLoop, Cancel, Chunk, Conversation, Driver, DriverError, OpenOptions, Request, Script,
    ScriptedDriver, Settings,
};
use serde_json::{Value, json};

use crate::support::Folder;

fn driver(script: Value) -> ScriptedDriver {
    ScriptedDriver::from_script(Script::from_json(&script.to_string()).unwrap())
}

fn say(texts: &[&str]) -> Value {
    json!({"chunks": texts.iter().map(|text| json!({"text": text})).collect::<Vec<_>>()})
}

async fn ask(driver: &ScriptedDriver, session: &str, model: Option<&str>) -> Result<String, DriverError> {
    let messages = [json!({"role": "user", "content": "ids: a1 b2"})];
    let request = Request { messages: &messages, tools: &[], model, session };
    driver.complete(request, &Cancel::new()).await.map(|reply| reply.text)
}

#[tokio::test]
async fn every_session_has_its_own_place() {
    let driver = driver(json!({
        "entries": [say(&["1"]), say(&["2"])],
        "sessions": {"own": [say(&["x"])], "never": [say(&["y"])]},
    }));
    for (session, text) in [("a", "1"), ("b", "1"), ("own", "x"), ("a", "2")] {
        assert_eq!(ask(&driver, session, None).await.as_deref(), Ok(text), "{session}");
    }
    for (session, request) in [("own", 2), ("a", 3)] {
        let error = ask(&driver, session, None).await.unwrap_err();
        let text = format!("the script has no entry for request {request} of session \"{session}\" (script_ran_out)");
        assert_eq!(error.to_string(), text);
    }
    let error = driver.finish().unwrap_err();
    let text = "2 entries of the script were not used: 1 of session \"b\", 1 of session \"never\" (script_not_used_up)";
    assert_eq!(error.to_string(), text);
    assert_eq!(ask(&driver, "b", None).await.as_deref(), Ok("2"));
    assert_eq!(ask(&driver, "never", None).await.as_deref(), Ok("y"));
    driver.finish().unwrap();
}

#[tokio::test]
async fn a_script_that_nobody_began_is_not_used_up() {
    let unused = driver(json!({"entries": [say(&["1"])]}));
    assert_eq!(unused.finish().unwrap_err().to_string(), "1 entries of the script were not used (script_not_used_up)");
    driver(json!({})).finish().unwrap();
}

#[tokio::test]
async fn a_model_is_asked_by_its_name() {
    let driver = driver(json!({
        "models": [{"id": "first"}, {"id": "second", "input_modalities": ["text"]}],
        "entries": [say(&["1"]), say(&["2"])],
    }));
    assert_eq!((driver.info().id.as_str(), driver.info().takes_images()), ("first", true));
    assert_eq!(driver.model("second").map(|model| model.takes_images()), Some(false));
    assert_eq!(driver.model("third"), None);
    ask(&driver, "", None).await.unwrap();
    assert_eq!(ask(&driver, "", Some("third")).await.unwrap_err().code(), ScriptedDriver::UNKNOWN_MODEL);
    ask(&driver, "", Some("second")).await.unwrap();
    let models: Vec<_> = driver.recorded().into_iter().map(|request| request.model).collect();
    assert_eq!(models, ["first", "second"]);
    driver.finish().unwrap();
}

#[tokio::test]
async fn pieces_are_heard_as_they_come_also_before_a_failure() {
    let folder = Folder::new();
    let context = tempfile::tempdir().unwrap();
    let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
    let call = json!({"tool_call": {"id": "c", "name": "none", "input": {}}});
    let driver = Arc::new(driver(json!({"entries": [
        {"chunks": [{"text": "Let me "}, {"text": "look."}, call]},
        {"throw": {"chunks": [{"text": "I s"}], "code": "overloaded", "message": "try later"}},
        "hang",
    ]})));
    let agent = AgentLoop::new(driver.clone(), folder.work.clone(), Settings::default());
    let heard = Mutex::new(Vec::new());
    let mut hear = |chunk: &Chunk| heard.lock().unwrap().push(chunk.clone());
    let error = agent.ask_streaming(&mut conversation, "Look.", &mut hear, &Cancel::new()).await.unwrap_err();
    assert!(matches!(&error, AgentError::Driver(error) if error.code() == "overloaded"), "{error}");
    let texts = heard.into_inner().unwrap().into_iter().map(|chunk| match chunk {
        Chunk::Text(text) => text,
        Chunk::Call(call) => call.id,
        other => panic!("{other:?}"),
    });
    let texts: Vec<_> = texts.collect();
    assert_eq!(texts, ["Let me ", "look.", "c", "I s"]);
    assert_eq!(driver.requests()[1][1]["content"][0]["text"], "Let me look.", "the pieces made one reply");
    assert_eq!(conversation.len(), 3, "what was heard of an answer that failed is no message");
    let cancel = Cancel::new();
    let cancel_once_asked = async {
        while driver.requests().len() < 3 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (asked, ()) = tokio::join!(agent.ask(&mut conversation, "Again.", &cancel), cancel_once_asked);
    assert!(matches!(asked, Err(AgentError::Driver(error)) if error.code() == DriverError::CANCELLED));
    driver.finish().unwrap();
}

#[tokio::test]
async fn any_string_of_an_entry_may_quote_the_request() {
    let driver = driver(json!({
        "models": [{"id": "m"}],
        "entries": [
            {"chunks": [{"text": "<{{fromRequest:[a-z][0-9]}}>"}, {"tool_call": {
                "id": "{{fromRequest:a(1)}}", "name": "t", "input": {"deep": [{"at": "{{fromRequest:\"model\":\"(.)\"}}"}]},
            }}]},
            {"throw": {"code": "c", "message": "{{fromRequest:ids}}"}},
            say(&["{{fromRequest:gone[0-9]}}"]),
        ],
    }));
    let messages = [json!({"role": "user", "content": "ids: a1 b2"})];
    let request = Request { messages: &messages, tools: &[], model: None, session: "" };
    let reply = driver.complete(request, &Cancel::new()).await.unwrap();
    let call = &reply.tool_calls[0];
    assert_eq!((reply.text.as_str(), call.id.as_str(), &call.input), ("<b2>", "1", &json!({"deep": [{"at": "m"}]})));
    let error = driver.complete(request, &Cancel::new()).await.unwrap_err();
    assert_eq!(error, DriverError::new("c", "ids"));
    let error = driver.complete(request, &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "nothing in the request matches \"gone[0-9]\" (script_no_match)");
    driver.finish().unwrap();
}
