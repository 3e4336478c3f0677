//! JSON that is in order by the grammar and that no value can hold all the same: one half of a surrogate pair, as
//! programs write that cut text in the middle of a character, and numbers that no double reaches.
//!
//! Such text is stored and sent as it is. Where it has to be understood, it is read as if the half were U+FFFD and the
//! number the largest power of ten. What stands in for either is just as long, so that positions stay what they are.

use std::borrow::Cow;

use serde_json::Value;

/// Reads a value from JSON text, also where a string holds half a surrogate pair or a number is beyond every double.
///
/// ```
/// use attache_conversation::read_value;
/// assert_eq!(read_value(r#"["a\ud83d", 1e400]"#)?, serde_json::json!(["a\u{fffd}", 1e308]));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The text is not JSON.
pub fn read_value(json: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&with_numbers_in_range(&with_whole_characters(json))))
}

/// The text with U+FFFD for every escape that is half a surrogate pair without the other half.
pub(crate) fn with_whole_characters(json: &str) -> Cow<'_, str> {
    let may_hold_a_half = |digit| memchr::memmem::find(json.as_bytes(), digit).is_some();
    if !may_hold_a_half(b"\\ud") && !may_hold_a_half(b"\\uD") {
        return Cow::Borrowed(json);
    }
    replaced(json, halves(json), |out, half| {
        debug_assert_eq!(half.len(), 6);
        out.push_str("\\ufffd");
    })
}

/// The text with `1e308` or `-1e308`, followed by white space, for every number that is farther from zero.
fn with_numbers_in_range(json: &str) -> Cow<'_, str> {
    replaced(json, numbers_out_of_range(json), |out, number| {
        let stand_in = if number.starts_with('-') { "-1e308" } else { "1e308" };
        out.push_str(stand_in);
        out.extend(std::iter::repeat_n(' ', number.len() - stand_in.len()));
    })
}

fn replaced<'a>(json: &'a str, parts: Vec<std::ops::Range<usize>>, push: impl Fn(&mut String, &str)) -> Cow<'a, str> {
    if parts.is_empty() {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut copied = 0;
    for part in parts {
        out.push_str(&json[copied..part.start]);
        push(&mut out, &json[part.clone()]);
        copied = part.end;
    }
    out.push_str(&json[copied..]);
    Cow::Owned(out)
}

fn halves(json: &str) -> Vec<std::ops::Range<usize>> {
    let mut halves = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += found;
        at += match (escaped_unit(json, at), escaped_unit(json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                halves.push(at..at + 6);
                6
            }
            _ => 2.min(json.len() - at),
        };
    }
    halves
}

/// The number in `\u` and four digits at this position, if that is what stands there.
fn escaped_unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.as_bytes().get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|_| digits.iter().all(u8::is_ascii_hexdigit))?;
    u16::from_str_radix(digits, 16).ok()
}

fn numbers_out_of_range(json: &str) -> Vec<std::ops::Range<usize>> {
    // A little below the largest double, so that no way of rounding makes a difference.
    const LIMIT: f64 = 1.7e308;

    let bytes = json.as_bytes();
    let mut numbers = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'"' => at = string_end(bytes, at),
            b'-' | b'0'..=b'9' => {
                at += bytes[at..].iter().take_while(|byte| is_in_number(**byte)).count();
                if json[begin..at].parse::<f64>().is_ok_and(|number| number.abs() > LIMIT) {
                    numbers.push(begin..at);
                }
            }
            _ => {}
        }
    }
    numbers
}

fn is_in_number(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

/// Where the string ends whose first character is at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += found + 1;
        if bytes[at - 1] == b'"' {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn halves_of_pairs_are_replaced_and_whole_pairs_are_not() {
        for (text, expected) in [
            (r#""a\ud83d\ude00b""#, json!("a\u{1f600}b")),
            (r#""\uD83D\uDE00""#, json!("\u{1f600}")),
            (r#""\ud83d""#, json!("\u{fffd}")),
            (r#""\uDE00x""#, json!("\u{fffd}x")),
            (r#""\ud83d\ud83d\ude00""#, json!("\u{fffd}\u{1f600}")),
            (r#""\ud83d\n\ude00""#, json!("\u{fffd}\n\u{fffd}")),
            (r#""\ud83dude00""#, json!("\u{fffd}ude00")),
            (r#""\\ud83d""#, json!("\\ud83d")),
            (r#""\\\ud83d""#, json!("\\\u{fffd}")),
            (r#"{"\udfff":"é\ud800é"}"#, json!({"\u{fffd}": "é\u{fffd}é"})),
        ] {
            assert_eq!(read_value(text).unwrap(), expected, "{text}");
            assert_eq!(with_whole_characters(text).len(), text.len(), "{text}");
        }
    }

    #[test]
    fn numbers_beyond_every_double_are_replaced_and_others_are_not() {
        let long = format!("{{\"n\":{}}}", "9".repeat(400));
        for (text, expected) in [
            ("1e400", json!(1e308)),
            ("[-1e400,-1E+309]", json!([-1e308, -1e308])),
            (r#"{"a":"1e400\"1e400","b":1e400,"c":1e-400}"#, json!({"a": "1e400\"1e400", "b": 1e308, "c": 0.0})),
            (&long, json!({"n": 1e308})),
        ] {
            assert_eq!(read_value(text).unwrap(), expected, "{text}");
            assert_eq!(with_numbers_in_range(text).len(), text.len(), "{text}");
        }
        for bad in ["", "1e", "[1e400", "\"\\ud80\"", "\"\\", "1e400\"", "\\ud800"] {
            assert!(read_value(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn all_that_is_json_can_be_read(text in r#"[\[\]{},:" ]{0,6}("(\\u[dD][89abcdefABCDEF][0-9a-f]{2}|\\\\|a){0,5}"|-?[1-9]{1,2}[eE][0-9]{1,4}|,|\[|\]){0,6}"#) {
            let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            prop_assert_eq!(read_value(&text).is_ok(), is_json);
        }

        #[test]
        fn arbitrary_text_never_panics(text in "[\\\\udD89a\"e0-9é-]{0,60}") {
            let _ = read_value(&text);
            prop_assert_eq!(with_whole_characters(&text).len(), text.len());
            prop_assert_eq!(with_numbers_in_range(&text).len(), text.len());
        }
    }
}
