//! The loop: every call gets its result, and the model sees what it should.

use std::num::NonZero;
use std::sync::{Arc, Mutex};

use attache_runtime::{
    AgentError, AgentLoop, Attachment, Cancel, Conversation, DriverError, Modality, ModelInfo, OpenOptions, Reply,
    Scheduling, ScriptEntry, ScriptedDriver, Settings, Tool, ToolOutput, ToolSpec,
};
use serde_json::{Value, json};

use crate::support::{Folder, png};

/// Does what its input says. When it hangs it asks for its own cancellation first.
#[derive(Debug)]
struct Puppet(Cancel);

#[async_trait::async_trait]
impl Tool for Puppet {
    fn spec(&self) -> ToolSpec {
        ToolSpec::named("puppet")
    }

    async fn call(&self, input: &Value) -> ToolOutput {
        match input["do"].as_str().unwrap() {
            "panic" => panic!("as told"),
            "hang" => {
                self.0.cancel();
                std::future::pending().await
            }
            "fail" => ToolOutput::error("it failed").with_attachment(Attachment::new("0.png", "image/png")),
            _ => ToolOutput { attachments: Attachment::list_from_value(&input["files"]), ..ToolOutput::text("done") },
        }
    }
}

/// A tool whose calls may run side by side. `meet` waits until another call of it does; every call writes down when it begins and
/// ends.
#[derive(Debug)]
struct Reader {
    meeting: tokio::sync::Barrier,
    events: Mutex<Vec<String>>,
}

#[async_trait::async_trait]
impl Tool for Reader {
    fn spec(&self) -> ToolSpec {
        ToolSpec::named("reader")
    }

    fn scheduling(&self) -> Scheduling {
        Scheduling::Parallel
    }

    async fn call(&self, input: &Value) -> ToolOutput {
        let note = |what: &str| self.events.lock().unwrap().push(format!("{what} {}", text(&input["id"])));
        note("begin");
        match input["do"].as_str().unwrap() {
            "meet" => {
                self.meeting.wait().await;
            }
            "panic" => panic!("as told"),
            _ => {}
        }
        note("end");
        ToolOutput { attachments: Attachment::list_from_value(&input["files"]), ..ToolOutput::text(text(&input["id"])) }
    }
}

struct Stage {
    folder: Folder,
    context: tempfile::TempDir,
    conversation: Conversation,
}

impl Stage {
    async fn new() -> Self {
        let folder = Folder::new();
        for n in 0..7 {
            folder.write(&format!("{n}.png"), png(n));
        }
        let context = tempfile::tempdir().unwrap();
        let conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
        Self { folder, context, conversation }
    }

    fn agent(&self, driver: &Arc<ScriptedDriver>, cancel: &Cancel) -> AgentLoop {
        AgentLoop::new(driver.clone(), self.folder.work.clone(), Settings::default())
            .with_tool(Arc::new(Puppet(cancel.clone())))
    }

