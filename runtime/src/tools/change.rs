//! `write` and `edit`: a whole file, or a text in it.

use attache_conversation::blocking;
use attache_workdir_fs::{Edit, Operation, Target, WriteIntent, Written};
use serde_json::Value;

use crate::tool::ToolOutput;
use crate::tools::diff::DiffMeta;
use crate::tools::error::ToolError;
use crate::tools::{Env, args};

/// Runs a call of `write`.
pub(crate) async fn write(env: &Env<'_>, input: &Value) -> Result<ToolOutput, ToolError> {
    let (path, content) = (args::path(input)?, args::text(input, "content")?);
    let target = env.files.resolve(path, env.cwd).await?;
    let intent = match (env.options.policy, env.session) {
        (false, _) => WriteIntent::Unconditional,
        (true, Some(session)) => session.write_intent(target.key()),
        (true, None) => WriteIntent::CreateIfAbsent,
    };
    let written = env.files.write_text(&target, content, &intent).await?;
    let done = match written.operation {
        Operation::Create => "Created file",
        Operation::Update => "Updated file",
    };
    let text = format!("<path>{target}</path>\n<type>file</type>\n<content>\n{done}\n</content>");
    Ok(finish(env, &target, written, text).await)
}

/// Runs a call of `edit`.
pub(crate) async fn edit(env: &Env<'_>, input: &Value) -> Result<ToolOutput, ToolError> {
    let path = args::path(input)?;
    let old = input.get("old_string").and_then(Value::as_str).filter(|old| !old.is_empty());
    let old = old.ok_or_else(|| ToolError::argument("old_string must be a non-empty string"))?;
    let new = args::text(input, "new_string")?;
    if old == new || old.replace("\r\n", "\n") == new.replace("\r\n", "\n") {
        return Err(ToolError::argument("old_string and new_string must differ"));
    }
    let replace_all = args::switch(input, "replace_all")?;
    let target = env.files.resolve(path, env.cwd).await?;
    let guard = match (env.options.policy, env.session) {
        (false, _) => None,
        (true, Some(session)) => Some(session.edit_guard(&target)?),
        (true, None) => Some(crate::tools::Observations::default().edit_guard(&target)?),
    };
    let edit = Edit { old: old.to_owned(), new: new.to_owned(), replace_all };
    let written = env.files.edit_text(&target, &edit, guard.as_ref()).await?;
    let text = if replace_all {
        format!("The file {target} has been updated. All occurrences were successfully replaced.")
    } else {
        format!("The file {target} has been updated successfully.")
    };
    Ok(finish(env, &target, written, text).await)
}

/// The new version is seen, and the change described.
async fn finish(env: &Env<'_>, target: &Target, written: Written, text: String) -> ToolOutput {
    env.observe_text(target, written.version.clone());
    let path = target.display().to_owned();
    let diff = blocking(move || DiffMeta::of(&path, &written)).await;
    ToolOutput::text(text).with_structured(diff.to_value())
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
