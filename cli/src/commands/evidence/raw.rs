//! `attache image …`: one JSON document a call, errors included, for programs.

use std::process::ExitCode;

use attache_evidence::{Bundle, Estimate, estimate, probe, run};
use serde::Serialize;
use serde_json::{Value, json};

use super::reply::{self, Failed, PROTOCOL_VERSION};
use super::{Session, run_options, text};
use crate::args::evidence::{Form, ImageArgs, ImageCommand};
use crate::output::{BAD_INPUT, Failure, Output, print};

const COMMANDS: [&str; 5] = ["manifest", "probe", "estimate", "run", "verify"];

pub(crate) fn image(args: &ImageArgs, output: Output) -> Result<ExitCode, Failure> {
    match &args.command {
        ImageCommand::Manifest { form } => done("manifest", &protocol(), *form),
        ImageCommand::Probe { input, reading, form } => {
            match Session::new(reading).with(|options| probe(input, options)) {
                Ok(found) => done("probe", &found, *form),
                Err(error) => failed("probe", &Failed::Error(&error), *form, output),
            }
        }
        ImageCommand::Estimate { input, asked, reading, form } => {
            let session = Session::new(reading);
            let asked = session.estimate_options(asked.out_words, asked.agent_model.as_deref());
            match session.with(|options| estimate(input, &asked, options)) {
                Ok(found) => estimated(&found, *form, output),
                Err(error) => failed("estimate", &Failed::Error(&error), *form, output),
            }
        }
        ImageCommand::Run { input, bundle, reading, form } => {
            match Session::new(reading).with(|options| run(input, &run_options(bundle), options)) {
                Ok(manifest) => done("run", &manifest, *form),
                Err(failure) => failed("run", &Failed::Run(&failure), *form, output),
            }
        }
        ImageCommand::Verify { workdir, reading, form } => {
            let session = Session::new(reading);
            match session.with(|options| Bundle::open(workdir).map(|bundle| bundle.verify(options))) {
                Ok(verified) => {
                    done("verify", &verified, *form)?;
                    Ok(if verified.ok { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) })
                }
                Err(error) => failed("verify", &Failed::Error(&error), *form, output),
            }
        }
    }
}

/// A usage error as a document, if the arguments hold a literal `--envelope` for one of these commands.
pub(crate) fn usage(error: &clap::Error) -> Option<ExitCode> {
    let arguments: Vec<String> =
        std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect();
    let mut words = arguments.iter().filter(|argument| !argument.starts_with('-'));
    let is_ours = words.next().is_some_and(|first| first == "image");
    if !is_ours || !error.use_stderr() || !arguments.iter().any(|argument| argument == "--envelope") {
        return None;
    }
    let command = arguments.iter().find(|argument| COMMANDS.contains(&&***argument));
    let text = error.render().to_string();
    let message = text.trim().trim_start_matches("error: ");
    let _ = print(reply::usage_envelope(command.map(String::as_str), message).as_bytes());
    Some(ExitCode::from(2))
}

fn done(command: &str, payload: &impl Serialize, form: Form) -> Result<ExitCode, Failure> {
    let text = reply::success(command, payload, form)
        .map_err(|error| Failure::operation("unexpected_error", format!("could not print the result: {error}")))?;
    print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn estimated(found: &Estimate, form: Form, output: Output) -> Result<ExitCode, Failure> {
    if form.human && !output.is_json() {
        print(text::human(found).as_bytes())?;
        return Ok(ExitCode::SUCCESS);
    }
    done("estimate", found, form)
}

fn failed(command: &str, failure: &Failed<'_>, form: Form, output: Output) -> Result<ExitCode, Failure> {
    // With `--json` an error says its code, as it does for every other command.
    let form = Form { envelope: form.envelope || output.is_json(), ..form };
    print(reply::failure(command, failure, form).as_bytes())?;
    Ok(ExitCode::from(failure.error().kind().exit_code()))
}

/// The contract of the commands, for programs that ask before they call.
fn protocol() -> Value {
    let command = |description: &str, own: &[&str]| {
        let flags = [own, &["--human", "--envelope", "--compact"]].concat();
        json!({"description": description, "flags": flags})
    };
    json!({
        "protocol_version": PROTOCOL_VERSION,
        "interactive": false,
        "commands": {
            "manifest": command("Print this contract", &[]),
            "probe": command("Print which images there are, in order, and what was measured of each", &[]),
            "estimate": command("Print what reading it would cost an agent", &["--out-words", "--agent-model"]),
            "run": command("Make a bundle: checked copies and a manifest", &["--workdir"]),
        },
        "exit_codes": {
            "0": "success",
            "1": "unexpected error",
            "2": "usage error",
            "3": "input error",
            "4": "approval required; never used for images",
            "5": "a dependency is missing",
            "6": "an operation failed",
        },
    })
}
