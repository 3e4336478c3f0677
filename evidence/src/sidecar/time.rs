//! When something was captured: RFC 3339 with a zone.

use jiff::civil::{Date, Time};

/// The longest time that is read, in characters.
const MAX_CHARS: usize = 40;

/// Whether the text is `2026-09-10T12:34:56.123Z`: with `T` or a space, one to nine digits of a fraction or none, and `Z` or an offset
/// such as `-05:00`; of a day that exists, without leap seconds.
pub(super) fn is_time(text: &str) -> bool {
    text.chars().count() <= MAX_CHARS && read(text.as_bytes()).is_some()
}

fn read(text: &[u8]) -> Option<()> {
    let (stamp, rest) = text.split_first_chunk::<19>()?;
    let shape: Vec<u8> = stamp.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte }).collect();
    if !matches!(&shape[..], b"0000-00-00T00:00:00" | b"0000-00-00 00:00:00") {
        return None;
    }
    let year = i16::try_from(number(&stamp[..4])).ok().filter(|year| *year > 0)?;
    let part = |at: usize| i8::try_from(number(&stamp[at..at + 2])).ok();
    Date::new(year, part(5)?, part(8)?).ok()?;
    Time::new(part(11)?, part(14)?, part(17)?, 0).ok()?;
    zone(without_fraction(rest)?)
}

fn without_fraction(rest: &[u8]) -> Option<&[u8]> {
    let Some(fraction) = rest.strip_prefix(b".") else { return Some(rest) };
    let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..=9).contains(&digits).then(|| &fraction[digits..])
}

fn zone(text: &[u8]) -> Option<()> {
    match text {
        b"Z" => Some(()),
        [b'+' | b'-', hours @ .., b':', m1, m2]
            if hours.len() == 2 && hours.iter().chain([m1, m2]).all(u8::is_ascii_digit) =>
        {
            (number(hours) < 24 && number(&[*m1, *m2]) < 60).then_some(())
        }
        _ => None,
    }
}

/// The value of a few ASCII digits.
fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_what_is_none() {
        for good in [
            "2026-09-10T12:34:56Z",
            "2026-09-10 12:34:56+00:00",
            "2026-09-10T12:34:56.1Z",
            "2026-09-10T12:34:56.123456789-05:00",
            "2024-02-29T23:59:59+23:59",
            "0001-01-01T00:00:00Z",
        ] {
            assert!(is_time(good), "{good}");
        }
        for bad in [
            "",
            "yesterday",
            "2026-09-10",
            "2026-09-10T00:00:00",
            "2026-09-10T12:34:56z",
            "2026-09-10t12:34:56Z",
            "2026-09-10T12:34:60Z",
            "2026-02-30T12:34:56Z",
            "2025-02-29T12:34:56Z",
            "2026-13-01T12:34:56Z",
            "2026-00-01T12:34:56Z",
            "2026-09-00T12:34:56Z",
            "2026-09-10T24:00:00Z",
            "2026-09-10T12:60:00Z",
            "2026-09-10T12:34:56+24:00",
            "2026-09-10T12:34:56+00:60",
            "2026-09-10T12:34:56+0000",
            "2026-09-10T12:34:56+00",
            "2026-09-10T12:34:56.Z",
            "2026-09-10T12:34:56.1234567890Z",
            "2026-09-10T12:34:56,5Z",
            "2026-09-10T12:34:56 Z",
            "2026-09-10T12:34:56+00:00:30",
            "20260910T123456Z",
            "2026-W37-4T12:34:56Z",
            "2026-09-10T12Z",
            "2026-09-10T12:34Z",
            "2026-09-10é12:34:56Z",
            "2026-09-10_12:34:56Z",
            " 2026-09-10T12:34:56Z",
            "2026-09-10T12:34:56Z ",
            "2026-09-10T12:34:56Z\n",
            "+2026-09-10T12:34:56Z",
            "0000-01-01T00:00:00Z",
            "２026-09-10T12:34:56Z",
            "2026-09-10T12:34:56Z0000000000000000000000",
        ] {
            assert!(!is_time(bad), "{bad}");
        }
    }
}
