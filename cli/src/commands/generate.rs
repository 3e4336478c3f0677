//! `attache completions` and `attache man`: generated from the grammar itself.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use serde_json::json;

use crate::args::{Cli, CompletionsArgs, ManArgs};
use crate::output::{Failure, Output, path_text};

pub(crate) fn completions(args: &CompletionsArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "attache", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    output.result(&json!({"shell": args.shell.to_string(), "script": script}), || script.clone())?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs, output: Output) -> Result<ExitCode, Failure> {
    let Some(dir) = &args.out else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|error| failure(Path::new("-"), &error))?;
        let page = String::from_utf8_lossy(&page).into_owned();
        output.result(&json!({"page": page}), || page.clone())?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), dir))
        .map_err(|error| failure(dir, &error))?;
    output.result(&json!({"out": path_text(dir)}), || format!("{}\n", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn failure(place: &Path, error: &std::io::Error) -> Failure {
    Failure::operation("io_error", format!("could not write the manual to \"{}\": {error}", place.display()))
}
