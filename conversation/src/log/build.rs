//! Builds the index by reading the file once, in ranges, on the cores there are.
//!
//! A line belongs to the range in which it begins; its range reads on until it ends.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, PoisonError};

use crate::cores::{Queue, on_cores};
use crate::entry::Entry;
use crate::log::index::{Damage, Index, MAX_LINE};
use crate::log::recover::TornTail;
use crate::scan::{Line, Look, scan_line};

/// How much of the file one task takes: large enough to amortise the hand-over, small enough to stay in a core's cache
/// while its lines are looked at.
const RANGE: u64 = 512 << 10;
/// How much further a range reads at a time to find the end of its last line.
const EXTEND: u64 = 64 << 10;
/// More readers than this only wait for memory.
const MAX_READERS: usize = 8;
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads the first `len` bytes of the log.
pub(crate) fn build(file: &File, len: u64) -> io::Result<Index> {
    let ranges = len.div_ceil(RANGE);
    let queue = Queue::new(0..ranges);
    let done: Mutex<Vec<(u64, Index)>> = Mutex::new(Vec::new());
    on_cores(usize::try_from(ranges).unwrap_or(MAX_READERS).min(MAX_READERS), &|| {
        let mut buffer = Vec::new();
        while let Some(at) = queue.take() {
            let range = Reader { file, begin: at * RANGE, end: len.min((at + 1) * RANGE), len }.read(&mut buffer)?;
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, range));
        }
        Ok(())
    })?;
    let mut pieces = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    pieces.sort_unstable_by_key(|(at, _)| *at);
    let mut index = Index::default();
    for (_, piece) in pieces {
        index.absorb(piece);
    }
    index.report.bytes = index.report.torn.as_ref().map_or(len, |torn| torn.offset);
    Ok(index)
}

/// One range of the file: the lines that begin in `begin..end`.
struct Reader<'a> {
    file: &'a File,
    begin: u64,
    end: u64,
    len: u64,
}

impl Reader<'_> {
    fn read(&self, buffer: &mut Vec<u8>) -> io::Result<Index> {
        // One byte more at the front tells whether a line begins exactly at `begin`.
        let from = self.begin.saturating_sub(1);
        self.fill(buffer, from)?;
        let first = self.first_line(buffer);
        let mut index = Index::default();
        let Some(first) = first.filter(|first| from + (*first as u64) < self.end) else { return Ok(index) };
        let end = self.read_to_line_end(buffer, from)?;
        let lines = Lines { offset: from + first as u64, bytes: &buffer[first..], end };
        lines.index(&mut index);
        Ok(index)
    }

    /// Where in the buffer the first line of this range begins.
    fn first_line(&self, buffer: &[u8]) -> Option<usize> {
        if self.begin == 0 {
            return Some(if buffer.starts_with(BOM) { BOM.len() } else { 0 });
        }
        memchr::memchr(b'\n', buffer).map(|newline| newline + 1)
    }

    /// Reads on until the last line ends, or the file does.
    fn read_to_line_end(&self, buffer: &mut Vec<u8>, from: u64) -> io::Result<LineEnd> {
        let mut searched = buffer.len().saturating_sub(1);
        loop {
            if let Some(newline) = memchr::memchr(b'\n', &buffer[searched..]) {
                buffer.truncate(searched + newline + 1);
                return Ok(LineEnd::Newline);
            }
            searched = buffer.len();
            let at = from + searched as u64;
            if at >= self.len {
                return Ok(LineEnd::OfFile);
            }
            if searched > MAX_LINE {
                return self.skip_line(at);
            }
            self.extend(buffer, at, self.len.min(at + EXTEND))?;
        }
    }

    /// Passes over the rest of a line that is too long to be read. Whether a newline ends it decides whether it is
    /// damage or torn: the next append must never be glued to a torn one.
    fn skip_line(&self, mut at: u64) -> io::Result<LineEnd> {
        let mut window = Vec::new();
        while at < self.len {
            window.clear();
            self.extend(&mut window, at, self.len.min(at + EXTEND))?;
            if let Some(newline) = memchr::memchr(b'\n', &window) {
                return Ok(LineEnd::TooLong { end: at + newline as u64, newline: true });
            }
            at += window.len() as u64;
        }
        Ok(LineEnd::TooLong { end: self.len, newline: false })
    }

    /// Reads the range over the buffer, which is of the same length nearly always and then not zeroed again.
    fn fill(&self, buffer: &mut Vec<u8>, from: u64) -> io::Result<()> {
        buffer.resize(usize::try_from(self.end - from).expect("a range is small"), 0);
        self.file.read_exact_at(buffer, from)
    }

    fn extend(&self, buffer: &mut Vec<u8>, from: u64, to: u64) -> io::Result<()> {
        let start = buffer.len();
        let more = usize::try_from(to - from).expect("a range is a few megabytes");
        buffer.resize(start + more, 0);
        self.file.read_exact_at(&mut buffer[start..], from)
    }
}

