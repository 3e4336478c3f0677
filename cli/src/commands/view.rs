//! `attache view`: a stored conversation as one page for people.

mod message;
mod page;
mod picture;

use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attache_runtime::conversation::read_value;
use attache_runtime::{Limits, OpenOptions, RenderOptions, View};
use serde_json::{Value, json};

use crate::args::ViewArgs;
use crate::output::{Failure, Output, path_text};

pub(crate) async fn run(args: ViewArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut limits = Limits::builder();
    if let Some(keep) = args.keep {
        limits = limits.keep(keep);
    }
    let limits = limits.build().map_err(|error| Failure::input("limit_out_of_range", error.to_string()))?;
    let view = View::open(&args.conversation.dir, OpenOptions::default()).await?;
    let out = write(&view, limits.keep(), &args.out).await?;
    output.result(&json!({"out": path_text(&out)}), || {
        format!("{} messages: {} (for people; open it in a browser)\n", view.len(), out.display())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a conversation, all of it or none, and gives its absolute path. No more than one message and one picture is in
/// memory at a time.
pub(crate) async fn write(view: &View, keep: usize, out: &Path) -> Result<PathBuf, Failure> {
    let (folder, out) = place(view.dir(), out)?;
    let fail =
        |error: io::Error| Failure::operation("io_error", format!("could not write \"{}\": {error}", out.display()));
    // A conversation is its owner's alone, and so is its page.
    let private = std::fs::Permissions::from_mode(0o600);
    let temporary = tempfile::Builder::new().prefix(".attache-view-").permissions(private).tempfile_in(&folder);
    let mut file = BufWriter::new(temporary.map_err(fail)?);

    let images = view.images(RenderOptions::newest(keep)).await;
    file.write_all(page::head(view.len(), &images, keep).as_bytes()).map_err(fail)?;
    let mut rest = images.iter().peekable();
    for at in 0..view.len() {
        let Some(text) = view.message_json(at).await? else { break };
        let message = read_value(&text).unwrap_or(Value::Null);
        drop(text);
        file.write_all(message::open(at, &message).as_bytes()).map_err(fail)?;
        for part in message::parts(&message) {
            let html = match part {
                message::Part::Html(html) => html,
                message::Part::Image(block) => match rest.next_if(|image| image.message == at) {
                    Some(image) => picture::figure(view.store().as_ref(), image, &block, keep).await,
                    None => String::new(),
                },
            };
            file.write_all(html.as_bytes()).map_err(fail)?;
        }
        file.write_all(message::CLOSE.as_bytes()).map_err(fail)?;
    }
    file.write_all(page::FOOT.as_bytes()).map_err(fail)?;

    let temporary = file.into_inner().map_err(|error| fail(error.into_error()))?;
    temporary.as_file().sync_all().map_err(fail)?;
    // What came there meanwhile is not replaced, if it is no file.
    place(view.dir(), &out)?;
    temporary.persist(&out).map_err(|error| fail(error.error))?;
    Ok(out)
}

/// The folder to write in, and the absolute path of the page. Nothing but a regular file is replaced, and a link is not followed.
fn place(context: &Path, out: &Path) -> Result<(PathBuf, PathBuf), Failure> {
    let shown = out.display();
    let name =
        out.file_name().ok_or_else(|| Failure::input("bad_out", format!("\"{shown}\" is not the name of a file")))?;
    let parent = out.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = parent.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
        Failure::input("bad_out", format!("there is no folder \"{}\" to write the page in", parent.display()))
    })?;
    if context.canonicalize().is_ok_and(|context| folder.starts_with(context)) {
        let text = format!("\"{shown}\" is within the conversation's own directory; write elsewhere");
        return Err(Failure::input("out_in_conversation", text));
    }
    match out.symlink_metadata() {
        Ok(found) if !found.is_file() => {
            let text = format!("\"{shown}\" is there and is no regular file; it is left as it is");
            Err(Failure::input("bad_out", text))
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Failure::input("bad_out", format!("cannot look at \"{shown}\": {error}")))
        }
        _ => Ok((folder.clone(), folder.join(name))),
    }
}
