//! What the demo's model says and what its tool returns, turn by turn.

use async_trait::async_trait;
use attache_runtime::{Attachment, Reply, ScriptEntry, Tool, ToolOutput, ToolSpec};
use serde_json::{Value, json};

/// What the user asks.
pub(crate) const QUESTION: &str = "Show me what is in the studio, one thing after the other.";

/// The turns: what the model asks the tool for. Several names are several calls of one turn.
const TURNS: [&[&str]; 8] = [
    &["chart"],
    &["photo"],
    &["window", "sketch"],
    &["map"],
    &["mislabelled", "vector"],
    &["huge", "missing"],
    &["link", "parent", "pipe"],
    &["burst"],
];

/// The files that each call names, with the types it declares.
const RESULTS: [(&str, &[(&str, &str)]); 13] = [
    ("chart", &[("chart.png", "image/png")]),
    ("photo", &[("photo.jpg", "image/jpeg")]),
    ("window", &[("window.webp", "image/webp")]),
    ("sketch", &[("sketch.gif", "image/gif")]),
    ("map", &[("map.png", "image/png")]),
    ("mislabelled", &[("sketch.gif", "image/png")]),
    ("vector", &[("logo.svg", "image/svg+xml")]),
    ("huge", &[("huge.png", "image/png")]),
    ("missing", &[("gone.png", "image/png")]),
    ("link", &[("link.png", "image/png")]),
    ("parent", &[("../secret.png", "image/png")]),
    ("pipe", &[("pipe.png", "image/png")]),
    (
        "burst",
        &[
            ("burst/1.jpg", "image/jpeg"),
            ("burst/2.png", "image/png"),
            ("burst/3.gif", "image/gif"),
            ("burst/4.webp", "image/webp"),
            ("burst/5.png", "image/png"),
            ("burst/6.png", "image/png"),
        ],
    ),
];

/// The model's answers: one per turn, and a last one without calls.
pub(crate) fn replies() -> Vec<ScriptEntry> {
    let turns = (1..).zip(TURNS).map(|(turn, names)| {
        let start = Reply::text(format!("Turn {turn}: {}, please.", names.join(" and ")));
        let call =
            |reply: Reply, name: &&str| reply.with_call(format!("call_{turn}_{name}"), "studio", json!({"show": name}));
        names.iter().fold(start, call)
    });
    turns.chain([Reply::text("Thank you, that was all.")]).map(ScriptEntry::from).collect()
}

/// The demo's only tool: returns text and names files, as a real tool would.
#[derive(Debug)]
pub(crate) struct Studio;

#[async_trait]
impl Tool for Studio {
    fn spec(&self) -> ToolSpec {
        ToolSpec::named("studio")
    }

    async fn call(&self, input: &Value) -> ToolOutput {
        let name = input["show"].as_str().unwrap_or_default();
        let Some((_, files)) = RESULTS.iter().find(|(known, _)| *known == name) else {
            return ToolOutput::error(format!("there is no {name} in the studio"));
        };
        let attach = |output: ToolOutput, (path, media_type): &(&str, &str)| {
            output.with_attachment(Attachment::new(*path, *media_type))
        };
        files.iter().fold(ToolOutput::text(format!("Here is the {name}.")), attach)
    }
}
