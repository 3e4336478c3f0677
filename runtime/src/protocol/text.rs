//! Foreign text, from which base64 is taken out before a model has to pay for it.

use std::borrow::Cow;
use std::ops::Range;

/// An unbroken run of base64 that text may hold: room for hashes, keys and signed tokens. In characters.
const LONGEST_RUN: usize = 1024;

/// What text may hold beyond that, all told: data URLs (an icon in a style sheet), base64 wrapped into lines
/// (a certificate), and runs that look like something else (a sequence of genes). In characters.
const MOST_IN_ALL: usize = 16 * 1024;

/// Shorter lines are not taken for wrapped base64; a list of names is not.
const SHORTEST_LINE: usize = 40;

/// Text without long base64.
#[derive(Debug, PartialEq)]
pub(super) struct Tidied<'a> {
    pub(super) text: Cow<'a, str>,
    /// How many characters of base64 were left out.
    pub(super) left_out: usize,
}

/// May data URLs of some length stay?
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum DataUrls {
    /// In a text, of which they are a part.
    Stay,
    /// In JSON that was walked: what is still there is no image, and no text either.
    Go,
}

/// Takes long base64 out of a text, leaving a line for each stretch. All else stays byte for byte.
pub(super) fn tidy(text: &str, data_urls: DataUrls) -> Tidied<'_> {
    let cuts = cuts(text, data_urls);
    if cuts.is_empty() {
        return Tidied { text: Cow::Borrowed(text), left_out: 0 };
    }
    let mut tidied = String::new();
    let (mut copied, mut left_out) = (0, 0);
    for cut in cuts {
        tidied.push_str(&text[copied..cut.start]);
        tidied.push_str(&format!("[{} characters of base64 left out]", cut.len()));
        left_out += cut.len();
        copied = cut.end;
    }
    tidied.push_str(&text[copied..]);
    Tidied { text: Cow::Owned(tidied), left_out }
}

/// Does the text hold base64 that may not stay?
pub(super) fn has_long_base64(text: &str) -> bool {
    text.len() > LONGEST_RUN && !cuts(text, DataUrls::Stay).is_empty()
}

fn cuts(text: &str, data_urls: DataUrls) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut budget = MOST_IN_ALL;
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_symbol(bytes[at]) {
            at += 1;
            continue;
        }
        let run = Run::at(bytes, at);
        at = run.range.end;
        let len = run.range.len();
        if len <= LONGEST_RUN {
            continue;
        }
        let in_url = data_urls == DataUrls::Stay && is_data_url(&bytes[..run.range.start]);
        let plain = in_url || run.longest <= LONGEST_RUN || !looks_encoded(&bytes[run.range.clone()]);
        match budget.checked_sub(len) {
            Some(left) if plain => budget = left,
            _ => cuts.push(run.range),
        }
    }
    cuts
}

/// Base64 symbols, perhaps wrapped into lines, with the padding.
struct Run {
    range: Range<usize>,
    /// The longest line.
    longest: usize,
}

impl Run {
    fn at(bytes: &[u8], start: usize) -> Self {
        let mut end = line_end(bytes, start);
        let mut longest = end - start;
        let mut line = longest;
        while line >= SHORTEST_LINE {
            let Some(next) = after_break(bytes, end) else { break };
            let next_end = line_end(bytes, next);
            line = next_end - next;
            // A short line is the last one only if nothing follows it on the line: else it is a word of the next text.
            if line == 0 || (line < SHORTEST_LINE && !ends_here(bytes, next_end)) {
                break;
            }
            end = next_end;
            longest = longest.max(line);
        }
        Self { range: start..end, longest }
    }
}

fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn line_end(bytes: &[u8], start: usize) -> usize {
    let end = start + bytes[start..].iter().take_while(|byte| is_symbol(**byte)).count();
    end + bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count()
}

/// Where the next line begins, if a newline stands here, itself or as it is written in JSON.
fn after_break(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    let slashes = |rest: &[u8]| rest.iter().take_while(|byte| **byte == b'\\').count();
    let skip = |rest: &[u8], newline: u8, letter: u8| match rest.first() {
        Some(byte) if *byte == newline => 1,
        _ => match slashes(rest) {
            0 => 0,
            n if rest.get(n) == Some(&letter) => n + 1,
            _ => 0,
        },
    };
    let returned = skip(rest, b'\r', b'r');
    match skip(&rest[returned..], b'\n', b'n') {
        0 => None,
        n => Some(at + returned + n),
    }
}