/// How the last line of a range ends.
#[derive(Clone, Copy)]
enum LineEnd {
    Newline,
    /// The file ends before the line does.
    OfFile,
    /// The line was not read to its end, which is there in the file.
    TooLong {
        end: u64,
        newline: bool,
    },
}

/// The bytes of a range's lines, the first of which begins at `offset` of the file.
struct Lines<'a> {
    offset: u64,
    bytes: &'a [u8],
    end: LineEnd,
}

impl Lines<'_> {
    fn index(&self, index: &mut Index) {
        // Nearly always all of it is UTF-8, and then one fast check serves all lines.
        let text = simdutf8::basic::from_utf8(self.bytes).ok();
        let mut begin = 0;
        while begin < self.bytes.len() {
            let newline = memchr::memchr(b'\n', &self.bytes[begin..]).map(|at| begin + at);
            let end = newline.unwrap_or(self.bytes.len());
            let line = match text {
                Some(text) => Ok(&text[begin..end]),
                None => std::str::from_utf8(&self.bytes[begin..end]).map_err(|error| not_utf8(&error)),
            };
            if newline.is_some() {
                index.lines += 1;
                self.whole_line(index, begin, end, line);
            } else {
                self.last_line(index, begin, line);
            }
            begin = end + 1;
        }
    }

    fn whole_line(&self, index: &mut Index, begin: usize, end: usize, line: Result<&str, String>) {
        let offset = self.offset + begin as u64;
        let read = line.and_then(|line| if line.trim_ascii().is_empty() { Ok(()) } else { add(index, offset, line) });
        if let Err(reason) = read {
            self.damage(index, begin, end, reason);
        }
    }

    /// What stands after the last newline: an interrupted append, unless it is a whole object that lost its newline.
    fn last_line(&self, index: &mut Index, begin: usize, line: Result<&str, String>) {
        let offset = self.offset + begin as u64;
        let read = match self.end {
            LineEnd::TooLong { end, newline: true } => {
                index.lines += 1;
                let reason = format!("longer than {MAX_LINE} bytes");
                return index.report.add_damage(Damage { line: index.lines, offset, bytes: end - offset, reason });
            }
            LineEnd::TooLong { end, newline: false } => Err(end - offset),
            LineEnd::Newline | LineEnd::OfFile => {
                let bytes = (self.bytes.len() - begin) as u64;
                line.and_then(|line| add(index, offset, line)).map_err(|_| bytes)
            }
        };
        match read {
            Ok(()) => {
                index.lines += 1;
                index.unterminated = true;
            }
            Err(bytes) => index.report.torn = Some(TornTail { offset, bytes, kept_as: None }),
        }
    }

    fn damage(&self, index: &mut Index, begin: usize, end: usize, reason: String) {
        let (offset, bytes) = (self.offset + begin as u64, (end - begin) as u64);
        index.report.add_damage(Damage { line: index.lines, offset, bytes, reason });
    }
}

fn add(index: &mut Index, offset: u64, line: &str) -> Result<(), String> {
    match scan_line(line, Look::ForFiles)? {
        Line::Message(scan) => index.push(offset, line.len(), scan),
        Line::Ours(value) => index.entries.push(Entry::read(&value)),
        Line::Aside(kind) => index.push_aside(kind, offset, line.len()),
        Line::Other => index.report.other_lines += 1,
    }
    Ok(())
}

