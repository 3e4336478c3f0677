//! The index of a log: where each message stands, and where the images stand in it.
//!
//! What stays in memory is 16 bytes a message, 24 a line beside them and about 150 an image, however long the messages are.

use std::collections::HashMap;

use attache_blobstore::BlobId;

use crate::entry::{Entry, LOG_VERSION};
use crate::log::TornTail;
use crate::record::FileBlock;
use crate::scan::{Found, Role, Scan};

/// Longest line that is read. Sessions of other tools hold single records of 56 MB; nothing that attache writes comes
/// near, since it lifts images out of messages.
pub(crate) const MAX_LINE: usize = 128 << 20;
/// How many damaged lines are listed one by one; all are counted.
pub(crate) const MAX_LISTED: usize = 1000;

/// Where a message stands in the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageSpan {
    pub(crate) offset: u64,
    pub(crate) len: u32,
}

impl MessageSpan {
    pub(crate) fn end(self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// A line beside the messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AsideSpan {
    pub(crate) span: MessageSpan,
    /// How many messages stand before it.
    pub(crate) messages: usize,
}

/// An image block of a message: its position in the log and what it says.
#[derive(Clone, Debug)]
pub(crate) struct IndexedImage {
    pub(crate) message: usize,
    pub(crate) by_user: bool,
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) block: FileBlock,
}

/// A line that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The line's number in the file, from 1.
    pub line: u64,
    /// Where it begins, in bytes from the start of the file.
    pub offset: u64,
    /// Its length in bytes, without the newline.
    pub bytes: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What opening a log found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogReport {
    /// How many messages there are.
    pub messages: u64,
    /// The file's length in bytes, a torn tail left out.
    pub bytes: u64,
    /// Lines of JSON that are neither messages nor ours; other tools' lines. They are left alone.
    pub other_lines: u64,
    /// How many lines cannot be read.
    pub damaged_lines: u64,
    /// The first thousand of them.
    pub damaged: Vec<Damage>,
    /// The rest of an interrupted append at the end of the file.
    pub torn: Option<TornTail>,
}

impl LogReport {
    pub(crate) fn add_damage(&mut self, damage: Damage) {
        self.damaged_lines += 1;
        if self.damaged.len() < MAX_LISTED {
            self.damaged.push(damage);
        }
    }

    /// Can every line be read, and was nothing torn off?
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damaged_lines == 0 && self.torn.is_none()
    }
}

/// The index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) messages: Vec<MessageSpan>,
    pub(crate) images: Vec<IndexedImage>,
    pub(crate) last_assistant: Option<usize>,
    pub(crate) withheld: HashMap<BlobId, String>,
    /// The lines beside the messages, by their kind.
    pub(crate) asides: HashMap<Box<str>, Vec<AsideSpan>>,
    pub(crate) report: LogReport,
    /// The log was written by a later version, whose entries may mean what this one cannot know.
    pub(crate) newer_version: Option<u64>,
    /// The last line is whole but for its newline.
    pub(crate) unterminated: bool,
    /// Our own entries of a range, in order, until they are absorbed.
    pub(crate) entries: Vec<Entry>,
    /// How many lines there are, of any kind.
    pub(crate) lines: u64,
}

impl Index {
    /// Adds a message that was just appended at `offset`.
    pub(crate) fn push(&mut self, offset: u64, len: usize, scan: Scan) {
        let message = self.messages.len();
        if scan.role == Role::Assistant {
            self.last_assistant = Some(message);
        }
        for block in scan.blocks {
            let Found::File(file) = block.found else { continue };
            self.images.push(IndexedImage {
                message,
                by_user: scan.role == Role::User,
                offset: offset + block.start as u64,
                len: fits(block.end - block.start),
                block: file,
            });
        }
        self.messages.push(MessageSpan { offset, len: fits(len) });
        self.report.messages += 1;
    }

    /// Adds a line beside the messages that stands at `offset`.
    pub(crate) fn push_aside(&mut self, kind: Box<str>, offset: u64, len: usize) {
        let aside = AsideSpan { span: MessageSpan { offset, len: fits(len) }, messages: self.messages.len() };
        self.asides.entry(kind).or_default().push(aside);
    }

    /// Takes an entry of ours into account.
    pub(crate) fn apply(&mut self, entry: Entry) {
        match entry {
            Entry::Header { version } if version > LOG_VERSION => self.newer_version = Some(version),
            Entry::Header { .. } | Entry::Unknown => {}
            Entry::Withhold { id, reason } => {
                self.withheld.insert(id, reason);
            }
            Entry::Restore { id } => {
                self.withheld.remove(&id);
            }
        }
    }

    /// Adds what the next range of the file held. Its numbers of messages and lines count from its own start.
    pub(crate) fn absorb(&mut self, range: Index) {
        let first_message = self.messages.len();
        self.last_assistant = range.last_assistant.map(|at| at + first_message).or(self.last_assistant);
        self.images.extend(range.images.into_iter().map(|mut image| {
            image.message += first_message;
            image
        }));
        for (kind, asides) in range.asides {
            let moved = asides.into_iter().map(|aside| AsideSpan { messages: aside.messages + first_message, ..aside });
            self.asides.entry(kind).or_default().extend(moved);
        }
        self.messages.extend(range.messages);
        for entry in range.entries {
            self.apply(entry);
        }
        let listed = range.report.damaged.len() as u64;
        for mut damage in range.report.damaged {
            damage.line += self.lines;
            self.report.add_damage(damage);
        }
        self.report.damaged_lines += range.report.damaged_lines - listed;
        self.report.messages += range.report.messages;
        self.report.other_lines += range.report.other_lines;
        self.report.torn = range.report.torn.or(self.report.torn.take());
        self.unterminated |= range.unterminated;
        self.lines += range.lines;
    }
}

/// Lines are shorter than [`MAX_LINE`], and so is every part of one.
fn fits(len: usize) -> u32 {
    u32::try_from(len).expect("a line is shorter than 4 GiB")
}
