//! The `attache demo` command: the whole loop on pictures it draws itself, with a scripted model.

mod pictures;
mod scene;
mod script;
mod timeline;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use attache_runtime::conversation::Frame;
use attache_runtime::{
    AgentLoop, Cancel, Conversation, OpenOptions, RenderOptions, ScriptedDriver, Settings, Verify, View, WorkDir,
};
use serde_json::json;

use crate::args::DemoArgs;
use crate::demo::scene::Scene;
use crate::demo::timeline::Timeline;
use crate::output::{Failure, Output, path_text};

pub(crate) async fn run(args: DemoArgs, output: Output) -> Result<ExitCode, Failure> {
    let dir = make_dir(args.dir)?;
    let scene = Scene::draw(&dir.join("work")).map_err(|error| failed("draw the pictures", &error))?;
    let context = dir.join("session");
    let settings = Settings::default().with_verify(Verify::Decode).with_fence(true);
    let keep = settings.limits.keep();
    let render = RenderOptions::newest(keep);

    let driver = Arc::new(ScriptedDriver::new(script::replies()));
    let before = {
        let options = OpenOptions::default().with_writer("attache demo").with_intake(settings.intake());
        let mut conversation = Conversation::open(&context, options).await?;
        converse(&driver, &scene, settings, &mut conversation).await?;
        conversation.render_body(render, Frame::default()).await?
    };
    // The conversation is closed; what follows knows only what is on the disk.
    let view = View::open(&context, OpenOptions::default()).await?;
    let after = view.render_body(render, Frame::default()).await?;
    if before != after {
        return Err(Failure::operation("unexpected_error", "the reopened conversation rendered other bytes"));
    }

    let page = crate::commands::view::write(&view, keep, &dir.join("view.html")).await?;

    let timeline = Timeline::of(&driver.requests(), &scene);
    let document = json!({
        "dir": path_text(&dir), "workdir": path_text(scene.dir()), "conversation": path_text(&context), "requests": timeline.document(),
        "replay": {"bytes": after.len(), "identical": true}, "view": path_text(&page),
    });
    output.result(&document, || {
        format!("{}{}", timeline.text(&scene), closing(&view, &context, scene.dir(), &page, after.len()))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The agent loop: a question, and as many rounds of model and tools as the script has.
async fn converse(
    driver: &Arc<ScriptedDriver>,
    scene: &Scene,
    settings: Settings,
    conversation: &mut Conversation,
) -> Result<(), Failure> {
    let work = WorkDir::open(scene.dir()).map_err(|error| failed("open the work folder", &error))?;
    let agent = AgentLoop::new(driver.clone(), work, settings).with_tool(Arc::new(script::Studio));
    agent
        .ask(conversation, script::QUESTION, &Cancel::new())
        .await
        .map_err(|error| failed("run the agent loop", &error))?;
    driver.finish().map_err(|error| failed("run the script to its end", &error))
}

fn closing(view: &View, context: &Path, work: &Path, page: &Path, bytes: usize) -> String {
    let program = std::env::args().next().unwrap_or_else(|| "attache".to_owned());
    let (context, work, page) = (context.display(), work.display(), page.display());
    let log = view.log_report().bytes;
    format!(
        "\nClosed, reopened, rendered again: {bytes} bytes, the same byte for byte. The log itself has {log} bytes.\n\
         \nThe conversation is in {context}, and as a page for a browser in {page}. Try next:\n  \
         {program} show -c {context}\n  \
         {program} check -c {context}\n  \
         {program} render -c {context} --keep 1 --out request.json\n  \
         {program} attach -c {context} --workdir {work} --text 'Once more.' chart.png ../secret.png\n"
    )
}

/// A fresh directory: the one asked for, if it is empty or absent, or a temporary one that stays.
fn make_dir(asked: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let Some(dir) = asked else {
        let dir = tempfile::Builder::new().prefix("attache-demo-").tempdir();
        return dir.map(tempfile::TempDir::keep).map_err(|error| failed("make a temporary directory", &error));
    };
    std::fs::create_dir_all(&dir).map_err(|error| failed("make the directory", &error))?;
    let mut entries = std::fs::read_dir(&dir).map_err(|error| failed("read the directory", &error))?;
    if entries.next().is_some() {
        let text = format!("\"{}\" is not empty, and the demo wants a fresh directory", dir.display());
        return Err(Failure::input("directory_not_empty", text));
    }
    std::path::absolute(&dir).map_err(|error| failed("find the directory", &error))
}

fn failed(what: &str, error: &dyn std::error::Error) -> Failure {
    Failure::operation("operation_failed", format!("could not {what}: {error}"))
}
