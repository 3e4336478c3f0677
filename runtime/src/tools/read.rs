//! `read`: a window of a text file.

use std::fmt::Write as _;

use attache_workdir_fs::{FileError, FileErrorKind, FileKind, Info, Target};
use serde_json::Value;

use crate::tool::ToolOutput;
use crate::tools::error::{ToolError, not_a_file};
use crate::tools::read_meta::ReadMeta;
use crate::tools::window::{Shown, Window};
use crate::tools::{Env, Observation, args, lang};

/// Runs a call.
pub(crate) async fn call(env: &Env<'_>, input: &Value) -> Result<ToolOutput, ToolError> {
    let path = args::path(input)?;
    let max = env.options.read.max_lines;
    let offset = args::positive(input, "offset")?.unwrap_or(1);
    let limit = args::positive(input, "limit")?.unwrap_or(max);
    if limit > max {
        return Err(ToolError::argument(format!("limit must be less than or equal to {max}")));
    }
    let target = env.files.resolve(path, env.cwd).await?;
    // The version is that of before the read: what changes meanwhile is then stale, not taken for seen.
    let info = stat(env, &target).await?;
    let window = Window::new(offset, limit, env.options.read);
    let shown = scan(env, &target, info.size, window).await?.finish();
    if offset > shown.total_lines.max(1) {
        let message = format!("offset {offset} is out of range for \"{target}\" ({} lines)", shown.total_lines);
        return Err(FileError::new(FileErrorKind::NotFound, message).into());
    }
    env.observe_text(&target, info.version);
    Ok(output(&target, offset, shown))
}

/// The one look at the file. That it is not there is an observation too.
pub(crate) async fn stat(env: &Env<'_>, target: &Target) -> Result<Info, FileError> {
    match env.files.stat(target).await {
        Ok(info) if info.kind == FileKind::File => Ok(info),
        Ok(_) => Err(not_a_file(target)),
        Err(error) => {
            if error.kind() == FileErrorKind::NotFound {
                env.observe(target, Observation::Absent);
            }
            Err(error)
        }
    }
}

/// Lets the whole text pass: at once where it is small, in one consistent state, else in pieces.
async fn scan(env: &Env<'_>, target: &Target, size: Option<u64>, mut window: Window) -> Result<Window, FileError> {
    let stream_from = env.options.read.stream_from;
    if size.is_some_and(|size| size < stream_from) {
        match env.files.read_text(target, stream_from, env.cancel).await {
            Ok(text) => {
                window.push(&text);
                return Ok(window);
            }
            // It grew meanwhile.
            Err(error) if error.kind() == FileErrorKind::TooLarge => {}
            Err(error) => return Err(error),
        }
    }
    let pieces = env.files.stream_text(target, env.cancel).await?;
    pieces.fold(env.cancel, window, Window::push).await
}

fn output(target: &Target, offset: u64, shown: Shown) -> ToolOutput {
    let mut text = format!("<path>{target}</path>\n<type>file</type>\n<content>\n");
    for (at, line) in shown.lines.iter().enumerate() {
        let separator = if at == 0 { "" } else { "\n" };
        write!(text, "{separator}{}: {}", line.number, line.text).expect("a string takes everything");
    }
    write!(text, "\n\n{}\n</content>", footer(&shown)).expect("a string takes everything");
    let meta = ReadMeta {
        path: target.display().to_owned(),
        offset,
        lines: shown.lines,
        total_lines: shown.total_lines,
        lang: lang::of(target.display()).map(str::to_owned),
    };
    ToolOutput::text(text).with_structured(meta.to_value())
}

/// Says where to go on, unless the end was shown.
fn footer(shown: &Shown) -> String {
    let total = shown.total_lines;
    match (shown.lines.first(), shown.lines.last()) {
        (Some(first), Some(last)) if last.number < total => {
            let (first, last, next) = (first.number, last.number, last.number + 1);
            if shown.is_capped {
                format!("(Output capped. Showing lines {first}-{last}. Use offset={next} to continue.)")
            } else {
                format!("(Showing lines {first}-{last} of {total}. Use offset={next} to continue.)")
            }
        }
        _ => format!("(End of file - total {total} lines)"),
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
