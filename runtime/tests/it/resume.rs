//! What was seen, and what the tools kept, survives with the conversation.

use std::path::Path;
use std::sync::Arc;

use attache_runtime::conversation::{Item, NewAside};
use attache_runtime::workdir_fs::LocalFs;
use attache_runtime::{
    AgentError, AgentLoop, Cancel, Conversation, DiffMeta, FileSession, FileToolOptions, OpenOptions, ReadMeta, Reply,
    Scheduling, ScriptEntry, ScriptedDriver, Settings, Tool, ToolOutput, ToolSet, ToolSpec, View, WorkDir, call_metas,
    read_view,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::Folder;

/// One process's worth: opens everything, lets a model make these calls one after the other, and closes everything. The
/// text of each result.
async fn process(work: &Path, context: &Path, calls: &[(&str, Value)]) -> Vec<String> {
    let work = WorkDir::open(work).unwrap();
    let mut conversation = Conversation::open(context, OpenOptions::default()).await.unwrap();
    let before = conversation.len();
    let session = Arc::new(FileSession::load(&conversation).await.unwrap());
    let set = ToolSet::new(Arc::new(LocalFs::new(work.clone())), FileToolOptions::default());
    let replies = calls.iter().map(|(name, input)| Reply::default().with_call("same id", *name, input.clone()));
    let entries = replies.chain([Reply::text("Done.")]).map(ScriptEntry::from);
    let driver = Arc::new(ScriptedDriver::new(entries));
    let agent = AgentLoop::new(driver.clone(), work, Settings::default()).with_file_tools(set.tools(), session);
    agent.ask(&mut conversation, "Go.", &Cancel::new()).await.unwrap();
    driver.finish().unwrap();
    let mut texts = Vec::new();
    for at in before..conversation.len() {
        let message: Value = serde_json::from_str(&conversation.message_json(at).await.unwrap().unwrap()).unwrap();
        if message["role"] == "tool" {
            texts.push(message["content"][0]["text"].as_str().unwrap().to_owned());
        }
    }
    texts
}

fn read() -> (&'static str, Value) {
    ("read", json!({"file_path": "a.txt"}))
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({"file_path": "a.txt", "old_string": old, "new_string": new}))
}

const EDITED: &str = "The file a.txt has been updated successfully.";
const STALE: &str = "Error: cannot edit \"a.txt\": file changed since it was read — re-read the file, then retry";
const UNSEEN: &str = "Error: edit requires reading \"a.txt\" first — read the file, then retry";
const GONE: &str = "Error: cannot edit \"a.txt\": not found";

#[tokio::test]
async fn what_was_read_before_a_restart_may_be_edited_after_it() {
    let (folder, context) = (Folder::new(), tempfile::tempdir().unwrap());
    folder.write("a.txt", "one\ntwo\n");
    let run = async |call: (&'static str, Value)| process(&folder.path(), context.path(), &[call]).await.remove(0);
    assert!(run(read()).await.contains("1: one"));
    assert_eq!(run(edit("one", "1")).await, EDITED);
    assert_eq!(run(edit("two", "2")).await, EDITED, "an edit is seen too");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "1\n2\n");

    folder.write("a.txt", "changed\n");
    assert_eq!(run(edit("changed", "x")).await, STALE);
    assert!(run(read()).await.contains("1: changed"));

    // Each step of a deletion in a process of its own.
    std::fs::remove_file(folder.path().join("a.txt")).unwrap();
    assert_eq!(run(edit("changed", "x")).await, STALE);
    assert_eq!(run(read()).await, "Error: cannot read \"a.txt\": not found");
    assert_eq!(run(edit("changed", "x")).await, GONE);
    assert!(run(("write", json!({"file_path": "a.txt", "content": "new\n"}))).await.contains("Created file"));
    assert_eq!(run(edit("new", "newer")).await, EDITED);
}

#[tokio::test]
async fn what_one_conversation_saw_another_did_not() {
    let folder = Folder::new();
    folder.write("a.txt", "one\n");
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    process(&folder.path(), here.path(), &[read()]).await;
    assert_eq!(process(&folder.path(), there.path(), &[edit("one", "1")]).await, [UNSEEN]);
    assert_eq!(process(&folder.path(), here.path(), &[edit("one", "1")]).await, [EDITED]);
}