fn ends_here(bytes: &[u8], at: usize) -> bool {
    at == bytes.len() || matches!(bytes[at], b'"' | b'\'' | b'`' | b'<' | b')') || after_break(bytes, at).is_some()
}

fn is_data_url(before: &[u8]) -> bool {
    const MARK: &[u8] = b";base64,";

    before.len().checked_sub(MARK.len()).is_some_and(|at| before[at..].eq_ignore_ascii_case(MARK))
}

/// Letters of both cases and digits, as in the encoding of anything but the dullest bytes. Hexadecimal digits, sequences
/// of genes and lines of dashes are not like that.
fn looks_encoded(run: &[u8]) -> bool {
    run.iter().any(u8::is_ascii_uppercase)
        && run.iter().any(u8::is_ascii_lowercase)
        && run.iter().any(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use proptest::prelude::*;

    use super::*;

    fn base64(chars: usize) -> String {
        let bytes: Vec<u8> = (0..chars as u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
        let mut text = BASE64_STANDARD.encode(bytes);
        text.truncate(chars);
        text
    }

    fn wrapped(chars: usize, newline: &str) -> String {
        base64(chars).as_bytes().chunks(76).map(|line| format!("{}{newline}", String::from_utf8_lossy(line))).collect()
    }

    #[test]
    fn what_is_short_or_looks_like_something_else_stays() {
        for text in [
            String::new(),
            "plain words".to_owned(),
            base64(1024),
            "-".repeat(16_000),
            "acgt".repeat(4_000),
            "deadbeef01".repeat(1_600),
            "name_of_a_thing\n".repeat(10_000),
            wrapped(4_000, "\n"),
            format!("icon: data:image/png;base64,{} # and more", base64(16_000)),
            format!("cut in the middle: data:image/png;base64,{}", base64(9_000)),
            "é".repeat(5_000),
        ] {
            assert_eq!(tidy(&text, DataUrls::Stay), Tidied { text: Cow::Borrowed(&text), left_out: 0 });
            assert!(!has_long_base64(&text));
        }
    }

    #[test]
    fn what_is_long_goes_and_its_surroundings_stay() {
        let long = wrapped(20_000, "\r\n");
        for (run, chars) in [
            (base64(1025), 1025),
            (base64(2_031_740), 2_031_740),
            ("A".repeat(16_385), 16_385),
            (long.trim_end().to_owned(), long.trim_end().len()),
            (wrapped(20_000, "\\n").trim_end_matches("\\n").to_owned(), 20_000 + 2 * (20_000 / 76)),
        ] {
            let text = format!("before: {run}\n\nafter it");
            let tidied = tidy(&text, DataUrls::Stay);
            assert_eq!(tidied.text, format!("before: [{chars} characters of base64 left out]\n\nafter it"));
            assert_eq!(tidied.left_out, chars);
            assert!(has_long_base64(&text));
        }
    }

    #[test]
    fn data_urls_share_a_budget_and_stay_only_in_text() {
        let url = format!("data:image/png;base64,{}", base64(10_000));
        let text = format!("{url} {url}");
        assert_eq!(tidy(&text, DataUrls::Stay).left_out, 10_000);
        assert!(tidy(&text, DataUrls::Stay).text.starts_with(&url));
        assert_eq!(tidy(&text, DataUrls::Go).left_out, 20_000);
    }

    #[test]
    fn a_word_after_wrapped_base64_stays() {
        let text = format!("{}Words follow it.", wrapped(76 * 300, "\n"));
        assert!(tidy(&text, DataUrls::Stay).text.ends_with("left out]\nWords follow it."));
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(\\PC|[A-Za-z0-9+/=\\\\rn\n\r]{0,90}){0,60}") {
            let tidied = tidy(&text, DataUrls::Go);
            prop_assert_eq!(tidied.left_out == 0, tidied.text == text);
        }
    }
}
