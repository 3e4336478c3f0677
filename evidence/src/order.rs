//! Natural order of names: stretches of digits count as numbers.

use std::cmp::Ordering;

/// Compares two file names by (pieces, folded name, name).
pub(crate) fn natural_cmp(a: &str, b: &str) -> Ordering {
    let key = |name: &str| (pieces(name), name.to_lowercase(), name.to_owned());
    key(a).cmp(&key(b))
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Piece {
    /// A number without leading zeros: longer is larger.
    Number(usize, String),
    Text(String),
}

fn pieces(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = name;
    loop {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        pieces.push(Piece::Text(rest[..text].to_lowercase()));
        rest = &rest[text..];
        if rest.is_empty() {
            return pieces;
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..digits].trim_start_matches('0');
        pieces.push(Piece::Number(number.len(), number.to_owned()));
        rest = &rest[digits..];
    }
}
