//! `attache inspect`, `preview` and `read`: the same for people, who are told what to do next.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attache_evidence::{
    ErrorKind, EvidenceError, Manifest, RunFailure, Warning, estimate, is_image_input, probe, run, run_with_view,
};
use serde::Serialize;

use super::reply::Failed;
use super::{Session, quoted, run_options, text};
use crate::args::evidence::{Guided, InspectArgs, PreviewArgs, ReadArgs, Reader};
use crate::output::{Failure, Output, print};
use crate::thumbnail::shrink;

pub(crate) fn inspect(args: &InspectArgs, output: Output) -> Result<ExitCode, Failure> {
    let input = &args.input.input;
    let session = Session::new(&args.input.reading);
    let found = is_ours(&args.input).and_then(|()| session.with(|options| probe(input, options)));
    match found {
        Ok(found) => done(&found, output, || text::inspect(&found, &again(input, &found.input))),
        Err(error) => failed(&Failed::Error(&error), output),
    }
}

pub(crate) fn preview(args: &PreviewArgs, output: Output) -> Result<ExitCode, Failure> {
    let input = &args.input.input;
    let session = Session::new(&args.input.reading);
    let model = args.asked.agent_model.as_deref().or(session.config.agent_model.as_deref());
    let asked = session.estimate_options(args.asked.out_words, model);
    let found = is_ours(&args.input).and_then(|()| session.with(|options| estimate(input, &asked, options)));
    match found {
        Ok(found) => done(&found, output, || text::preview(&found, &again(input, &found.input))),
        Err(error) => failed(&Failed::Error(&error), output),
    }
}

pub(crate) fn read(args: &ReadArgs, output: Output) -> Result<ExitCode, Failure> {
    if let Err(error) = is_ours(&args.input) {
        return failed(&Failed::Error(&error), output);
    }
    let session = Session::new(&args.input.reading);
    let asked = run_options(&args.bundle);
    let made = session.with(|options| {
        if args.view {
            run_with_view(&args.input.input, &asked, options, &shrink).map(|made| (made.manifest, Some(made.view)))
        } else {
            run(&args.input.input, &asked, options).map(|manifest| (manifest, None))
        }
    });
    match made {
        Ok((manifest, view)) => {
            // Left out of a reproducible manifest, whose folder was named then, but not of what people are told.
            let folder = manifest.workdir.as_ref().map(PathBuf::from);
            let folder = folder.or_else(|| args.bundle.workdir.as_ref().map(PathBuf::from)).unwrap_or_default();
            let read = Read { view: view.as_deref().map(|view| shown_view(&manifest, view)), manifest: &manifest };
            done(&read, output, || story(&manifest, &folder, view.as_deref()))
        }
        Err(failure) => failed(&Failed::Run(&failure), output),
    }
}

/// The input as the next command takes it: what was found elsewhere, as in the inbox, by its whole path.
fn again(given: &Path, found: &str) -> String {
    let is_there = given.symlink_metadata().is_ok() && !given.to_string_lossy().starts_with('-');
    quoted(if is_there { given } else { Path::new(found) })
}

/// The manifest, and the page beside it.
#[derive(Serialize)]
struct Read<'a> {
    #[serde(flatten)]
    manifest: &'a Manifest,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<String>,
}

fn story(manifest: &Manifest, folder: &Path, view: Option<&Path>) -> String {
    let view = view.map(view_line).unwrap_or_default();
    let skipped = text::skipped(&manifest.skipped);
    let provenance = text::provenance(manifest.images.iter().map(|image| &image.provenance));
    let warnings: String = manifest
        .warnings
        .iter()
        .map(|Warning { message, .. }| format!("Warning: {}\n", text::shown(message)))
        .collect();
    format!(
        "Folder: {}\nImages: {}\n{view}{skipped}{provenance}{warnings}Next: read {}, then the images in {}; cite them as [image 1]\n",
        text::shown(&folder.to_string_lossy()),
        manifest.item_count,
        quoted(&folder.join("manifest.json")),
        quoted(&folder.join("images/")),
    )
}

/// Where the page is, as the manifest says where things are.
pub(super) fn shown_view(manifest: &Manifest, view: &Path) -> String {
    let within = manifest.workdir.is_none().then(|| view.file_name()).flatten();
    within.map_or(view, Path::new).to_string_lossy().into_owned()
}

fn view_line(view: &Path) -> String {
    format!("View: {} (for people; open it in a browser)\n", text::shown(&view.to_string_lossy()))
}

/// Whether the image reader is the one for this input.
fn is_ours(guided: &Guided) -> Result<(), EvidenceError> {
    let refused = |message: String| Err(EvidenceError::new(ErrorKind::Input, message));
    let input = guided.input.display();
    if guided.stop_at.is_some() {
        return refused("--stop-at is for videos, and only images are read".to_owned());
    }
    match guided.reader {
        Reader::Image => Ok(()),
        Reader::Auto if is_image_input(&guided.input) => Ok(()),
        Reader::Auto if input.to_string().contains("://") => {
            // The address last: what is taken out of one may reach up to white space.
            refused(format!("no reader for a web address, save it locally and read the file: {input}"))
        }
        // The reader of images says best that there is nothing.
        Reader::Auto if !guided.input.exists() => Ok(()),
        Reader::Auto => refused(format!("no reader for this input, only for images and folders of images: {input}")),
        other => refused(format!("there is no {} reader, only one for images", format!("{other:?}").to_lowercase())),
    }
}

fn done(payload: &impl Serialize, output: Output, text: impl FnOnce() -> String) -> Result<ExitCode, Failure> {
    let printed = if output.is_json() {
        let document = serde_json::to_string_pretty(payload)
            .map_err(|error| Failure::operation("unexpected_error", format!("could not print the result: {error}")))?;
        document + "\n"
    } else {
        text()
    };
    print(printed.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn failed(failure: &Failed<'_>, output: Output) -> Result<ExitCode, Failure> {
    if output.is_json() {
        print(format!("{:#}\n", failure.envelope(None)).as_bytes())?;
    } else {
        let lines: Vec<_> = failure.message().lines().map(text::shown).collect();
        let mut message = format!("attache could not continue: {}\n", lines.join("\n"));
        if let Failed::Run(failure) = failure {
            message += &left_over(failure);
        }
        let _ = std::io::stderr().write_all(message.as_bytes());
    }
    Ok(ExitCode::from(failure.error().kind().exit_code()))
}

/// What a run that failed has left to use.
fn left_over(failure: &RunFailure) -> String {
    let Some(manifest) = &failure.data else {
        return String::new();
    };
    let folder = manifest.workdir.as_ref().map(|folder| format!("Evidence folder: {folder}\n")).unwrap_or_default();
    let stage = format!("Failed stage: {}\n", format!("{:?}", failure.failed_stage).to_lowercase());
    let saved = if failure.manifest_written { "Manifest saved; only what it lists is evidence.\n" } else { "" };
    let view = failure.view.as_deref().map(view_line).unwrap_or_default();
    format!("{folder}{stage}{saved}{view}")
}
