//! `attache attach`: one tool result in one turn.

mod evidence;

use std::error::Error;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attache_evidence::ManifestImage;
use attache_runtime::conversation::read_value;
use attache_runtime::{Accepted, Attachment, Conversation, Limits, Settings, Turn, WorkDir, tool_message};
use serde_json::{Value, json};

use crate::args::AttachArgs;
use crate::output::{BAD_INPUT, Failure, Output};

/// Largest tool result that `--from` reads, in bytes.
const MAX_RESULT: u64 = 64 << 20;

pub(crate) async fn run(args: AttachArgs, output: Output) -> Result<ExitCode, Failure> {
    let asked = match &args.evidence {
        Some(bundle) => evidence::read(bundle, &args)?,
        None => Asked {
            settings: settings(&args, None)?,
            result: ToolResult::read(&args)?,
            folder: args.workdir.clone().unwrap_or_default(),
            evidence: None,
        },
    };
    let work = WorkDir::open(&asked.folder).map_err(|error| {
        let cause = error.source().map_or_else(String::new, |cause| format!(": {cause}"));
        Failure::input("workdir_not_usable", format!("{error}{cause}"))
    })?;
    let settings = &asked.settings;
    let options = args.conversation.options("attach").with_intake(settings.intake());
    let mut conversation = Conversation::open(&args.conversation.dir, options).await?;

    let mut accepted =
        Turn::new(settings).accept(&work, conversation.store().as_ref(), &asked.result.attachments).await;
    let call_id = args.call_id.clone().unwrap_or_else(|| format!("call_{}", conversation.len()));
    let tool = args.tool.as_deref().unwrap_or_default();
    let message = match &asked.evidence {
        Some(images) => evidence::message(&call_id, tool, &asked, images, &mut accepted)?,
        None => tool_message(&call_id, tool, &asked.result.text, &accepted, settings),
    };
    conversation.append(&message).await?;

    let notes: Vec<&str> = accepted.notes.iter().map(|note| note.as_str()).collect();
    let document = json!({"message": message, "attachments": accepted.trace, "notes": notes});
    output.result(&document, || text(&accepted))?;
    let refused = accepted.refusals().next().is_some();
    Ok(if args.strict && refused { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS })
}

/// What is attached, from where, and how.
struct Asked {
    settings: Settings,
    result: ToolResult,
    folder: PathBuf,
    /// The images of a bundle, in its order.
    evidence: Option<Vec<ManifestImage>>,
}

/// `images` is how many there are, where that is known.
fn settings(args: &AttachArgs, images: Option<usize>) -> Result<Settings, Failure> {
    let mut limits = Limits::builder();
    if let Some(max_bytes) = args.max_bytes {
        limits = limits.max_bytes(max_bytes);
    }
    if let Some(max_per_turn) = args.max_per_turn.or(images.map(|images| images as u64)) {
        limits = limits.max_per_turn(max_per_turn);
    }
    let limits = limits.build().map_err(|error| Failure::input("limit_out_of_range", error.to_string()))?;
    Ok(Settings::default()
        .with_limits(limits)
        .with_verify(args.checks.verify.into())
        .with_on_mismatch(args.on_mismatch.into())
        .with_announce(args.announce)
        .with_fence(args.tool.is_some()))
}

/// What the tool returned.
struct ToolResult {
    text: String,
    attachments: Vec<Attachment>,
}

impl ToolResult {
    fn read(args: &AttachArgs) -> Result<Self, Failure> {
        let mut result = match &args.from {
            Some(path) => Self::from_file(path)?,
            None => Self { text: args.text.clone(), attachments: Vec::new() },
        };
        result.attachments.extend(args.entries.iter().map(|entry| attachment(entry)));
        Ok(result)
    }

    fn from_file(path: &Path) -> Result<Self, Failure> {
        let complain = |text: String| Failure::input("invalid_tool_result", format!("\"{}\": {text}", path.display()));
        let mut json = Vec::new();
        let read = if path.as_os_str() == "-" {
            std::io::stdin().lock().take(MAX_RESULT + 1).read_to_end(&mut json)
        } else {
            std::fs::File::open(path).and_then(|file| file.take(MAX_RESULT + 1).read_to_end(&mut json))
        };
        read.map_err(|error| complain(error.to_string()))?;
        if json.len() as u64 > MAX_RESULT {
            return Err(complain(format!("larger than {MAX_RESULT} bytes")));
        }
        let text = std::str::from_utf8(&json).map_err(|error| complain(format!("not UTF-8: {error}")))?;
        let value = read_value(text.trim_start_matches('\u{feff}')).map_err(|error| complain(error.to_string()))?;
        let fields = value.as_object().ok_or_else(|| complain("not a JSON object".to_owned()))?;
        let text = match fields.get("content") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(_) => return Err(complain("its \"content\" is not a string".to_owned())),
        };
        let attachments = Attachment::list_from_value(fields.get("attachments").unwrap_or(&Value::Null));
        Ok(Self { text, attachments })
    }
}

/// `PATH`, or `PATH=MEDIA/TYPE` split at the last `=`.
fn attachment(entry: &str) -> Attachment {
    match entry.rsplit_once('=') {
        Some((path, media_type)) => Attachment::new(path, media_type),
        None => Attachment::by_bytes(entry),
    }
}

fn text(accepted: &Accepted) -> String {
    let refused = accepted.refusals().count();
    let mut text = format!("{} attached, {refused} refused\n", accepted.trace.len() - refused);
    for note in &accepted.notes {
        text.push_str(note);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &[u8]) -> Result<ToolResult, Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), json).unwrap();
        ToolResult::from_file(file.path())
    }

    #[test]
    fn a_tools_slip_does_not_cost_its_result() {
        for (json, text, attachments) in [
            (&b"{}"[..], "", 0),
            (br#"{"content":null,"attachments":null}"#, "", 0),
            (b"\xef\xbb\xbf{\"content\":\"x\"}", "x", 0),
            (
                br#"{"content":"cut \ud83d","attachments":[{"path":"a\ude00","media_type":"image/png"}]}"#,
                "cut \u{fffd}",
                1,
            ),
            (br#"{"content":"x","elapsed":1e999,"attachments":[7,{"path":1e400}]}"#, "x", 2),
            (br#"{"content":"x","attachments":"a.png"}"#, "x", 1),
        ] {
            let result = read(json).unwrap();
            assert_eq!((result.text.as_str(), result.attachments.len()), (text, attachments));
        }
        for bad in [&b""[..], b"[]", b"{", b"\xff", br#"{"content":5}"#, br#"{"content":"\ud8"}"#] {
            assert!(read(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }
}
