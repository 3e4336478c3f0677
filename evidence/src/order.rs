//! Natural order of file names: stretches of digits count as numbers.

use std::cmp::Ordering;

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_properties::props::GeneralCategory;
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};

const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();
const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();

/// Where a file name stands among others.
///
/// Names are compared piece by piece: a stretch of decimal digits of any script by its value, the text between without regard to
/// case (ß counts as ss). A name has text at both ends, if need be an empty one, so that names which begin with a digit come first.
/// Names that are equal so far are compared as a whole without regard to case, then as they are. No two names are equal, and
/// nothing is normalised.
///
/// ```
/// use attache_evidence::OrderKey;
/// let mut names = ["slide10.png", "Slide2.png", "slide1.png", "3.png"];
/// names.sort_by_key(|name| OrderKey::of(name));
/// assert_eq!(names, ["3.png", "slide1.png", "Slide2.png", "slide10.png"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    pieces: Vec<Piece>,
    folded: String,
    name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    Number(Number),
    Text(String),
}

/// A number of any size: its decimal digits without leading zeros, of which more mean a larger one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Number {
    len: usize,
    digits: Vec<u8>,
}

impl OrderKey {
    /// The key of a file name, extension included.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self { pieces: pieces(name), folded: fold(name), name: name.to_owned() }
    }
}

/// Compares two file names by their [`OrderKey`]s.
#[must_use]
pub fn natural_cmp(a: &str, b: &str) -> Ordering {
    OrderKey::of(a).cmp(&OrderKey::of(b))
}

fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { CASES.fold_string(text).into_owned() }
}

fn pieces(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = name;
    loop {
        let text = rest.find(is_digit).unwrap_or(rest.len());
        pieces.push(Piece::Text(fold(&rest[..text])));
        rest = &rest[text..];
        if rest.is_empty() {
            return pieces;
        }
        let digits = rest.find(|c| !is_digit(c)).unwrap_or(rest.len());
        let digits_alone = rest[..digits].chars().map(digit_value).skip_while(|digit| *digit == 0).collect::<Vec<_>>();
        pieces.push(Piece::Number(Number { len: digits_alone.len(), digits: digits_alone }));
        rest = &rest[digits..];
    }
}

/// A decimal digit of any script. What merely looks like one, as a superscript, is text.
fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { CATEGORIES.get(c) == GeneralCategory::DecimalNumber }
}

/// In Unicode the decimal digits of a script stand side by side, zero first.
fn digit_value(digit: char) -> u8 {
    let before = (0..u32::from(digit)).rev();
    let run = before.take_while(|code| char::from_u32(*code).is_some_and(is_digit)).count();
    u8::try_from(run % 10).expect("a remainder of ten is small")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted<'a>(names: &[&'a str]) -> Vec<&'a str> {
        let mut names = names.to_vec();
        names.sort_by_key(|name| OrderKey::of(name));
        names
    }

    #[test]
    fn the_reference_order() {
        let order = [
            "2",
            "3",
            "\u{663}",
            "10",
            " x",
            ".hidden",
            "_x",
            "a1",
            "a1b2",
            "a1b10",
            "a",
            "B",
            "b",
            "e\u{301}",
            "slide1.5",
            "slide1.10",
            "slide001",
            "slide01",
            "SLIDE1.PNG",
            "Slide1",
            "slide1",
            "slide2",
            "slide10",
            "slide-1",
            "slide",
            "ss",
            "ß",
            "z9.jpeg",
            "z9.jpg",
            "z9.png",
            "z9.webp",
            "é",
        ];
        let names: Vec<String> = order
            .iter()
            .map(|name| {
                if name.contains('.') && !name.starts_with("slide1.") && !name.starts_with('.') {
                    (*name).to_owned()
                } else {
                    format!("{name}.png")
                }
            })
            .collect();
        let expected: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut shuffled = expected.clone();
        shuffled.reverse();
        shuffled.rotate_left(7);
        assert_eq!(sorted(&shuffled), expected);
    }

    #[test]
    fn ties_are_broken_by_the_folded_name_then_by_the_name() {
        let order = ["slide001.png", "slide01.png", "SLIDE1.PNG", "Slide1.png", "slide1.png"];
        let mut shuffled = order;
        shuffled.reverse();
        assert_eq!(sorted(&shuffled), order);
    }

    #[test]
    fn digits_of_every_script_have_their_value_and_superscripts_none() {
        for (digit, value) in [
            ('0', 0),
            ('9', 9),
            ('\u{660}', 0),
            ('\u{669}', 9),
            ('\u{967}', 1),
            ('\u{ff15}', 5),
            ('\u{1d7ce}', 0),
            ('\u{1d7d8}', 0),
            ('\u{1d7ff}', 9),
        ] {
            assert!(is_digit(digit), "{digit}");
            assert_eq!(digit_value(digit), value, "{digit}");
        }
        for other in ['²', '½', '①', 'Ⅷ', '一', 'x'] {
            assert!(!is_digit(other), "{other}");
        }
        assert_eq!(sorted(&["1²10.png", "1²2.png", "2.png", "1.png"]), ["1.png", "1²2.png", "1²10.png", "2.png"]);
    }

    #[test]
    fn numbers_have_any_size() {
        let (small, large) = (format!("{}.png", "9".repeat(200)), format!("1{}.png", "0".repeat(200)));
        assert_eq!(natural_cmp(&small, &large), Ordering::Less);
        assert_eq!(natural_cmp("0000.png", "0.png"), Ordering::Greater);
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in "[a-cA-Cß²٣0-2.]{0,6}", b in "[a-cA-Cß²٣0-2.]{0,6}", c in "[a-cA-Cß²٣0-2.]{0,6}") {
            prop_assert_eq!(natural_cmp(&a, &b) == Ordering::Equal, a == b);
            prop_assert_eq!(natural_cmp(&a, &b), natural_cmp(&b, &a).reverse());
            if natural_cmp(&a, &b).is_le() && natural_cmp(&b, &c).is_le() {
                prop_assert!(natural_cmp(&a, &c).is_le());
            }
        }

        #[test]
        fn any_name_has_a_key(name in any::<String>()) {
            prop_assert_eq!(natural_cmp(&name, &name), Ordering::Equal);
        }
    }
}
