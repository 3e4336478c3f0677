use std::sync::Arc;

use attache_blobstore::MemoryStore;
use attache_media::fixtures;
use serde_json::{Value, json};

use crate::driver::{Modality, ToolCall};
use crate::settings::Settings;
use crate::tools::testing::{Stage, failure, model, seeing};
use crate::tools::{FileToolOptions, Scheduling};

fn names(stage: &Stage) -> Vec<String> {
    stage.tools.specs().into_iter().map(|spec| spec.name).collect()
}

fn unknown(name: &str) -> (String, String) {
    ("unknown_tool".to_owned(), format!("unknown tool \"{name}\""))
}

fn call(name: &str, input: Value) -> ToolCall {
    ToolCall { id: "c".to_owned(), name: name.to_owned(), input }
}

#[tokio::test]
async fn unmounting_takes_only_read_image_and_mounting_brings_it_back() {
    let stage = Stage::new(seeing());
    stage.files.put("a.png", fixtures::png(1, 1, 1)).put("a.txt", "x");
    let image = || json!({"file_path": "a.png"});
    let all = ["read", "read_image", "write", "edit"];
    assert_eq!(names(&stage), all);

    stage.set.unmount();
    assert_eq!(names(&stage), ["read", "write", "edit"]);
    assert_eq!(stage.tools.scheduling("read_image"), None);
    assert_eq!(stage.fail("read_image", image()).await, unknown("read_image"));
    // Whatever is wrong with the call besides.
    assert_eq!(stage.fail("read_image", json!(null)).await, unknown("read_image"));
    assert_eq!(stage.files.calls(), [""; 0]);
    assert_eq!(stage.call("read", json!({"file_path": "a.txt"})).await.is_error, None);

    let other = Arc::new(MemoryStore::new());
    stage.set.mount(other.clone());
    assert_eq!(names(&stage), all);
    assert_eq!(stage.call("read_image", image()).await.images.len(), 1);
    assert_eq!(stage.blobs(), 0, "it went to the other store");

    let Stage { set, tools, session, cancel, .. } = stage;
    drop(set);
    assert_eq!((tools.specs().len(), tools.scheduling("read")), (0, None));
    let context = crate::tools::CallContext::new(&session, &cancel);
    for name in all {
        assert_eq!(failure(tools.call(name, &json!({}), context).await), unknown(name));
        assert_eq!(failure(tools.call_all(&[call(name, json!({}))], context).await.remove(0)), unknown(name));
    }
}

#[tokio::test]
async fn nothing_else_is_a_tool() {
    let stage = Stage::new(seeing());
    for (name, shown) in [("Read", "Read"), ("", ""), ("read\n", "read\\u{a}")] {
        assert_eq!(stage.fail(name, json!({"file_path": "a"})).await, unknown(shown));
    }
}

#[test]
fn schemas_are_the_same_for_every_model_and_name_every_argument() {
    let of = |options| Stage::new(options).tools.specs();
    let blind = FileToolOptions::default().with_model(model("reader", Some(&[Modality::Text])));
    assert_eq!(of(seeing()), of(blind));
    for (spec, properties, required) in [
        (0, &["file_path", "offset", "limit"][..], &["file_path"][..]),
        (1, &["file_path"], &["file_path"]),
        (2, &["file_path", "content"], &["file_path", "content"]),
        (3, &["file_path", "old_string", "new_string", "replace_all"], &["file_path", "old_string", "new_string"]),
    ] {
        let spec = &of(seeing())[spec];
        let schema = &spec.input_schema;
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!((&names[..], &schema["required"]), (properties, &json!(required)));
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        assert!(!spec.description.is_empty());
    }
    assert_eq!(of(seeing())[0].input_schema["properties"]["limit"]["maximum"], 2000);
}

#[tokio::test]
async fn reads_run_side_by_side_and_changes_alone() {
    let two_at_a_time = Settings::default().with_concurrency(2.try_into().unwrap());
    let stage = Stage::new(seeing().with_settings(two_at_a_time));
    for (name, scheduling) in [
        ("read", Some(Scheduling::Parallel)),
        ("read_image", Some(Scheduling::Parallel)),
        ("write", Some(Scheduling::Exclusive)),
        ("edit", Some(Scheduling::Exclusive)),
        ("bash", None),
    ] {
        assert_eq!(stage.tools.scheduling(name), scheduling, "{name}");
    }
    stage.files.put("a", "1").put("b.png", fixtures::png(1, 1, 1));
    let read = || call("read", json!({"file_path": "a"}));
    let calls = [
        read(),
        call("read_image", json!({"file_path": "b.png"})),
        call("edit", json!({"file_path": "a", "old_string": "1", "new_string": "2"})),
        call("write", json!({"file_path": "a", "content": "3"})),
        call("nothing", json!({})),
        read(),
    ];
    let outputs = stage.tools.call_all(&calls, stage.context()).await;
    let texts: Vec<_> = outputs.iter().map(|output| output.text.clone()).collect();
    assert!(texts[0].contains("\n1: 1\n") && texts[5].contains("\n1: 3\n"), "{texts:?}");
    assert_eq!((outputs[1].images.len(), outputs[2].is_error, outputs[3].is_error), (1, None, None));
    assert_eq!(texts[4], "Error: unknown tool \"nothing\"");
    let spied = stage.files.calls();
    assert_eq!(spied[..2], ["resolve", "resolve"], "{spied:?}");
    assert_eq!(
        spied[6..],
        ["resolve", "edit_text", "resolve", "write_text", "resolve", "stat", "read_bytes"],
        "{spied:?}"
    );
}

#[tokio::test]
async fn a_cancelled_call_ends_wherever_it_is() {
    let text = |verb: &str, path: &str, after: &str| {
        ("FS_ABORTED".to_owned(), format!("cannot {verb} \"{path}\": cancelled{after}"))
    };
    let midway = " while it ran; the file may have changed";
    for (tool, input, hangs, before, after) in [
        ("read", json!({"file_path": "a"}), "resolve", text("read", "a", ""), ""),
        ("read", json!({"file_path": "a"}), "stat", text("read", "a", ""), ""),
        ("read", json!({"file_path": "a"}), "read_bytes", text("read", "a", ""), ""),
        ("read_image", json!({"file_path": "a.png"}), "read_bytes", text("read", "a.png", ""), ""),
        ("write", json!({"file_path": "new", "content": ""}), "write_text", text("write", "new", ""), midway),
        (
            "edit",
            json!({"file_path": "a", "old_string": "1", "new_string": "2"}),
            "edit_text",
            text("edit", "a", ""),
            midway,
        ),
    ] {
        let stage = Stage::new(seeing());
        stage.files.put("a", "1").put("a.png", fixtures::png(1, 1, 1));
        stage.call("read", json!({"file_path": "a"})).await;
        let seen = stage.session.observations();
        stage.files.hang_in(hangs).calls();
        let (failed, ()) = tokio::join!(stage.fail(tool, input.clone()), async {
            while stage.files.calls().last() != Some(&hangs) {
                tokio::task::yield_now().await;
            }
            stage.cancel.cancel();
        });
        assert_eq!(failed, (before.0.clone(), format!("{}{after}", before.1)), "{tool} {hangs}");
        assert_eq!((stage.session.observations(), stage.blobs()), (seen, 0));
        // Nor does another begin.
        stage.files.calls();
        assert_eq!(stage.fail(tool, input).await, before);
        assert_eq!(stage.files.calls(), [""; 0]);
    }
}
