//! `attache check`: does the store hold what the log names, and is all of it whole?

use std::process::ExitCode;

use attache_runtime::blobstore::{CheckOptions, CheckProgress, CheckReport};
use attache_runtime::conversation::LogReport;
use attache_runtime::{Conversation, OpenOptions, View};
use serde_json::{Value, json};

use crate::args::CheckArgs;
use crate::output::{BAD_INPUT, Failure, Output, path_text};
use crate::progress::Progress;

pub(crate) async fn run(args: CheckArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut progress = Progress::new("checking");
    let mut on_progress = |at: CheckProgress| progress.set(at.bytes_done, at.bytes_total);
    let dir = &args.conversation.dir;
    let (report, log) = if args.repair {
        // Moving things aside is a writer's right.
        let conversation = Conversation::open_existing(dir, args.conversation.options("check --repair")).await?;
        let report = conversation.check(CheckOptions::default().with_repair(true), &mut on_progress).await?;
        (report, conversation.log_report().clone())
    } else {
        let view = View::open(dir, OpenOptions::default()).await?;
        (view.check(CheckOptions::default(), &mut on_progress).await?, view.log_report().clone())
    };
    drop(progress);

    // Orphans and a torn tail are what a crash between two durable steps leaves: nothing that was acknowledged is lost.
    let ok = report.is_ok() && log.damaged_lines == 0;
    output.result(&document(ok, &report, &log), || text(ok, &report, &log))?;
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::from(BAD_INPUT) })
}

fn document(ok: bool, report: &CheckReport, log: &LogReport) -> Value {
    json!({
        "ok": ok,
        "blobs": report.blobs,
        "missing": report.missing,
        "damaged": report.damaged,
        "orphaned": report.orphaned,
        "foreign": report.foreign,
        "wrong_length": report.wrong_length,
        "unreadable": report.unreadable,
        "quarantined": report.quarantined,
        "log": log_document(log),
    })
}

fn log_document(log: &LogReport) -> Value {
    let damaged: Vec<Value> = log
        .damaged
        .iter()
        .map(|damage| {
            json!({"line": damage.line, "offset": damage.offset, "bytes": damage.bytes, "reason": damage.reason})
        })
        .collect();
    let torn = log.torn.as_ref().map(|torn| {
        let kept_as = torn.kept_as.as_deref().map(path_text);
        json!({"offset": torn.offset, "bytes": torn.bytes, "kept_as": kept_as})
    });
    json!({
        "messages": log.messages,
        "bytes": log.bytes,
        "other_lines": log.other_lines,
        "damaged_lines": log.damaged_lines,
        "damaged": damaged,
        "torn": torn,
    })
}

fn text(ok: bool, report: &CheckReport, log: &LogReport) -> String {
    let verdict = if ok { "ok" } else { "NOT ok" };
    let mut text = format!("{verdict}: {} messages, {} blobs re-hashed\n", log.messages, report.blobs);
    let mut list = |what: &str, items: Vec<String>| {
        for item in items {
            text.push_str(&format!("  {what:<12} {item}\n"));
        }
    };
    list("missing", report.missing.iter().map(|found| found.path.clone()).collect());
    list("damaged", report.damaged.iter().map(|found| found.path.clone()).collect());
    list("wrong length", report.wrong_length.iter().map(|found| found.path.clone()).collect());
    list("unreadable", report.unreadable.iter().map(|found| format!("{}: {}", found.path, found.error)).collect());
    list("moved aside", report.quarantined.iter().map(|found| found.moved_to.clone()).collect());
    list("orphaned", report.orphaned.iter().map(|found| found.path.clone()).collect());
    list("foreign", report.foreign.iter().map(|found| found.path.clone()).collect());
    list("damaged line", log.damaged.iter().map(|damage| format!("{}: {}", damage.line, damage.reason)).collect());
    list("torn tail", log.torn.iter().map(|torn| format!("{} bytes at byte {}", torn.bytes, torn.offset)).collect());
    text
}
