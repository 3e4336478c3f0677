use proptest::prelude::*;

use super::*;

fn limits(max_line_chars: usize, max_window_bytes: usize) -> ReadLimits {
    ReadLimits { max_line_chars, max_window_bytes, ..ReadLimits::default() }
}

fn window(text: &str, offset: u64, limit: u64, limits: ReadLimits) -> Shown {
    let mut window = Window::new(offset, limit, limits);
    window.push(text);
    window.finish()
}

fn texts(shown: &Shown) -> Vec<(u64, &str)> {
    shown.lines.iter().map(|line| (line.number, line.text.as_str())).collect()
}

#[test]
fn lines_are_split_and_counted() {
    for (text, total, lines) in [
        ("", 0, &[][..]),
        ("\n", 1, &[(1, "")]),
        ("a", 1, &[(1, "a")]),
        ("a\n", 1, &[(1, "a")]),
        ("a\nb", 2, &[(1, "a"), (2, "b")]),
        ("a\n\n", 2, &[(1, "a"), (2, "")]),
        ("a\r\nb\r\n", 2, &[(1, "a"), (2, "b")]),
        ("a\r\r\n", 1, &[(1, "a\r")]),
        ("a\rb", 1, &[(1, "a\rb")]),
        ("\r", 1, &[(1, "")]),
        ("a\nb\r", 2, &[(1, "a"), (2, "b")]),
    ] {
        let shown = window(text, 1, 10, ReadLimits::default());
        assert_eq!((shown.total_lines, &texts(&shown)[..], shown.is_capped), (total, lines, false), "{text:?}");
    }
}

#[test]
fn a_window_has_the_lines_asked_for_and_the_total_is_exact() {
    let text = "a\nb\nc\nd\ne";
    for (offset, limit, lines) in [
        (1, 2, &[(1, "a"), (2, "b")][..]),
        (3, 1, &[(3, "c")]),
        (4, 2, &[(4, "d"), (5, "e")]),
        (5, 9, &[(5, "e")]),
        (6, 1, &[]),
        (u64::MAX, u64::MAX, &[]),
        (2, u64::MAX, &[(2, "b"), (3, "c"), (4, "d"), (5, "e")]),
    ] {
        let shown = window(text, offset, limit, ReadLimits::default());
        assert_eq!((shown.total_lines, &texts(&shown)[..], shown.is_capped), (5, lines, false), "{offset} {limit}");
    }
}

#[test]
fn the_budget_counts_lines_and_separators() {
    for (budget, lines, is_capped) in [
        (5, &[(1, "ab"), (2, "cd")][..], true),
        (4, &[(1, "ab")], true),
        (2, &[(1, "ab")], true),
        (6, &[(1, "ab"), (2, "cd"), (3, "")], true),
        (7, &[(1, "ab"), (2, "cd"), (3, "")], true),
        (8, &[(1, "ab"), (2, "cd"), (3, ""), (4, "e")], false),
    ] {
        let shown = window("ab\ncd\n\ne\n", 1, 10, limits(10, budget));
        assert_eq!((shown.total_lines, &texts(&shown)[..], shown.is_capped), (4, lines, is_capped), "{budget}");
    }
}

#[test]
fn a_first_line_over_the_budget_is_shown_as_far_as_it_fits() {
    for (text, budget, shown_text) in [
        ("abcdef\nx", 3, "abc... (line truncated to 3 chars)"),
        ("aéé\nx", 2, "a... (line truncated to 1 chars)"),
        ("😀😀\nx", 3, "... (line truncated to 0 chars)"),
        ("abcdefghijklmnop\nx", 12, "abcdefghij... (line truncated to 10 chars)"),
        ("abc\nx", 0, "... (line truncated to 0 chars)"),
    ] {
        let shown = window(text, 1, 10, limits(10, budget));
        assert_eq!((texts(&shown), shown.is_capped), (vec![(1, shown_text)], true), "{text:?} {budget}");
        assert_eq!(shown.total_lines, 2);
    }
}

