//! Names with `*` in them.

use serde::{Deserialize, Serialize};

/// Text in which `*` stands for anything, nothing included. Upper and lower case of ASCII letters are the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern(String);

impl Pattern {
    /// A pattern of this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Does it fit the whole of a text?
    #[must_use]
    pub fn fits(&self, text: &str) -> bool {
        let mut pieces = self.0.split('*');
        let first = pieces.next().unwrap_or_default();
        let Some(rest) = strip_prefix(text, first) else {
            return false;
        };
        let Some(last) = pieces.next_back() else {
            return rest.is_empty();
        };
        // The earliest place of each piece leaves the most room for those behind it.
        let between = pieces.try_fold(rest, |rest, piece| Some(&rest[find(rest, piece)? + piece.len()..]));
        between.is_some_and(|rest| ends_with(rest, last))
    }

    /// Does it fit some part of a text?
    #[must_use]
    pub fn found_in(&self, text: &str) -> bool {
        Self(format!("*{}*", self.0)).fits(text)
    }

    /// How many bytes of it are no `*`.
    pub(super) fn spelled_out(&self) -> usize {
        self.0.bytes().filter(|byte| *byte != b'*').count()
    }
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

fn ends_with(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    start.and_then(|start| text.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

fn find(text: &str, piece: &str) -> Option<usize> {
    text.char_indices()
        .map(|(at, _)| at)
        .chain([text.len()])
        .find(|at| text.get(*at..at + piece.len()).is_some_and(|part| part.eq_ignore_ascii_case(piece)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits() {
        for (pattern, fitting, others) in [
            ("", &[""][..], &["a"][..]),
            ("*", &["", "a", "é"], &[]),
            ("gpt-5", &["gpt-5", "GPT-5"], &["gpt-5.1", "xgpt-5"]),
            ("gpt-5*", &["gpt-5", "gpt-5.1"], &["gpt-", "a/gpt-5"]),
            ("*gpt-*-mini*", &["gpt-5-mini", "ft:gpt-4.1-mini:x", "gpt--mini"], &["gpt-mini", "gpt-5"]),
            ("a*a", &["aa", "aba"], &["a"]),
            ("*ab*b", &["abb", "ababb"], &["ab"]),
            ("**", &["", "x"], &[]),
            ("*é*", &["é", "aéb"], &["e"]),
        ] {
            let pattern = Pattern::new(pattern);
            for text in fitting {
                assert!(pattern.fits(text), "{pattern:?} {text}");
            }
            for text in others {
                assert!(!pattern.fits(text), "{pattern:?} {text}");
            }
        }
        assert!(Pattern::new("exceeds*maximum").found_in("image exceeds 5 MB maximum: 6 > 5"));
    }

    /// The same, tried at every place.
    fn fits_slowly(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|at| fits_slowly(rest, &text[at..])),
            Some((c, rest)) => text.first().is_some_and(|t| t.eq_ignore_ascii_case(c)) && fits_slowly(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn as_tried_at_every_place(pattern in "[ab*é]{0,6}", text in "[abBé]{0,8}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Pattern::new(&*pattern).fits(&text), fits_slowly(&chars(&pattern), &chars(&text)));
        }
    }
}
