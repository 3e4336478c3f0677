//! The window of a text that one `read` shows, found while the text passes by.

use memchr::{memchr, memchr_iter, memrchr};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::tools::options::ReadLimits;
use crate::tools::read_meta::ReadLine;

/// Gathers the lines of a window and counts all of them. It holds the shown lines and the start of one more, however
/// long the text and its lines are.
#[derive(Debug)]
pub(crate) struct Window {
    limits: ReadLimits,
    /// The first line that is shown, and the first after the asked ones, both from 1.
    first: u64,
    end: u64,
    /// How many lines have ended.
    ended: u64,
    /// Whether there is anything after the last newline.
    is_in_line: bool,
    line: LineStart,
    shown: Vec<ReadLine>,
    shown_bytes: usize,
    is_full: bool,
}

/// What a window came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) lines: Vec<ReadLine>,
    pub(crate) total_lines: u64,
    /// Whether the budget of bytes ended it.
    pub(crate) is_capped: bool,
}

/// The start of a line: one character more than is shown.
#[derive(Debug, Default)]
struct LineStart {
    text: String,
    chars: usize,
    /// Whether the line goes on.
    is_longer: bool,
}

impl Window {
    /// A window of at most `limit` lines from line `offset`.
    pub(crate) fn new(offset: u64, limit: u64, limits: ReadLimits) -> Self {
        Self {
            limits,
            first: offset,
            end: offset.saturating_add(limit),
            ended: 0,
            is_in_line: false,
            line: LineStart::default(),
            shown: Vec::new(),
            shown_bytes: 0,
            is_full: false,
        }
    }

    /// Takes the next piece of the text.
    pub(crate) fn push(&mut self, mut piece: &str) {
        while !piece.is_empty() {
            if self.is_over() {
                return self.count(piece);
            }
            let newline = memchr(b'\n', piece.as_bytes());
            let part = &piece[..newline.unwrap_or(piece.len())];
            if self.is_shown(self.ended + 1) {
                self.line.push(part, self.limits.max_line_chars);
            }
            match newline {
                Some(at) => {
                    self.end_line();
                    piece = &piece[at + 1..];
                }
                None => {
                    self.is_in_line = true;
                    return;
                }
            }
        }
    }

    /// The text has ended.
    pub(crate) fn finish(mut self) -> Shown {
        if self.is_in_line {
            self.end_line();
        }
        Shown { lines: self.shown, total_lines: self.ended, is_capped: self.is_full }
    }

    fn is_shown(&self, number: u64) -> bool {
        (self.first..self.end).contains(&number) && !self.is_full
    }

    /// Whether nothing that follows is shown.
    fn is_over(&self) -> bool {
        self.is_full || self.ended + 1 >= self.end
    }

    fn count(&mut self, piece: &str) {
        self.ended += memchr_iter(b'\n', piece.as_bytes()).count() as u64;
        self.is_in_line = match memrchr(b'\n', piece.as_bytes()) {
            Some(last) => last + 1 < piece.len(),
            None => true,
        };
    }

    fn end_line(&mut self) {
        self.ended += 1;
        self.is_in_line = false;
        if self.is_shown(self.ended) {
            let line = std::mem::take(&mut self.line);
            self.show(line);
        }
    }

    fn show(&mut self, mut line: LineStart) {
        line.trim_ending();
        let budget = self.limits.max_window_bytes;
        let text = line.shown(self.limits.max_line_chars);
        let separator = usize::from(!self.shown.is_empty());
        let bytes = self.shown_bytes.saturating_add(text.len() + separator);
        if bytes <= budget {
            self.shown_bytes = bytes;
            self.shown.push(ReadLine { number: self.ended, text });
            return;
        }
        self.is_full = true;
        if self.shown.is_empty() {
            // An empty window would be asked for again and again.
            let text = line.within(budget, self.limits.max_line_chars);
            self.shown.push(ReadLine { number: self.ended, text });
        }
    }
}

impl LineStart {
    fn push(&mut self, part: &str, max_chars: usize) {
        if self.is_longer {
            return;
        }
        let room = max_chars.saturating_add(1) - self.chars;
        match part.char_indices().nth(room) {
            Some((at, _)) => {
                self.text.push_str(&part[..at]);
                self.chars += room;
                self.is_longer = true;
            }
            None => {
                self.text.push_str(part);
                self.chars += part.chars().count();
            }
        }
    }

    /// The `\r` of a `\r\n`.
    fn trim_ending(&mut self) {
        if !self.is_longer && self.text.ends_with('\r') {
            self.text.pop();
            self.chars -= 1;
        }
    }

    fn shown(&self, max_chars: usize) -> String {
        match self.text.char_indices().nth(max_chars) {
            Some((at, _)) => truncated(self.up_to(at), max_chars),
            None => self.text.clone(),
        }
    }

    /// As much as fits into `max_bytes`, which is not all of it.
    fn within(&self, max_bytes: usize, max_chars: usize) -> String {
        let end = self.text.char_indices().nth(max_chars).map_or(self.text.len(), |(at, _)| at);
        let kept = self.up_to(self.text.floor_char_boundary(end.min(max_bytes)));
        truncated(kept, kept.chars().count())
    }

    /// What ends by `end` without cutting what a reader sees as one character, such as an emoji made of several; that is cut
    /// only if there is nothing before it.
    fn up_to(&self, end: usize) -> &str {
        let starts = self.text.grapheme_indices(true).map(|(start, _)| start);
        match starts.take_while(|start| *start <= end).last() {
            None | Some(0) => &self.text[..end],
            Some(start) => &self.text[..start],
        }
    }
}

fn truncated(kept: &str, chars: usize) -> String {
    format!("{kept}... (line truncated to {chars} chars)")
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
