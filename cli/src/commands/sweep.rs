//! `attache sweep`: deletes what no record names.

use std::process::ExitCode;

use attache_runtime::Conversation;
use attache_runtime::blobstore::SweepOptions;
use serde_json::json;

use crate::args::SweepArgs;
use crate::output::{Failure, Output};

pub(crate) async fn run(args: SweepArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut conversation =
        Conversation::open_existing(&args.conversation.dir, args.conversation.options("sweep")).await?;
    let options = SweepOptions::default().with_grace(args.grace).with_dry_run(args.dry_run);
    let report = conversation.sweep(options).await?;
    let document = json!({
        "deleted": report.deleted,
        "kept": report.kept,
        "bytes": report.bytes,
        "temps": report.temps,
        "dry_run": report.dry_run,
    });
    output.result(&document, || {
        let verb = if report.dry_run { "would be deleted" } else { "deleted" };
        let mut text =
            format!("{} blobs ({} bytes) {verb}, {} kept\n", report.deleted.len(), report.bytes, report.kept);
        for id in &report.deleted {
            text.push_str(&format!("  {id}\n"));
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}
