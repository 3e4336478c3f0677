//! `attache append`: messages from a file or a pipe.
//!
//! Every line is checked before the first is written, so the input is read twice: a pipe is kept in an unnamed
//! temporary file in between. Neither the input nor the conversation is ever held in memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::process::ExitCode;

use attache_runtime::Conversation;
use attache_runtime::conversation::{Intake, is_log_entry};
use serde_json::json;

use crate::args::AppendArgs;
use crate::output::{Failure, Output};
use crate::progress::Progress;

/// How much text one write to the log takes; its lines are appended all or none.
const BATCH_BYTES: usize = 4 << 20;
/// Longest line that is read. The same limit holds for a line of the log, after images were lifted out of it; before,
/// a message may be larger by the base64 of all its images.
const MAX_LINE: u64 = 1 << 30;

pub(crate) async fn run(args: AppendArgs, output: Output) -> Result<ExitCode, Failure> {
    let mut input = open(args.file.as_deref())?;
    let checked = check_all(&mut input)?;
    input.rewind().map_err(|error| read_failure(&error))?;

    let intake = Intake { verify: args.checks.verify.into(), ..Intake::default() };
    let options = args.conversation.options("append").with_intake(intake);
    let mut conversation = Conversation::open(&args.conversation.dir, options).await?;
    let done = append_all(&mut conversation, input.take(checked)).await?;

    let document = json!({"appended": done.appended, "lifted": done.lifted, "notes": done.notes_only()});
    output.result(&document, || done.text())?;
    Ok(ExitCode::SUCCESS)
}

/// What was done, for both forms of the result.
#[derive(Default)]
struct Done {
    appended: usize,
    lifted: usize,
    /// Each note with the number of its line, from 1.
    notes: Vec<(usize, String)>,
}

impl Done {
    fn notes_only(&self) -> Vec<&str> {
        self.notes.iter().map(|(_, note)| note.as_str()).collect()
    }

    fn text(&self) -> String {
        let mut text = format!("{} messages appended, {} images lifted\n", self.appended, self.lifted);
        for (line, note) in &self.notes {
            text.push_str(&format!("line {line}: {note}\n"));
        }
        text
    }
}

fn open(path: Option<&Path>) -> Result<File, Failure> {
    let Some(path) = path.filter(|path| path.as_os_str() != "-") else { return spool(io::stdin().lock()) };
    let fail = |error: io::Error| Failure::input("io_error", format!("could not read \"{}\": {error}", path.display()));
    let file = File::open(path).map_err(fail)?;
    let metadata = file.metadata().map_err(fail)?;
    if metadata.is_dir() {
        return Err(fail(io::ErrorKind::IsADirectory.into()));
    }
    // A pipe (`<(…)` of a shell) cannot be read twice.
    if metadata.is_file() { Ok(file) } else { spool(file) }
}

fn spool(mut from: impl Read) -> Result<File, Failure> {
    let mut spool = tempfile::tempfile().map_err(|error| spool_failure(&error))?;
    io::copy(&mut from, &mut spool).map_err(|error| spool_failure(&error))?;
    spool.seek(SeekFrom::Start(0)).map_err(|error| spool_failure(&error))?;
    Ok(spool)
}

/// Returns how many bytes were checked. What a file gains later is not appended: it may be the log itself.
fn check_all(input: &mut File) -> Result<u64, Failure> {
    let total = input.metadata().map_or(0, |metadata| metadata.len());
    let mut progress = Progress::new("checking");
    let mut done = 0;
    let mut lines = Lines::new(input);
    for line in &mut lines {
        let Line { number, text } = line?;
        done += text.len() as u64;
        progress.set(done, total);
        if !is_log_entry(&text) {
            Conversation::check_message(&text)
                .map_err(|error| Failure::from(error).within(format!("line {number}")))?;
        }
    }
    Ok(lines.bytes)
}

