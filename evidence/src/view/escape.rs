//! Texts from outside as HTML: nothing in them is markup, and nothing in them is hidden.

use icu_properties::props::GeneralCategory;
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};

const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();

/// A text from outside as HTML for the inside of an element. What would not be seen, or would turn the text around it, line ends included,
/// stands there by its number, in a `span` of the class `hidden`.
///
/// ```
/// assert_eq!(attache_evidence::html_text("a<b\0"), "a&lt;b<span class=\"hidden\">U+0000</span>");
/// ```
#[must_use]
pub fn html_text(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c if is_hidden(c) => html.push_str(&format!("<span class=\"hidden\">U+{:04X}</span>", u32::from(c))),
            c => html.push(c),
        }
    }
    html
}

/// Controls, formats such as a change of direction, spaces that are not the usual one, and what has no agreed appearance.
fn is_hidden(c: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate, Unassigned,
    };
    let category = CATEGORIES.get(c);
    let is_blank =
        matches!(c, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' | '\u{fe00}'..='\u{fe0f}')
            || matches!(c, '\u{34f}' | '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{e0100}'..='\u{e01ef}');
    c != ' '
        && (is_blank
            || matches!(
                category,
                Control
                    | Format
                    | LineSeparator
                    | ParagraphSeparator
                    | PrivateUse
                    | SpaceSeparator
                    | Surrogate
                    | Unassigned
            ))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn nothing_is_markup_and_nothing_is_hidden() {
        let hidden = |number: &str| format!("<span class=\"hidden\">U+{number}</span>");
        for (given, expect) in [
            ("slide 1.png", "slide 1.png".to_owned()),
            ("é שלום 日本 😀.png", "é שלום 日本 😀.png".to_owned()),
            ("<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;".to_owned()),
            ("\"><img src=x>", "&quot;&gt;&lt;img src=x&gt;".to_owned()),
            ("&lt;", "&amp;lt;".to_owned()),
            ("a\u{202e}gnp", format!("a{}gnp", hidden("202E"))),
            (
                "a\nb\0\x1b\x7f\u{85}",
                ["a", &hidden("000A"), "b", &hidden("0000"), &hidden("001B"), &hidden("007F"), &hidden("0085")]
                    .concat(),
            ),
            ("\u{200b}\u{2069}\u{feff}\u{ad}", ["200B", "2069", "FEFF", "00AD"].map(hidden).concat()),
            ("\u{a0}\u{3000}\u{2028}\u{e000}\u{e0041}", ["00A0", "3000", "2028", "E000", "E0041"].map(hidden).concat()),
            ("\u{3164}\u{fe0f}", ["3164", "FE0F"].map(hidden).concat()),
        ] {
            assert_eq!(html_text(given), expect, "{given:?}");
        }
    }

    proptest! {
        #[test]
        fn no_character_begins_markup(given in any::<String>()) {
            let html = html_text(&given);
            let bare = html.replace("<span class=\"hidden\">", "").replace("</span>", "");
            prop_assert!(!bare.contains(['<', '>', '"', '\'']));
            prop_assert!(!html.chars().any(is_hidden));
            let back = bare.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'").replace("&amp;", "&");
            let visible: String = given.chars().map(|c| if is_hidden(c) { format!("U+{:04X}", u32::from(c)) } else { c.to_string() }).collect();
            prop_assert_eq!(back, visible);
        }
    }
}
