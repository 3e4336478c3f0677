//! `attache render`: the messages as a driver receives them.

use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
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
    write(&out, &args.conversation.dir, &body)?;
    let document = json!({"out": path_text(&out), "bytes": body.len(), "messages": view.len()});
    output.result(&document, || format!("{} messages, {} bytes: {}\n", view.len(), body.len(), out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the body to a file, all of it or none. The conversation's own directory is not a place for it: a request over
/// the log would be the end of the conversation.
fn write(out: &Path, context: &Path, body: &[u8]) -> Result<(), Failure> {
    let fail =
        |error: io::Error| Failure::operation("io_error", format!("could not write \"{}\": {error}", out.display()));
    let folder = folder_of(out).canonicalize().map_err(fail)?;
    if context.canonicalize().is_ok_and(|context| folder.starts_with(context)) {
        let text = format!("\"{}\" is within the conversation's own directory; write elsewhere", out.display());
        return Err(Failure::input("out_in_conversation", text));
    }
    if out.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
        // A pipe, a terminal or a link (`/dev/stdout` is one) is written to, not replaced.
        return std::fs::write(out, body).map_err(fail);
    }
    let permissions = std::fs::Permissions::from_mode(0o666);
    let mut temporary = tempfile::Builder::new().permissions(permissions).tempfile_in(&folder).map_err(fail)?;
    temporary.write_all(body).map_err(fail)?;
    temporary.persist(out).map_err(|error| fail(error.error))?;
    Ok(())
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
