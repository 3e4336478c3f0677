//! Names made safe to show: a file name is chosen by a tool, and may try to look like something else.

use std::fmt::{self, Write as _};

use unicode_normalization::char::is_combining_mark;

/// The longest shown name, in characters of the name.
const MAX_SHOWN: usize = 256;

/// Shows a name between `'` marks, with everything escaped that could break a line, reorder it, or hide in it.
///
/// Spaces other than the plain one and combining marks are escaped as well, because names are shown
/// where they must be told apart.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('\'')?;
        for (shown, c) in self.0.chars().enumerate() {
            if shown == MAX_SHOWN {
                f.write_char('…')?;
                break;
            }
            if needs_escape(c) {
                write!(f, "{}", c.escape_unicode())?;
            } else {
                f.write_char(c)?;
            }
        }
        f.write_char('\'')
    }
}

/// `text` with everything escaped that could break or reorder the line it is shown in; `None` if there is nothing of the kind.
///
/// Milder than [`Quoted`]: what is shown is typed again, and a name may well hold an odd space or an accent.
pub(crate) fn plain(text: &str) -> Option<String> {
    let tricks = |c: char| c.is_control() || is_reordering(c);
    text.contains(tricks).then(|| {
        text.chars().fold(String::with_capacity(text.len() + 8), |mut shown, c| {
            if tricks(c) {
                shown.extend(c.escape_unicode());
            } else {
                shown.push(c);
            }
            shown
        })
    })
}

/// Line and paragraph separators, and the characters that change the order of what is printed around them.
fn is_reordering(c: char) -> bool {
    matches!(c, '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{061C}' | '\u{200E}'..='\u{200F}')
}

fn needs_escape(c: char) -> bool {
    c == '\'' || c.is_control() || (c != ' ' && c.is_whitespace()) || is_combining_mark(c) || is_invisible(c)
}

/// Characters that print nothing, or that change the order of what is printed around them.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{115F}'..='\u{1160}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
        | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E0FFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_tricks() {
        for (name, shown) in [
            ("a.png", "'a.png'"),
            ("日本語 ü.png", "'日本語 ü.png'"),
            (r"C:\x.png", r"'C:\x.png'"),
            ("a\nb", r"'a\u{a}b'"),
            ("it's", r"'it\u{27}s'"),
            ("x\u{202e}gnp.exe", r"'x\u{202e}gnp.exe'"),
            ("4\u{202f}PM", r"'4\u{202f}PM'"),
            ("e\u{301}", r"'e\u{301}'"),
            ("\u{2028}\u{1b}[0m\u{feff}", r"'\u{2028}\u{1b}[0m\u{feff}'"),
        ] {
            assert_eq!(Quoted(name).to_string(), shown);
        }
    }

    #[test]
    fn plain_text_stays_and_tricks_do_not() {
        for same in ["a.png", "it's \"so\"", "4\u{202f}PM", "e\u{301}", "日本語/\u{200d}"] {
            assert_eq!(plain(same), None);
        }
        for (text, shown) in
            [("a\nb", r"a\u{a}b"), ("\u{202e}x\u{2028}", r"\u{202e}x\u{2028}"), ("\u{7f}\0", r"\u{7f}\u{0}")]
        {
            assert_eq!(plain(text).as_deref(), Some(shown));
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        let exact = "x".repeat(256);
        assert_eq!(Quoted(&exact).to_string(), format!("'{exact}'"));
        assert_eq!(Quoted(&"x".repeat(257)).to_string(), format!("'{exact}…'"));
    }
}
