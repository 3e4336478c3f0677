//! How lines end, and how new ones shall.

use memchr::{memchr, memchr_iter, memmem};
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// With more lines than this in an edit's two texts, the lines are no longer aligned but paired off from the first. The aligning
/// takes time by the square.
const MAX_ALIGNED: usize = 4000;

/// The line endings of one text. Positions are in the text after `\r\n` became `\n`.
pub(super) struct Endings {
    /// The positions of the `\n` that had a `\r` before them, ascending.
    crlf: Vec<usize>,
    /// How many had none.
    lf: usize,
}

impl Endings {
    pub(super) fn of(original: &str) -> Self {
        let crlf: Vec<usize> =
            memmem::find_iter(original.as_bytes(), b"\r\n").enumerate().map(|(before, at)| at - before).collect();
        let lf = memchr_iter(b'\n', original.as_bytes()).count() - crlf.len();
        Self { crlf, lf }
    }

    /// Where in the original the position `at` is. That of a `\r\n` is before the `\r`.
    pub(super) fn original(&self, at: usize) -> usize {
        at + self.crlf.partition_point(|newline| *newline < at)
    }

    /// The ending of the line whose `\n` is at `newline`.
    fn at(&self, newline: usize) -> &'static str {
        if self.crlf.binary_search(&newline).is_ok() { "\r\n" } else { "\n" }
    }

    /// The ending of most lines; of two equals, the plain one.
    fn majority(&self) -> &'static str {
        if self.crlf.len() > self.lf { "\r\n" } else { "\n" }
    }

    fn are_mixed(&self) -> bool {
        !self.crlf.is_empty() && self.lf > 0
    }
}

/// Writes the new text of an edit with the endings that its lines shall have at each match.
///
/// A line of the new text that is also in the old one, in the same order, is the same line and keeps its ending. One that
/// stands for an old one takes its ending. One that is merely added takes the majority's.
pub(super) struct NewEndings<'a> {
    endings: &'a Endings,
    lf: &'a str,
    old: &'a str,
    new: &'a str,
    /// Positions of the line ends in `old`.
    old_newlines: Vec<usize>,
    /// For each way a match can lie: at the start of a line or not, at the end of one or not. Made when needed.
    plans: [Option<Vec<Ending>>; 4],
    /// The first line end at or after the end of the last match that asked.
    next_newline: Option<usize>,
}

/// Where a line of the new text takes its ending from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The line of that number among those that the match touches, from 0.
    Touched(usize),
    Majority,
}

impl<'a> NewEndings<'a> {
    pub(super) fn new(endings: &'a Endings, lf: &'a str, old: &'a str, new: &'a str) -> Self {
        Self {
            endings,
            lf,
            old,
            new,
            old_newlines: memchr_iter(b'\n', old.as_bytes()).collect(),
            plans: [const { None }; 4],
            next_newline: memchr(b'\n', lf.as_bytes()),
        }
    }

    /// Appends the new text as it shall stand in place of the match at `start`. Matches come in ascending order.
    pub(super) fn push(&mut self, start: usize, edited: &mut String) {
        if self.endings.crlf.is_empty() {
            edited.push_str(self.new);
            return;
        }
        let plan = if self.endings.are_mixed() { self.plan_for(start).to_vec() } else { Vec::new() };
        for (number, line) in self.new.split_inclusive('\n').enumerate() {
            let Some(line) = line.strip_suffix('\n') else {
                edited.push_str(line);
                continue;
            };
            edited.push_str(line);
            edited.push_str(match plan.get(number) {
                Some(Ending::Touched(touched)) => self.touched(start, *touched),
                Some(Ending::Majority) | None => self.endings.majority(),
            });
        }
    }

    fn plan_for(&mut self, start: usize) -> &[Ending] {
        let end = start + self.old.len();
        let bytes = self.lf.as_bytes();
        let starts_line = start == 0 || bytes[start - 1] == b'\n';
        let ends_line = end == bytes.len() || bytes[end] == b'\n';
        let plan = &mut self.plans[usize::from(starts_line) * 2 + usize::from(ends_line)];
        plan.get_or_insert_with(|| plan_lines(self.old, self.new, starts_line, ends_line))
    }

    /// The ending of a line that the match at `start` touches; the last may end after the match, or not at all.
    fn touched(&mut self, start: usize, number: usize) -> &'static str {
        if let Some(newline) = self.old_newlines.get(number) {
            return self.endings.at(start + newline);
        }
        let end = start + self.old.len();
        match self.first_newline_from(end) {
            Some(newline) => self.endings.at(newline),
            None => self.endings.majority(),
        }
    }

    /// Remembered, since all matches may be in one line, whose end is far.
    fn first_newline_from(&mut self, from: usize) -> Option<usize> {
        if self.next_newline.is_some_and(|newline| newline < from) {
            self.next_newline = memchr(b'\n', &self.lf.as_bytes()[from..]).map(|at| from + at);
        }
        self.next_newline
    }
}

/// A line as it is compared: only the part within the match is known, so a part of a line equals no other line, and the part
/// at the same end.
#[derive(Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Line<'a> {
    text: &'a str,
    cut_at_start: bool,
    cut_at_end: bool,
}

/// Where each line of `new` that ends takes its ending from, if the match begins or ends with a line of its own.
fn plan_lines(old: &str, new: &str, starts_line: bool, ends_line: bool) -> Vec<Ending> {
    let (old, new) = (lines(old, starts_line, ends_line), lines(new, starts_line, ends_line));
    let mut plan = vec![Ending::Majority; new.len()];
    let pair_off = |plan: &mut [Ending], old_start: usize, old_len: usize| {
        for (number, ending) in plan.iter_mut().enumerate() {
            *ending = Ending::Touched(old_start + number.min(old_len - 1));
        }
    };
    if old.len() + new.len() > MAX_ALIGNED {
        pair_off(&mut plan, 0, old.len());
        return plan;
    }
    for step in capture_diff_slices(Algorithm::Myers, &old, &new) {
        match step {
            DiffOp::Equal { old_index, new_index, len } => {
                pair_off(&mut plan[new_index..new_index + len], old_index, len);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                pair_off(&mut plan[new_index..new_index + new_len], old_index, old_len);
            }
            DiffOp::Insert { .. } | DiffOp::Delete { .. } => {}
        }
    }
    plan
}

fn lines(text: &str, starts_line: bool, ends_line: bool) -> Vec<Line<'_>> {
    let mut lines: Vec<_> =
        text.split('\n').map(|text| Line { text, cut_at_start: false, cut_at_end: false }).collect();
    if let Some(first) = lines.first_mut() {
        first.cut_at_start = !starts_line;
    }
    if let Some(last) = lines.last_mut() {
        last.cut_at_end = !ends_line;
    }
    lines
}