    async fn ask(&mut self, driver: &Arc<ScriptedDriver>, cancel: &Cancel) -> Result<String, AgentError> {
        self.agent(driver, cancel).ask(&mut self.conversation, "Look.", cancel).await
    }

    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.context.path().join("conversation.jsonl")).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| line.get("role").is_some()).collect()
    }

    /// The id of each call, and of each result, in order.
    fn pairs(&self) -> (Vec<String>, Vec<String>) {
        let log = self.log();
        let contents = log.iter().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        let calls = contents.filter(|block| block["type"] == "tool_use").map(|block| text(&block["id"]));
        let results = log.iter().filter(|message| message["role"] == "tool");
        (calls.collect(), results.map(|message| text(&message["tool_call_id"])).collect())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn files(range: std::ops::Range<u64>) -> Value {
    let files: Vec<_> = range.map(|n| json!({"path": format!("{n}.png"), "media_type": "image/png"})).collect();
    json!({"do": "show", "files": files})
}

fn script(replies: impl IntoIterator<Item = Reply>) -> Arc<ScriptedDriver> {
    Arc::new(ScriptedDriver::new(replies.into_iter().map(ScriptEntry::from)))
}

fn images(messages: &[Value]) -> usize {
    messages.iter().flat_map(attache_runtime::conversation::blocks).filter(|block| block["type"] == "image").count()
}

#[tokio::test]
async fn calls_of_one_answer_are_one_turn() {
    let mut stage = Stage::new().await;
    let driver = script([
        Reply::default().with_call("a", "puppet", files(0..3)).with_call("b", "puppet", files(3..7)),
        Reply::default().with_call("c", "puppet", files(5..7)),
        Reply::text("Seen."),
    ]);
    assert_eq!(stage.ask(&driver, &Cancel::new()).await.unwrap(), "Seen.");
    driver.finish().unwrap();
    let requests = driver.requests();
    assert_eq!(requests.iter().map(|messages| images(messages)).collect::<Vec<_>>(), [0, 5, 5], "keep is five");
    let records = |at: usize| images(&stage.log()[at..=at]);
    assert_eq!([2, 3, 5].map(records), [3, 2, 2]);
    assert!(stage.log()[3]["content"][0]["text"].as_str().unwrap().contains("(turn_limit)"));
    assert_eq!(stage.pairs().0, stage.pairs().1);
}

#[tokio::test]
async fn every_call_gets_its_result_whatever_becomes_of_it() {
    let mut stage = Stage::new().await;
    let reply = ["fail", "panic", "show"].iter().fold(Reply::default(), |reply, what| {
        reply.with_call(format!("call {what}"), "puppet", json!({"do": what, "files": [{"path": 3}]}))
    });
    let driver = script([reply.with_call("call unknown", "no\nsuch tool", json!({})), Reply::text("Well.")]);
    stage.ask(&driver, &Cancel::new()).await.unwrap();
    driver.finish().unwrap();
    let (calls, results) = stage.pairs();
    assert_eq!((calls.len(), &calls), (4, &results));
    let log = stage.log();
    let [failed, panicked, shown, unknown] = &log[2..6] else { panic!("four results") };
    assert_eq!(
        (&failed["is_error"], images(std::slice::from_ref(failed))),
        (&json!(true), 1),
        "a failure may show something"
    );
    assert_eq!((&panicked["is_error"], &panicked["content"][0]["text"]), (&json!(true), &json!("the tool broke down")));
    assert_eq!(shown.get("is_error"), None, "refused attachments do not change the status");
    assert!(shown["content"][0]["text"].as_str().unwrap().starts_with("done\nattachment '' was not attached: "));
    assert_eq!(unknown["content"][0]["text"], "there is no tool \"no\\u{a}such tool\"");
}

#[tokio::test]
async fn a_cancelled_call_gets_its_result_too() {
    let mut stage = Stage::new().await;
    let hang = json!({"do": "hang"});
    let driver = script([Reply::default().with_call("a", "puppet", hang.clone()).with_call("b", "puppet", hang)]);
    let error = stage.ask(&driver, &Cancel::new()).await.unwrap_err();
    assert!(matches!(&error, AgentError::Driver(error) if error.code() == DriverError::CANCELLED), "{error}");
    let (calls, results) = stage.pairs();
    assert_eq!((calls.len(), &calls), (2, &results));
    let log = stage.log();
    let texts = [&log[2], &log[3]].map(|result| text(&result["content"][0]["text"]));
    assert_eq!(texts, ["the call was cancelled", "the call was cancelled before it began"]);
}

#[tokio::test]
async fn a_model_that_takes_no_images_gets_lines() {
    let mut stage = Stage::new().await;
    let info = ModelInfo { id: "reader".to_owned(), input_modalities: Some(vec![Modality::Text]) };
    let replies = [Reply::default().with_call("a", "puppet", files(0..2)), Reply::text("I cannot see.")];
    let driver = Arc::new(ScriptedDriver::with_info(info, replies.map(ScriptEntry::from)));
    stage.ask(&driver, &Cancel::new()).await.unwrap();
    let requests = driver.requests();
    assert_eq!(images(&requests[1]), 0);
    assert!(requests[1][2].to_string().contains("[image not shown: image/png, "));
    assert_eq!(images(&stage.log()), 2, "the conversation keeps them for a model that can see");
}

#[tokio::test]
async fn scripts_fail_loudly() {
    let mut stage = Stage::new().await;
    let driver = script([]);
    let error = stage.ask(&driver, &Cancel::new()).await.unwrap_err();
    assert_eq!(error.to_string(), "the script has no entry for request 1 (script_ran_out)");
    let driver = script([Reply::text("one"), Reply::text("two")]);
    stage.ask(&driver, &Cancel::new()).await.unwrap();
    assert_eq!(driver.finish().unwrap_err().code(), ScriptedDriver::NOT_USED_UP);
    stage.ask(&driver, &Cancel::new()).await.unwrap();
    driver.finish().unwrap();

    let fail = ScriptEntry::throw(DriverError::new("overloaded", "try later"));
    let driver = Arc::new(ScriptedDriver::new([fail, ScriptEntry::Hang]));
    assert_eq!(stage.ask(&driver, &Cancel::new()).await.unwrap_err().to_string(), "try later (overloaded)");
    let cancel = Cancel::new();
    let (asked, ()) = tokio::join!(stage.ask(&driver, &cancel), async { cancel.cancel() });
    assert_eq!(asked.unwrap_err().to_string(), "the call was cancelled (cancelled)");
}

#[tokio::test]
async fn a_model_that_goes_in_circles_is_stopped() {
    let mut stage = Stage::new().await;
    let reply = || Reply::default().with_call("again", "puppet", files(0..1));
    let driver = script([reply(), reply()]);
    let cancel = Cancel::new();
    let agent = stage.agent(&driver, &cancel).with_max_rounds(2);
    let error = agent.ask(&mut stage.conversation, "Look.", &cancel).await.unwrap_err();
    assert!(matches!(error, AgentError::TooManyRounds(2)), "{error}");
    assert_eq!(stage.pairs().0, stage.pairs().1);
}

#[tokio::test]
async fn calls_that_may_run_side_by_side_do_and_all_else_is_as_if_they_had_not() {
    let mut stage = Stage::new().await;
    let reader = Arc::new(Reader { meeting: tokio::sync::Barrier::new(2), events: Mutex::default() });
    let read = |id: &str, what: &str, files: Value| {
        let input = json!({"id": id, "do": what, "files": files["files"]});
        move |reply: Reply| reply.with_call(input["id"].as_str().unwrap(), "reader", input.clone())
    };
    // Two that only end together, each with more images than the other leaves room for; one that runs alone; two more.
    let reply = read("a", "meet", files(0..3))(Reply::default());
    let reply = read("b", "meet", files(3..7))(reply).with_call("alone", "puppet", files(0..1));
    let reply = read("c", "panic", json!({}))(reply).with_call("none", "no such tool", json!({}));
    let reply = read("d", "meet", json!({}))(reply);
    let reply = read("e", "meet", json!({}))(reply);
    let driver = script([reply, Reply::text("Seen.")]);
    let settings = Settings::default().with_concurrency(NonZero::new(2).unwrap());
    let cancel = Cancel::new();
    let agent = AgentLoop::new(driver.clone(), stage.folder.work.clone(), settings)
        .with_tool(Arc::new(Puppet(cancel.clone())))
        .with_tool(reader.clone());
    agent.ask(&mut stage.conversation, "Look.", &cancel).await.unwrap();
    driver.finish().unwrap();
    assert_eq!(
        stage.pairs(),
        (stage.pairs().0, ["a", "b", "alone", "c", "none", "d", "e"].map(str::to_owned).to_vec())
    );
    let log = stage.log();
    let [a, b, alone, c, ..] = &log[2..] else { panic!("results") };
    assert_eq!(
        [a, b, alone].map(|result| images(std::slice::from_ref(result))),
        [3, 2, 0],
        "one turn's limit, in order"
    );
    assert_eq!(c["content"][0]["text"], "the tool broke down");
    let events = reader.events.lock().unwrap().clone();
    assert_eq!(events[..2], ["begin a", "begin b"]);
    let place = |event: &str| events.iter().position(|found| found == event).unwrap();
    assert!(place("end a").max(place("end b")) < place("begin c") && place("begin c") < place("begin d"), "{events:?}");
}

#[tokio::test]
async fn every_call_of_a_cancelled_group_gets_its_result() {
    let mut stage = Stage::new().await;
    let reader = Arc::new(Reader { meeting: tokio::sync::Barrier::new(9), events: Mutex::default() });
    let calls = ["a", "b", "c"]
        .into_iter()
        .fold(Reply::default(), |reply, id| reply.with_call(id, "reader", json!({"id": id, "do": "meet"})));
    let driver = script([calls]);
    let cancel = Cancel::new();
    let settings = Settings::default().with_concurrency(NonZero::new(2).unwrap());
    let agent = AgentLoop::new(driver.clone(), stage.folder.work.clone(), settings).with_tool(reader.clone());
    let cancel_once_begun = async {
        while reader.events.lock().unwrap().len() < 2 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let (asked, ()) = tokio::join!(agent.ask(&mut stage.conversation, "Look.", &cancel), cancel_once_begun);
    assert!(matches!(asked, Err(AgentError::Driver(error)) if error.code() == DriverError::CANCELLED));
    let log = stage.log();
    let texts: Vec<_> = log[2..].iter().map(|result| text(&result["content"][0]["text"])).collect();
    assert_eq!(texts, ["the call was cancelled", "the call was cancelled", "the call was cancelled before it began"]);
    assert_eq!(stage.pairs().0, stage.pairs().1);
}
