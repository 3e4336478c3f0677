use proptest::prelude::*;
use serde::de::IgnoredAny;

use super::*;

/// Do the walk and `serde_json` agree on a text?
fn agree(text: &str) -> Result<(), TestCaseError> {
    let parsed = serde_json::from_str::<IgnoredAny>(text);
    match check(text) {
        Err(Fault::TooDeep) => {}
        found => prop_assert_eq!(found.is_ok(), parsed.is_ok(), "{:?}: {:?}", text, parsed),
    }
    Ok(())
}

#[test]
fn what_is_json_and_what_is_not() {
    for (text, is_json) in [
        ("0", true),
        ("-0.5e+10", true),
        ("1E5", true),
        ("01", false),
        ("1.", false),
        (".5", false),
        ("-", false),
        ("+1", false),
        ("1e", false),
        ("true", true),
        ("tru", false),
        ("nullx", false),
        (" \t\r\n{ } \n", true),
        ("\u{a0}{}", false),
        ("\u{c}1", false),
        ("[1,]", false),
        ("[,1]", false),
        ("[1 2]", false),
        (r#"{"a":1,}"#, false),
        (r#"{"a" :1, "b":[{}]}"#, true),
        (r#"{"a":}"#, false),
        (r#"{a:1}"#, false),
        (r#""\u00e9\ud800""#, true),
        (r#""\u00G0""#, false),
        (r#""\u00""#, false),
        (r#""\x""#, false),
        ("\"\\", false),
        ("\"a\tb\"", false),
        ("\"\u{7f}é\u{1f389}\"", true),
        ("\"", false),
        ("", false),
        ("{} {}", false),
        ("[}", false),
    ] {
        assert_eq!(check(text).is_ok(), is_json, "{text:?}");
        agree(text).unwrap();
    }
}

#[test]
fn strings_end_where_they_end_wherever_the_blocks_do() {
    for before in 0..2 * BLOCK {
        for len in 0..2 * BLOCK {
            let text = format!("[{}\"{}\\\"é\",\"\"]", " ".repeat(before), "x".repeat(len));
            let mut found = Vec::new();
            elements(&text, |element| found.push(element.len())).unwrap();
            assert_eq!(found, [len + 6, 2]);
            for end in (1..text.len()).filter(|end| text.is_char_boundary(*end)) {
                assert_eq!(check(&text[..end]), Err(Fault::NotJson), "{text:?} cut at {end}");
            }
        }
    }
}

#[test]
fn members_and_elements_are_given_as_they_stand() {
    let mut found = Vec::new();
    members(r#" { "a" : [1, {"b":2}] ,"\u0061": "x\"y" ,"a":-1.5e3} "#, |key, value| found.push((key, value))).unwrap();
    assert_eq!(found, [(r#""a""#, r#"[1, {"b":2}]"#), (r#""\u0061""#, r#""x\"y""#), (r#""a""#, "-1.5e3")]);
    assert_eq!(members("[]", |_, _| {}), Err(Fault::NotJson));
    assert_eq!(elements("{}", |_| {}), Err(Fault::NotJson));
}

#[test]
fn a_block_stops_at_quotes_backslashes_and_control_characters_alone() {
    for byte in 0..=u8::MAX {
        for at in 0..BLOCK {
            let mut block = [b'x'; BLOCK];
            block[at] = byte;
            let stops_here = byte < 32 || byte == b'"' || byte == b'\\';
            let marks = Marks::of(&block);
            assert_eq!(marks.stops, u64::from(stops_here) << at, "{byte} at {at}");
            assert_eq!(marks.backslashes, u64::from(byte == b'\\') << at, "{byte} at {at}");
        }
    }
    assert_eq!(Marks::of(&[b'"'; BLOCK]).stops, u64::MAX);
    // The end of the text stops too.
    assert_eq!(Marks::of(b"abc").stops, u64::MAX << 3);
}

proptest! {
    #[test]
    fn every_other_backslash_of_a_run_escapes(backslashes in any::<u64>(), more in any::<u64>(), carried in 0u64..2) {
        // Both thin and thick runs.
        for backslashes in [backslashes, backslashes | more, backslashes & more, u64::MAX, backslashes | 0xff00_0000_0000_00ff] {
            let (mut expected, mut escaped) = (0u64, carried == 1);
            for at in 0..64 {
                let escapes = !escaped && backslashes >> at & 1 == 1;
                expected |= u64::from(escapes) << at;
                escaped = escapes;
            }
            prop_assert_eq!(escaping(backslashes, carried), expected);
        }
    }
}

#[test]
fn the_word_image_is_noticed_where_it_is_a_string_of_its_own() {
    for (text, noticed) in [
        (r#"{"type":"image"}"#, true),
        (r#"{"a":[{"image":1}]}"#, true),
        (r#"{"type":"\u0069mage"}"#, true),
        (r#"{"type":"i\u006Dage"}"#, true),
        (r#"{"type":"images"}"#, false),
        (r#"{"type":"an image"}"#, false),
        (r#"{"type":"\u00e9"}"#, false),
        (r#"{"type":"\\u0069"}"#, false),
    ] {
        assert_eq!(members(text, |_, _| {}), Ok(noticed), "{text}");
    }
}

proptest! {
    #[test]
    fn it_agrees_with_the_parser(text in r#"[\[\]{}":,0-9a-fn\\uletrs+\-.E \n]{0,40}"#) {
        agree(&text)?;
    }

    #[test]
    fn it_agrees_with_the_parser_on_damaged_json(
        parts in prop::collection::vec(
            prop_oneof![
                Just(r#"{"role":"user","content":["#.to_owned()),
                Just(r#"{"type":"text","text":""#.to_owned()),
                Just("\"}".to_owned()),
                Just("]}".to_owned()),
                Just("\\\"".to_owned()),
                Just(",".to_owned()),
                Just("12.5e3".to_owned()),
                any::<String>(),
                ".{0,90}".prop_map(|text| serde_json::to_string(&text).unwrap()),
            ],
            0..12,
        ),
    ) {
        agree(&parts.concat())?;
    }

    #[test]
    fn it_agrees_with_the_parser_on_json_that_lost_or_changed_a_byte(
        strings in prop::collection::vec(any::<String>(), 0..6), at: prop::sample::Index, put in prop::option::of(0u8..128),
    ) {
        let text = serde_json::json!({"a": strings, "b": [{"c": null, "d": -12.5e-3}, true, []]}).to_string();
        agree(&text)?;
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        match put {
            Some(byte) => bytes[at] = byte,
            None => drop(bytes.remove(at)),
        }
        if let Ok(text) = String::from_utf8(bytes) {
            agree(&text)?;
        }
    }
}
