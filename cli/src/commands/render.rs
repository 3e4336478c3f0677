//! `attache render`: the messages as a driver receives them.

use std::process::ExitCode;

use attache_runtime::conversation::Frame;
use attache_runtime::{OpenOptions, View};
use serde_json::json;

use crate::args::RenderArgs;
use crate::output::{Failure, Output, path_text, print};

pub(crate) async fn run(args: RenderArgs, output: Output) -> Result<ExitCode, Failure> {
    let options = args.ageing.options().map_err(|error| Failure::input("limit_out_of_range", error.to_string()))?;
    let view = View::open(&args.conversation.dir, OpenOptions::default()).await?;
    let body = view.render_body(options, Frame { before: b"", after: b"\n" }).await?;
    let Some(out) = args.out else {
        print(&body)?;
        return Ok(ExitCode::SUCCESS);
    };
    std::fs::write(&out, &body)
        .map_err(|error| Failure::operation("io_error", format!("could not write \"{}\": {error}", out.display())))?;
    let document = json!({"out": path_text(&out), "bytes": body.len(), "messages": view.len()});
    output.result(&document, || format!("{} messages, {} bytes: {}\n", view.len(), body.len(), out.display()))?;
    Ok(ExitCode::SUCCESS)
}