async fn append_all(conversation: &mut Conversation, input: io::Take<File>) -> Result<Done, Failure> {
    let total = input.limit();
    let mut progress = Progress::new("appending");
    let (mut done, mut read) = (Done::default(), 0);
    let mut batch = Batch::default();
    for line in Lines::new(input) {
        let line = line?;
        read += line.text.len() as u64;
        if is_log_entry(&line.text) {
            done.notes.push((line.number, "an entry of attache's own is no message and was passed over".to_owned()));
            continue;
        }
        batch.push(line);
        if batch.bytes >= BATCH_BYTES {
            batch.write(conversation, &mut done).await?;
        }
        progress.set(read, total);
    }
    batch.write(conversation, &mut done).await?;
    done.notes.sort_by_key(|(line, _)| *line);
    Ok(done)
}

/// Messages that are written together.
#[derive(Default)]
struct Batch {
    lines: Vec<Line>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, line: Line) {
        self.bytes += line.text.len();
        self.lines.push(line);
    }

    async fn write(&mut self, conversation: &mut Conversation, done: &mut Done) -> Result<(), Failure> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = self.lines.iter().map(|line| line.text.as_str()).collect();
        let report = conversation.append_all(&texts).await.map_err(|error| {
            Failure::from(error).within(format!("{} messages were appended, then it stopped", done.appended))
        })?;
        done.appended += report.appended;
        done.lifted += report.lifted;
        done.notes.extend(report.notes.into_iter().map(|(at, note)| (self.lines[at].number, note)));
        *self = Self::default();
        Ok(())
    }
}

/// A line of the input that is not blank.
struct Line {
    /// From 1.
    number: usize,
    text: String,
}

struct Lines<R> {
    reader: BufReader<R>,
    number: usize,
    /// How many bytes were read, blank lines and line ends included.
    bytes: u64,
}

impl<R: Read> Lines<R> {
    fn new(from: R) -> Self {
        Self { reader: BufReader::with_capacity(256 << 10, from), number: 0, bytes: 0 }
    }

    fn read(&mut self) -> Result<Option<Line>, Failure> {
        loop {
            let mut bytes = Vec::new();
            let read = self.reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes);
            if read.map_err(|error| read_failure(&error))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes += bytes.len() as u64;
            let number = self.number;
            if bytes.len() as u64 == MAX_LINE {
                return Err(bad_line(number, &format!("longer than {MAX_LINE} bytes")));
            }
            let text = String::from_utf8(bytes).map_err(|error| {
                bad_line(number, &format!("not UTF-8 at byte {}", error.utf8_error().valid_up_to()))
            })?;
            let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { &text };
            if !text.trim_ascii().is_empty() {
                return Ok(Some(Line { number, text: text.trim_end_matches(['\n', '\r']).to_owned() }));
            }
        }
    }
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Result<Line, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

fn bad_line(number: usize, reason: &str) -> Failure {
    Failure::input("invalid_message", format!("line {number}: {reason}"))
}

fn read_failure(error: &io::Error) -> Failure {
    Failure::operation("io_error", format!("could not read the messages: {error}"))
}

fn spool_failure(error: &io::Error) -> Failure {
    Failure::operation("io_error", format!("could not keep the messages in a temporary file: {error}"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use attache_runtime::OpenOptions;

    use super::*;

    #[tokio::test]
    async fn a_log_can_be_appended_to_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut conversation = Conversation::open(dir.path(), OpenOptions::default()).await.unwrap();
        let message = format!(r#"{{"role":"user","content":"{}"}}"#, "x".repeat(BATCH_BYTES / 3));
        for _ in 0..5 {
            conversation.append_json(&message).await.unwrap();
        }
        let mut input = File::open(dir.path().join("conversation.jsonl")).unwrap();
        let checked = check_all(&mut input).unwrap();
        input.rewind().unwrap();
        let done = append_all(&mut conversation, input.take(checked)).await.unwrap();
        assert_eq!((done.appended, conversation.len()), (5, 10));
    }

    #[tokio::test]
    async fn what_a_file_gains_after_it_was_checked_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let mut conversation = Conversation::open(dir.path(), OpenOptions::default()).await.unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"{\"role\":\"user\"}\n\n{\"role\":\"tool\"}\r\n").unwrap();
        file.rewind().unwrap();
        let checked = check_all(&mut file).unwrap();
        file.write_all(b"not checked\n").unwrap();
        file.rewind().unwrap();
        assert_eq!(append_all(&mut conversation, file.take(checked)).await.unwrap().appended, 2);
    }
}
