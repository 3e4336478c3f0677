//! The `attache` command: thin over the crates, one file a command.

mod args;
mod commands;
mod demo;
mod output;
mod progress;
mod thumbnail;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::output::{Failure, Output};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return commands::evidence::usage(&error).unwrap_or_else(|| output::usage(&error)),
    };
    init_logging();
    let output = Output::new(cli.json);
    match run(cli.command, output) {
        Ok(code) => code,
        Err(failure) => output.failure(&failure),
    }
}

fn run(command: Command, output: Output) -> Result<ExitCode, Failure> {
    let runtime = match command {
        // Only a server waits for streams and signals. Elsewhere threads wake each other without a file descriptor, whose failure no
        // command could survive. A server's one thread takes up calls in the order they came; the work itself is done on others.
        Command::Mcp(_) => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        _ => tokio::runtime::Builder::new_multi_thread().build(),
    };
    let runtime =
        runtime.map_err(|error| Failure::operation("io_error", format!("could not start the runtime: {error}")))?;
    let ended = runtime.block_on(async {
        match command {
            Command::Demo(args) => demo::run(args, output).await,
            Command::Attach(args) => commands::attach::run(args, output).await,
            Command::Append(args) => commands::append::run(args, output).await,
            Command::Render(args) => commands::render::run(args, output).await,
            Command::Show(args) => commands::show::run(args, output).await,
            Command::View(args) => commands::view::run(args, output).await,
            Command::Withhold(args) => commands::withhold::withhold(args, output).await,
            Command::Restore(args) => commands::withhold::restore(args, output).await,
            Command::Check(args) => commands::check::run(args, output).await,
            Command::Sweep(args) => commands::sweep::run(args, output).await,
            Command::Inspect(args) => commands::evidence::inspect(&args, output),
            Command::Preview(args) => commands::evidence::preview(&args, output),
            Command::Read(args) => commands::evidence::read(&args, output),
            Command::Image(args) => commands::evidence::image(&args, output),
            Command::Profiles(args) => commands::profiles::run(&args, output),
            Command::Mcp(args) => commands::mcp::run(args).await,
            Command::Completions(args) => commands::generate::completions(&args, output),
            Command::Man(args) => commands::generate::man(&args, output),
        }
    });
    // A server that was asked to stop may still wait for its standard input, and nothing else is going on by now.
    runtime.shutdown_background();
    ended
}

/// Logs go to stderr: warnings, or what `ATTACHE_LOG` asks for (`debug`, `attache_blobstore=trace`, …).
fn init_logging() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("ATTACHE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .without_time()
        .init();
}
