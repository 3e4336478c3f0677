//! Writes until it is killed, and says on its standard output what it may rely on.
//!
//! `crash-writer MODE DIR FULL|OS FIRST LAST` does the operations numbered from FIRST to LAST, each the same whoever
//! does it, and prints `begin N` before and `ack N` once the operation was acknowledged. The modes:
//!
//! - `messages`: appends to the conversation in DIR, some messages with a picture, some in a batch;
//! - `attach`: tool results of a turn whose files are in DIR/work;
//! - `large`: messages that take a while to be written;
//! - `blobs`: pictures into the store in DIR/blobs;
//! - `plain`: files written and renamed in DIR as programs commonly do it, with no flush: the control of the others.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use attache_runtime::{
    Attachment, BlobStore, Conversation, Durability, LocalStore, OpenOptions, Settings, Turn, WorkDir, tool_message,
};
use attache_tests::message;

type Failed = Box<dyn Error>;

struct Job {
    dir: PathBuf,
    durability: Durability,
    numbers: std::ops::RangeInclusive<u64>,
}

fn main() -> Result<(), Failed> {
    let args: Vec<String> = std::env::args().collect();
    let [_, mode, dir, durability, first, last] = &args[..] else {
        return Err("usage: crash-writer MODE DIR FULL|OS FIRST LAST".into());
    };
    let durability = if durability == "FULL" { Durability::Full } else { Durability::Os };
    let job = Job { dir: dir.into(), durability, numbers: first.parse()?..=last.parse()? };
    let runtime = tokio::runtime::Builder::new_multi_thread().build()?;
    runtime.block_on(async {
        match mode.as_str() {
            "messages" => messages(job).await,
            "attach" => attach(job).await,
            "large" => large(job).await,
            "blobs" => blobs(job).await,
            "plain" => plain(&job),
            _ => Err(format!("no such mode: {mode}").into()),
        }
    })
}

fn say(what: &str, n: u64) -> Result<(), Failed> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{what} {n}")?;
    Ok(stdout.flush()?)
}

async fn open(job: &Job) -> Result<Conversation, Failed> {
    let options = OpenOptions::default().with_durability(job.durability).with_writer("crash-writer");
    Ok(Conversation::open(&job.dir, options.with_lock_wait(std::time::Duration::from_secs(20))).await?)
}

async fn messages(job: Job) -> Result<(), Failed> {
    let mut conversation = open(&job).await?;
    let mut numbers = job.numbers;
    while let Some(n) = numbers.next() {
        // Every eleventh operation is a batch of three: all of them or none.
        let mut batch = vec![n];
        if n % 11 == 0 {
            batch.extend(numbers.by_ref().take(2));
        }
        batch.iter().try_for_each(|n| say("begin", *n))?;
        let texts: Vec<String> = batch.iter().map(|n| message::numbered(*n).to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let report = conversation.append_all(&texts).await?;
        if !report.notes.is_empty() {
            return Err(format!("refused: {:?}", report.notes).into());
        }
        batch.iter().try_for_each(|n| say("ack", *n))?;
    }
    Ok(())
}

async fn attach(job: Job) -> Result<(), Failed> {
    let work = job.dir.join("work");
    std::fs::create_dir_all(&work)?;
    let settings = Settings::default();
    let workdir = WorkDir::open(&work)?;
    let mut conversation = open(&job).await?;
    for n in job.numbers {
        say("begin", n)?;
        let mut attachments = Vec::new();
        if let Some(picture) = message::picture(n) {
            let name = format!("{n}.png");
            std::fs::write(work.join(&name), picture)?;
            attachments.push(Attachment::new(name, "image/png"));
        }
        let mut turn = Turn::new(&settings);
        let accepted = turn.accept(&workdir, conversation.store().as_ref(), &attachments).await;
        if accepted.blocks.len() != attachments.len() {
            return Err(format!("refused: {accepted:?}").into());
        }
        let mut message = tool_message(&format!("call_{n}"), "shot", &format!("result {n}"), &accepted, &settings);
        message["n"] = n.into();
        conversation.append(&message).await?;
        say("ack", n)?;
    }
    Ok(())
}

async fn large(job: Job) -> Result<(), Failed> {
    let mut conversation = open(&job).await?;
    for n in job.numbers {
        let text = message::large(n).to_string();
        say("begin", n)?;
        conversation.append_json(&text).await?;
        say("ack", n)?;
    }
    Ok(())
}

async fn blobs(job: Job) -> Result<(), Failed> {
    let store = LocalStore::builder(job.dir.join("blobs")).durability(job.durability).build();
    for n in job.numbers {
        let bytes = message::blob(n);
        say("begin", n)?;
        let stored = store.put(bytes.into()).await?;
        say("ack", n)?;
        drop(stored.lease);
    }
    Ok(())
}

fn plain(job: &Job) -> Result<(), Failed> {
    for n in job.numbers.clone() {
        say("begin", n)?;
        let bytes = message::blob(n);
        plain_put(&job.dir, &attache_tests::sha256(&bytes), &bytes)?;
        say("ack", n)?;
    }
    Ok(())
}

fn plain_put(dir: &Path, name: &str, bytes: &[u8]) -> Result<(), Failed> {
    let temp = dir.join("temp");
    std::fs::write(&temp, bytes)?;
    Ok(std::fs::rename(temp, dir.join(name))?)
}