#[tokio::test]
async fn only_what_changed_is_saved_and_it_stands_behind_the_result() {
    let (folder, context) = (Folder::new(), tempfile::tempdir().unwrap());
    folder.write("a.txt", "one\n").write("b.txt", "b\n");
    let b = ("read", json!({"file_path": "b.txt"}));
    process(&folder.path(), context.path(), &[read(), b, edit("gone", "x"), edit("one", "1")]).await;
    let log = std::fs::read_to_string(context.path().join("conversation.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seen = lines.iter().filter(|line| line["type"] == "attache.observed");
    let seen: Vec<Vec<_>> =
        seen.map(|line| line["files"].as_object().unwrap().keys().map(String::as_str).collect()).collect();
    assert_eq!(seen, [["a.txt"], ["b.txt"], ["a.txt"]], "a refusal is no observation");
    let kinds = lines.iter().map(|line| line["role"].as_str().or(line["type"].as_str()).unwrap()).collect::<Vec<_>>();
    let answered = ["assistant", "tool", "attache.meta", "attache.observed"];
    assert_eq!(kinds[2..10], [answered, answered].concat());
}

#[tokio::test]
async fn what_the_tools_kept_is_read_back_by_the_rules() {
    let (folder, context) = (Folder::new(), tempfile::tempdir().unwrap());
    folder.write("a.rs", "fn a() {}\n");
    let on_a = |more: Value| {
        let mut input = json!({"file_path": "a.rs"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        input
    };
    let calls = [
        ("read", on_a(json!({}))),
        ("edit", on_a(json!({"old_string": "a()", "new_string": "b()"}))),
        ("read", on_a(json!({"offset": 0}))),
        ("nothing", json!({})),
    ];
    let texts = process(&folder.path(), context.path(), &calls).await;
    let view = View::open(context.path(), OpenOptions::default()).await.unwrap();
    let metas = call_metas(&view).await.unwrap();
    assert_eq!(metas.iter().map(|meta| meta.message).collect::<Vec<_>>(), [2, 4, 6, 8], "though the ids are the same");
    assert_eq!(metas.iter().map(|meta| meta.tool.as_str()).collect::<Vec<_>>(), ["read", "edit", "read", "nothing"]);
    assert!(metas.iter().all(|meta| meta.call_id == "same id"));
    let shown: ReadMeta = read_view(&texts[0], false, &metas[0].value).unwrap();
    assert_eq!((shown.lines[0].text.as_str(), shown.lang.as_deref()), ("fn a() {}", Some("rust")));
    let diff = DiffMeta::from_value(&metas[1].value).unwrap();
    assert_eq!(diff.hunks.unwrap()[0].to_string(), "@@ -1 +1 @@\n-fn a() {}\n+fn b() {}\n");
    assert_eq!(read_view(&texts[2], true, &metas[2].value), None);
    assert_eq!(metas[2].value["error"]["code"], "invalid_argument");
    assert_eq!(metas[3].value["error"]["code"], "unknown_tool");
}

#[tokio::test]
async fn a_tail_torn_off_within_what_was_seen_makes_it_unseen_and_nothing_worse() {
    let (folder, context) = (Folder::new(), tempfile::tempdir().unwrap());
    folder.write("a.txt", "one\n");
    process(&folder.path(), context.path(), &[read()]).await;
    let path = context.path().join("conversation.jsonl");
    let whole = std::fs::read(&path).unwrap();
    let find = |text: &str| whole.windows(text.len()).position(|part| part == text.as_bytes()).unwrap();
    let begin = find("{\"type\":\"attache.observed\"");
    let end = begin + whole[begin..].iter().position(|byte| *byte == b'\n').unwrap();
    // Written again it has another version, so that what is still known of it is stale.
    folder.write("a.txt", "one\n");
    for (cut, text) in [(begin, UNSEEN), (begin + 30, UNSEEN), (end - 1, UNSEEN), (end, STALE)] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert_eq!(process(&folder.path(), context.path(), &[edit("one", "1")]).await, [text], "{cut}");
    }
}

/// Writes to the log behind its writer's back.
#[derive(Debug)]
struct Vandal(std::path::PathBuf);

#[async_trait::async_trait]
impl Tool for Vandal {
    fn spec(&self) -> ToolSpec {
        ToolSpec::named("vandal")
    }

    fn scheduling(&self) -> Scheduling {
        Scheduling::Parallel
    }

    async fn call(&self, _: &Value) -> ToolOutput {
        let mut log = std::fs::File::options().append(true).open(&self.0).unwrap();
        std::io::Write::write_all(&mut log, b"{}\n").unwrap();
        ToolOutput::text("done")
    }
}

#[tokio::test]
async fn what_could_not_be_saved_is_saved_another_time() {
    let (folder, context) = (Folder::new(), tempfile::tempdir().unwrap());
    folder.write("a.txt", "one\n");
    let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
    let session = Arc::new(FileSession::new());
    let set = ToolSet::new(Arc::new(LocalFs::new(folder.work.clone())), FileToolOptions::default());
    let (name, input) = read();
    let reply = Reply::default().with_call("a", name, input).with_call("b", "vandal", json!({}));
    let driver = Arc::new(ScriptedDriver::new([ScriptEntry::from(reply)]));
    let agent = AgentLoop::new(driver.clone(), folder.work.clone(), Settings::default())
        .with_tool(Arc::new(Vandal(context.path().join("conversation.jsonl"))))
        .with_file_tools(set.tools(), session.clone());
    let error = agent.ask(&mut conversation, "Go.", &Cancel::new()).await.unwrap_err();
    assert!(matches!(error, AgentError::Conversation(_)), "{error}");
    drop(conversation);
    let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
    let unsaved = session.take_unsaved();
    assert!(unsaved.get("a.txt").is_some());
    assert!(session.take_unsaved().is_empty());
    conversation.append_items(unsaved.to_aside().map(Item::Aside)).await.unwrap();
    assert_eq!(FileSession::load(&conversation).await.unwrap().observations(), session.observations());
}

#[tokio::test]
async fn another_folder_does_not_pass_for_the_one_that_was_seen() {
    let (here, there, context) = (Folder::new(), Folder::new(), tempfile::tempdir().unwrap());
    here.write("a.txt", "one\n");
    there.write("a.txt", "one\n");
    process(&here.path(), context.path(), &[read()]).await;
    assert_eq!(process(&there.path(), context.path(), &[edit("one", "1")]).await, [STALE]);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "present|absent|picture|a.txt|\\PC{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 16, 4, |inner| {
        let key = "files|a.txt|state|version|tool_call_id|tool|meta|lines|\\PC{0,4}";
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_such_line_costs_anyone_a_session(kinds in proptest::collection::vec(any::<bool>(), 4), values in proptest::collection::vec(any_json(), 4)) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let context = tempfile::tempdir().unwrap();
        runtime.block_on(async {
            let mut conversation = Conversation::open(context.path(), OpenOptions::default()).await.unwrap();
            let good = json!({"files": {"good.txt": {"state": "absent"}}});
            let mut asides = vec![NewAside::new("observed", good).unwrap()];
            for (is_meta, value) in kinds.into_iter().zip(values) {
                let kind = if is_meta { "meta" } else { "observed" };
                asides.extend(NewAside::new(kind, value.clone()));
                asides.extend(NewAside::new(kind, json!({"files": value, "tool_call_id": "c", "tool": "read", "meta": value})));
                asides.extend(NewAside::new(kind, json!({"files": {"a.txt": value}})));
            }
            conversation.append_items(asides.into_iter().map(Item::Aside)).await.unwrap();
            drop(conversation);
            let view = View::open(context.path(), OpenOptions::default()).await.unwrap();
            let session = FileSession::load(&view).await.unwrap();
            assert!(session.observations().get("good.txt").is_some());
            assert!(session.take_unsaved().is_empty(), "what was loaded is saved");
            for meta in call_metas(&view).await.unwrap() {
                let _ = (ReadMeta::from_value(&meta.value), DiffMeta::from_value(&meta.value));
            }
        });
    }
}