#[test]
fn a_long_line_is_cut_between_characters() {
    let family = "👨\u{200d}👩\u{200d}👧";
    for (text, kept) in [
        ("abcd".to_owned(), None),
        ("abcd\r\n".to_owned(), None),
        ("abcde".to_owned(), Some("abcd")),
        ("abcd\r\r\n".to_owned(), Some("abcd")),
        ("abc😀".to_owned(), None),
        ("abc😀e".to_owned(), Some("abc😀")),
        ("abcd😀".to_owned(), Some("abcd")),
        // An accent, a skin tone and a flag belong to what is before them.
        ("abce\u{301}".to_owned(), Some("abc")),
        ("abc👍\u{1f3fd}".to_owned(), Some("abc")),
        ("abc🇩🇪".to_owned(), Some("abc")),
        (format!("ab{family}x"), Some("ab")),
        // Here there is nothing else.
        (family.to_owned(), Some("👨\u{200d}👩\u{200d}")),
    ] {
        let shown = window(&text, 1, 10, limits(4, 1000));
        let whole = text.trim_end_matches(['\r', '\n']);
        let expected = kept.map_or(whole.to_owned(), |kept| format!("{kept}... (line truncated to 4 chars)"));
        assert_eq!(texts(&shown), [(1, expected.as_str())], "{text:?}");
    }
}

#[test]
fn one_endless_line_is_never_held() {
    let mut window = Window::new(1, 10, ReadLimits::default());
    let piece = "x".repeat(1 << 20);
    for _ in 0..64 {
        window.push(&piece);
    }
    assert!(window.line.text.capacity() <= 8192);
    let shown = window.finish();
    assert_eq!((shown.total_lines, shown.lines[0].text.len()), (1, 2000 + "... (line truncated to 2000 chars)".len()));
}

/// The same by the plainest of means: all lines at once.
fn plainly(text: &str, offset: u64, limit: u64, limits: ReadLimits) -> Shown {
    let mut all: Vec<&str> = text.split('\n').collect();
    if all.last() == Some(&"") {
        all.pop();
    }
    let (mut lines, mut bytes, mut is_capped) = (Vec::<ReadLine>::new(), 0, false);
    for (at, line) in all.iter().enumerate().skip(offset as usize - 1).take(limit as usize) {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let cut = |chars: usize, said: usize| {
            let kept: String = line.chars().take(chars).collect();
            format!("{kept}... (line truncated to {said} chars)")
        };
        let max = limits.max_line_chars;
        let text = if line.chars().count() > max { cut(max, max) } else { line.to_owned() };
        bytes += text.len() + usize::from(!lines.is_empty());
        let number = at as u64 + 1;
        if bytes > limits.max_window_bytes {
            is_capped = true;
            if lines.is_empty() {
                let fits = |chars: &usize| {
                    line.chars().take(*chars).map(char::len_utf8).sum::<usize>() <= limits.max_window_bytes
                };
                let chars = (0..=max.min(line.chars().count())).filter(fits).max().unwrap();
                lines.push(ReadLine { number, text: cut(chars, chars) });
            }
            break;
        }
        lines.push(ReadLine { number, text });
    }
    Shown { lines, total_lines: all.len() as u64, is_capped }
}

proptest! {
    /// No grapheme of more than one character is made of these, `\r\n` apart, which is an ending.
    #[test]
    fn a_window_is_that_of_the_whole_text_however_it_comes(
        pieces in proptest::collection::vec("[ab\u{e9}\u{1f600}\r\n]{0,6}", 0..12),
        offset in 1_u64..6,
        limit in 1_u64..6,
        max_line_chars in 1_usize..5,
        max_window_bytes in 0_usize..90,
    ) {
        let limits = limits(max_line_chars, max_window_bytes);
        let mut window = Window::new(offset, limit, limits);
        for piece in &pieces {
            window.push(piece);
        }
        prop_assert_eq!(window.finish(), plainly(&pieces.concat(), offset, limit, limits));
    }
}