fn not_utf8(error: &std::str::Utf8Error) -> String {
    format!("not UTF-8 at byte {} of the line", error.valid_up_to())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn index_of(content: &[u8]) -> Index {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        build(&file, content.len() as u64).unwrap()
    }

    #[test]
    fn lines_belong_to_exactly_one_range_wherever_its_border_falls() {
        // Lines of many lengths around the border, one exactly at it, and one longer than a range.
        let mut content = Vec::new();
        let mut expected = Vec::new();
        let range = usize::try_from(RANGE).unwrap();
        let mut add = |content: &mut Vec<u8>, len: usize| {
            let frame = br#"{"role":"user","content":""}"#.len();
            expected.push((content.len() as u64, len));
            content.extend_from_slice(br#"{"role":"user","content":""#);
            content.resize(content.len() + len - frame, b'x');
            content.extend_from_slice(b"\"}\n");
        };
        add(&mut content, range - 1);
        add(&mut content, range - 2);
        for len in [40, 41, 1000, 2 * range + 17, 50, range - 60, 30, 31, 32] {
            add(&mut content, len);
        }
        let index = index_of(&content);
        let found: Vec<_> = index.messages.iter().map(|span| (span.offset, span.len as usize)).collect();
        assert_eq!(found, expected);
        assert!(index.report.is_clean());
    }

    #[test]
    fn damage_is_listed_by_line_and_offset_and_the_rest_loads() {
        let content =
            b"{\"role\":\"user\"}\n\n{\"role\":\n\xff\xfe\n[1]\n\0\0\0{\"role\":\"user\"}\n{\"role\":\"assistant\"}\n";
        let report = index_of(content).report;
        assert_eq!((report.messages, report.other_lines, report.damaged_lines), (2, 1, 3));
        let places: Vec<_> = report.damaged.iter().map(|damage| (damage.line, damage.offset, damage.bytes)).collect();
        assert_eq!(places, [(3, 17, 8), (4, 26, 2), (6, 33, 18)]);
        assert_eq!(report.torn, None);
    }

    #[test]
    fn a_tail_is_torn_unless_it_is_a_whole_object() {
        let whole = r#"{"role":"user","content":"ä"}"#.as_bytes();
        for cut in 1..whole.len() {
            let mut content = b"{\"role\":\"user\"}\n".to_vec();
            content.extend_from_slice(&whole[..cut]);
            let index = index_of(&content);
            assert_eq!(index.report.torn, Some(TornTail { offset: 16, bytes: cut as u64, kept_as: None }), "{cut}");
            assert_eq!(index.messages.len(), 1);
        }
        let index = index_of(whole);
        assert_eq!((index.messages.len(), index.unterminated, index.report.torn), (1, true, None));
        let index = index_of(b"{\"role\":\"user\"}\n\0\0\0\0");
        assert_eq!(index.report.torn.map(|torn| torn.bytes), Some(4));
    }

    #[test]
    fn a_torn_tail_may_be_longer_than_a_range_and_longer_than_any_line() {
        let range = usize::try_from(RANGE).unwrap();
        for (byte, len) in [(b'{', range + 5), (b'x', 3 * range), (0, MAX_LINE + 2 * range + 1)] {
            let mut content = b"{\"role\":\"user\"}\n".to_vec();
            content.resize(16 + len, byte);
            let report = index_of(&content).report;
            let torn = TornTail { offset: 16, bytes: len as u64, kept_as: None };
            assert_eq!((report.messages, report.damaged_lines, report.torn), (1, 0, Some(torn)));

            // With a newline it is a line, and damage.
            content.extend_from_slice(b"\n{\"role\":\"user\"}\n");
            let report = index_of(&content).report;
            let damage = &report.damaged[0];
            assert_eq!((report.messages, report.damaged_lines, report.torn), (2, 1, None));
            assert_eq!((damage.line, damage.offset, damage.bytes), (2, 16, len as u64));
        }
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let index = index_of(b"\xef\xbb\xbf{\"role\":\"user\"}\n");
        assert_eq!((index.messages[0].offset, index.report.is_clean()), (3, true));
    }
}
