//! `attache withhold` and `attache restore`: durable, by sha256 or a unique beginning of one.

use std::process::ExitCode;

use attache_runtime::{BlobId, Conversation};
use serde_json::Value;

use crate::args::{RestoreArgs, WithholdArgs, Writable};
use crate::output::{Failure, Output};

pub(crate) async fn withhold(args: WithholdArgs, output: Output) -> Result<ExitCode, Failure> {
    let (mut conversation, id) = open(&args.conversation, "withhold", &args.sha).await?;
    let entry = conversation.withhold(id, &args.reason).await?;
    done(&entry, output, &format!("{id} is withheld\n"))
}

pub(crate) async fn restore(args: RestoreArgs, output: Output) -> Result<ExitCode, Failure> {
    let (mut conversation, id) = open(&args.conversation, "restore", &args.sha).await?;
    let entry = conversation.restore(id).await?;
    done(&entry, output, &format!("{id} is shown again\n"))
}

async fn open(at: &Writable, command: &str, sha: &str) -> Result<(Conversation, BlobId), Failure> {
    let conversation = Conversation::open_existing(&at.dir, at.options(command)).await?;
    let id = conversation.find_image(sha)?;
    Ok((conversation, id))
}

fn done(entry: &Value, output: Output, text: &str) -> Result<ExitCode, Failure> {
    output.result(entry, || text.to_owned())?;
    Ok(ExitCode::SUCCESS)
}
