use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde::Deserialize;

use super::*;

const H: &str = "79ac2d491190424592ecbab4e3d81193011fccbe113274d15a42e57e16f72667";

/// Sidecars of one image, with what they are.
#[derive(Deserialize)]
struct Cases {
    image: CasesImage,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct CasesImage {
    width: u32,
    height: u32,
    sha256: String,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    sidecar_b64: String,
    ok: bool,
    message: Option<String>,
}

fn measured() -> Measured {
    Measured { sha256: H.to_owned(), width: 100, height: 50 }
}

fn base() -> Value {
    json!({
        "version": 1, "image_sha256": H, "producer": {"name": "synthetic", "version": "1.0"}, "observed_at": null,
        "source_url": null, "final_url": null, "viewport": {"width": 100, "height": 50},
        "pixels": {"width": 100, "height": 50}, "scale": 1, "mode": "viewport", "region": null,
        "readiness_warnings": [], "content_trust": "untrusted", "derived_from": null,
    })
}

/// The base with some fields replaced, each given as JSON text.
fn with(fields: &[(&str, &str)]) -> String {
    let mut text = base().to_string();
    let sidecar = base();
    for (key, value) in fields {
        let old = format!("\"{key}\":{}", sidecar[key]);
        assert!(text.contains(&old), "{key}");
        text = text.replacen(&old, &format!("\"{key}\":{value}"), 1);
    }
    text
}

fn outcome(text: &str) -> Result<Claims, SidecarError> {
    validate(text.as_bytes(), &measured())
}

#[test]
fn the_shipped_cases_have_their_answers() {
    let cases: Cases = serde_json::from_str(include_str!("../../tests/data/sidecar_cases.json")).unwrap();
    let measured = Measured { sha256: cases.image.sha256, width: cases.image.width, height: cases.image.height };
    assert_eq!(cases.cases.len(), 137);
    for case in cases.cases {
        let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, &case.sidecar_b64).unwrap();
        let outcome = validate(&bytes, &measured);
        assert_eq!(outcome.is_ok(), case.ok, "{}: {outcome:?}", case.name);
        assert_eq!(outcome.err().map(|error| error.to_string()), case.message, "{}", case.name);
    }
}

#[test]
fn what_each_field_may_say() {
    let (page, crop_parent) =
        (("mode", "\"full_page\""), r#"{"sha256":"H","pixels":{"width":200,"height":100}}"#.replace('H', H));
    let region = r#"{"x":0,"y":0,"width":100,"height":50}"#;
    let crop = |x: &str, y: &str| r#"{"x":X,"y":Y,"width":100,"height":50}"#.replace('X', x).replace('Y', y);
    let name = |name: &str| format!(r#"{{"name":{name},"version":"1.0"}}"#);
    let long_name = |len: usize| name(&format!("\"{}\"", "a".repeat(len)));
    let sound: Vec<Vec<(&str, String)>> = vec![
        vec![],
        vec![("viewport", "null".into()), (page.0, page.1.into())],
        vec![("viewport", r#"{"width":1000000,"height":1}"#.into()), (page.0, page.1.into())],
        vec![("viewport", r#"{"width":101,"height":50}"#.into())],
        vec![("viewport", r#"{"width":50,"height":25}"#.into()), ("scale", "2".into())],
        vec![("viewport", r#"{"width":67,"height":33}"#.into()), ("scale", "1.5".into())],
        vec![("scale", "16".into()), (page.0, page.1.into())],
        vec![("scale", "16.0".into()), (page.0, page.1.into())],
        vec![("scale", "1e-320".into()), (page.0, page.1.into())],
        vec![("scale", "1.6E+1".into()), (page.0, page.1.into())],
        vec![("producer", name("\"..\""))],
        vec![("producer", name("\"-\""))],
        vec![("producer", long_name(64))],
        vec![("producer", r#"{"version":"1.0","name":"a_B.9-"}"#.into())],
        vec![("observed_at", "\"2026-09-10 12:34:56+00:00\"".into())],
        vec![("final_url", "\"https://user:pw@example.com/x\"".into())],
        vec![("readiness_warnings", r#"["occluded","occluded","timeout"]"#.into())],
        vec![("mode", "\"unknown\"".into()), ("region", region.into())],
        vec![("mode", "\"region\"".into()), ("region", crop("1000000", "1000000"))],
        vec![("mode", "\"region\"".into()), ("region", crop("-0", "0"))],
        vec![("mode", "\"crop\"".into()), ("region", crop("100", "50")), ("derived_from", crop_parent.clone())],
        vec![
            ("mode", "\"crop\"".into()),
            ("region", crop("0", "0")),
            ("derived_from", crop_parent.replace("200", "100").replace(":100}", ":50}")),
        ],
    ];
    for fields in sound {
        let fields: Vec<_> = fields.iter().map(|(key, value)| (*key, &**value)).collect();
        assert_eq!(outcome(&with(&fields)).err(), None, "{fields:?}");
    }

    use SidecarError::{Dimensions, Hash, Invalid, Version};
    let unsound: Vec<(Vec<(&str, String)>, SidecarError)> = vec![
        (vec![("version", "1.0".into())], Version),
        (vec![("version", "true".into())], Version),
        (vec![("version", "null".into())], Version),
        (vec![("version", "2".into()), ("content_trust", "null".into())], Version),
        (vec![("content_trust", "\"Untrusted\"".into()), ("image_sha256", format!("\"{}\"", "0".repeat(64)))], Invalid),
        (vec![("image_sha256", format!("\"{}\"", "0".repeat(64)))], Hash),
        (vec![("image_sha256", format!("\"{}\"", H.to_uppercase()))], Invalid),
        (vec![("image_sha256", format!("\"{H}\\n\""))], Invalid),
        (vec![("image_sha256", format!("\"{}\"", &H[1..]))], Invalid),
        (vec![("image_sha256", format!("\"{}\"", "0".repeat(64))), ("pixels", "null".into())], Hash),
        (vec![("pixels", r#"{"width":100,"height":51}"#.into())], Dimensions),
        (vec![("pixels", r#"{"width":101,"height":50}"#.into()), ("scale", "0".into())], Dimensions),
        (vec![("pixels", r#"{"width":100.0,"height":50}"#.into())], Invalid),
        (vec![("pixels", r#"{"width":1e2,"height":50}"#.into())], Invalid),
        (vec![("pixels", r#"{"width":"100","height":50}"#.into())], Invalid),
        (vec![("pixels", r#"{"width":true,"height":50}"#.into())], Invalid),
        (vec![("pixels", r#"{"width":0,"height":50}"#.into())], Invalid),
        (vec![("pixels", r#"{"width":1000001,"height":50}"#.into())], Invalid),
        (vec![("pixels", r#"{"width":100,"height":50,"width":100}"#.into())], Invalid),
        (vec![("viewport", "null".into())], Invalid),
        (vec![("viewport", r#"{"width":102,"height":50}"#.into())], Invalid),
        (vec![("viewport", r#"{"width":1000001,"height":50}"#.into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "0".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "17".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "true".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "null".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "1e400".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "-1e400".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "1e400".into()), ("version", "2".into())], Version),
        (vec![("version", "1e400".into())], Version),
        (vec![("viewport", "1e400".into()), (page.0, page.1.into())], Invalid),
        (vec![("mode", "\"region\"".into()), ("region", crop("-0.0", "0"))], Invalid),
        (vec![("scale", "NaN".into()), (page.0, page.1.into())], Invalid),
        (vec![("scale", "1".repeat(5_000)), (page.0, page.1.into())], Invalid),
        (vec![("producer", long_name(65))], Invalid),
        (vec![("producer", name("\"\""))], Invalid),
        (vec![("producer", name("\"é\""))], Invalid),
        (vec![("producer", name("\"a\\n\""))], Invalid),
        (vec![("producer", name("1"))], Invalid),
        (vec![("producer", r#"{"name":"a","version":"1","more":"x"}"#.into())], Invalid),
        (vec![("producer", r#"{"name":"a","name":"a","version":"1"}"#.into())], Invalid),
        (vec![("observed_at", "1".into())], Invalid),
        (vec![("source_url", "\"\"".into())], Invalid),
        (vec![("final_url", "\"file:///etc\"".into())], Invalid),
        (vec![("readiness_warnings", "[null]".into())], Invalid),
        (vec![("mode", "\"unknown\"".into()), ("region", region.replace("50", "49"))], Invalid),
        (vec![("mode", "\"region\"".into())], Invalid),
        (vec![("mode", "\"region\"".into()), ("region", crop("-1", "0"))], Invalid),
        (vec![("mode", "\"region\"".into()), ("region", crop("0.0", "0"))], Invalid),
        (vec![("mode", "\"region\"".into()), ("region", crop("1000001", "0"))], Invalid),
        (vec![("mode", "\"region\"".into()), ("region", region.replace("}", ",\"z\":0}"))], Invalid),
        (
            vec![("mode", "\"region\"".into()), ("region", region.into()), ("derived_from", crop_parent.clone())],
            Invalid,
        ),
        (vec![("region", region.into())], Invalid),
        (vec![("mode", "\"crop\"".into()), ("region", region.into())], Invalid),
        (vec![("mode", "\"crop\"".into()), ("derived_from", crop_parent.clone())], Invalid),
        (
            vec![("mode", "\"crop\"".into()), ("region", crop("101", "50")), ("derived_from", crop_parent.clone())],
            Invalid,
        ),
        (
            vec![("mode", "\"crop\"".into()), ("region", crop("100", "51")), ("derived_from", crop_parent.clone())],
            Invalid,
        ),
        (
            vec![("mode", "\"crop\"".into()), ("region", region.into()), ("derived_from", r#"{"path":"x"}"#.into())],
            Invalid,
        ),
    ];
    for (fields, error) in unsound {
        let fields: Vec<_> = fields.iter().map(|(key, value)| (*key, &**value)).collect();
        assert_eq!(outcome(&with(&fields)).err(), Some(error), "{fields:?}");
    }
}

#[test]
fn what_is_no_json_without_equal_keys() {
    let base = base().to_string();
    let repeated = |key: &str| format!("{},{key}:1}}", &base[..base.len() - 1]);
    let nested = format!("{}{}", "[".repeat(8_000), "]".repeat(8_000));
    for text in [
        "",
        "{",
        "[]",
        "null",
        "\"s\"",
        &format!("{base}x"),
        &format!("{base}{base}"),
        &format!("{base}\0"),
        &format!("\u{feff}{base}"),
        &base.replace("null}", "null,}"),
        &repeated("\"scale\""),
        &repeated("\"sc\\u0061le\""),
        &repeated("\"image_path\""),
        &nested,
        &base.replace("\"synthetic\"", "\"\\ud800\""),
        &base.replace("\"region\":null,", ""),
    ] {
        assert_eq!(outcome(text), Err(SidecarError::Invalid), "{text}");
    }
    let utf16: Vec<u8> = base.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let latin =
        base.replace("synthetic", "X").into_bytes().into_iter().map(|byte| if byte == b'X' { 0xe9 } else { byte });
    for bytes in [utf16, latin.collect(), vec![0xff]] {
        assert_eq!(validate(&bytes, &measured()), Err(SidecarError::Invalid));
    }
    assert!(outcome(&format!(" \t\r\n{base}  \n")).is_ok());
    let padded = format!("{base}{}", " ".repeat(SIDECAR_MAX_BYTES - base.len()));
    assert!(outcome(&padded).is_ok());
    assert_eq!(outcome(&format!("{padded} ")), Err(SidecarError::TooLarge));
}

#[test]
fn claims_are_kept_as_written_but_for_the_addresses() {
    let text = with(&[
        ("scale", "1.0"),
        ("observed_at", "\"2026-09-10 12:34:56.10Z\""),
        ("source_url", "\"https://user:secret@Example.com:443/p?t=secret#f\""),
    ]);
    let claims = serde_json::to_string(&outcome(&text).unwrap()).unwrap();
    assert_eq!(claims, text.replace("https://user:secret@Example.com:443/p?t=secret#f", "https://example.com:443"));
    for scale in ["0.9279827963953089", "1.1999999284744263", "1e-320", "16.0", "2"] {
        let text = with(&[("scale", scale), ("mode", "\"full_page\"")]);
        assert_eq!(serde_json::to_string(&outcome(&text).unwrap()).unwrap(), text);
    }
    let provenance = serde_json::to_value(Provenance::validated(&measured(), outcome(&text).unwrap())).unwrap();
    assert_eq!(provenance["importer_verified"], json!({"sha256": H, "pixel_width": 100, "pixel_height": 50}));
    assert_eq!(provenance["status"], "validated_claims");
    let missing = serde_json::to_value(Provenance::missing(&measured())).unwrap();
    assert_eq!((&missing["status"], &missing["producer_claims"]), (&json!("missing"), &Value::Null));
}

/// A sidecar that was sound before something happened to it.
fn mangled() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(String::new()),
        "[ -~]{0,4}",
        any::<String>(),
        Just("\"version\":1,".to_owned()),
        Just("1e999".to_owned()),
        Just("{\"width\":1,\"width\":1}".to_owned()),
        Just("https://a\\b".to_owned()),
        Just("\\ud83d".to_owned()),
    ];
    (0usize..420, 0usize..40, piece, any::<bool>()).prop_map(|(at, len, piece, crop)| {
        let mut bytes = if crop { with(&[("mode", "\"crop\"")]) } else { base().to_string() }.into_bytes();
        let at = at.min(bytes.len());
        let end = (at + len).min(bytes.len());
        bytes.splice(at..end, piece.into_bytes());
        bytes
    })
}

/// Nothing panics; what is accepted says what was measured, and survives being read again.
fn holds(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok(claims) = validate(bytes, &measured()) else { return Ok(()) };
    prop_assert_eq!(&claims.0["image_sha256"], H);
    prop_assert_eq!(&claims.0["pixels"], &json!({"width": 100, "height": 50}));
    let again = validate(serde_json::to_string(&claims).unwrap().as_bytes(), &measured());
    prop_assert_eq!(again.as_ref(), Ok(&claims));
    Ok(())
}

/// An address: most are nearly sound.
fn address() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("https://".to_owned()),
        Just("http://".to_owned()),
        Just("example.com".to_owned()),
        Just("@".to_owned()),
        Just(":".to_owned()),
        Just("[::1]".to_owned()),
        Just("127.0.0.1".to_owned()),
        Just("/".to_owned()),
        Just("%41".to_owned()),
        "[0-9]{1,6}",
        "[ -~]",
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn origin_holds(address: &str) -> Result<(), TestCaseError> {
    let Some(origin) = super::origin::origin(address) else { return Ok(()) };
    prop_assert!(origin.chars().all(|c| c.is_ascii_graphic() && !"@?#%\\ ".contains(c)), "{}", origin);
    prop_assert_eq!(super::origin::origin(&origin), Some(origin));
    Ok(())
}

proptest! {
    #[test]
    fn no_sidecar_breaks_the_reader(bytes in mangled()) {
        holds(&bytes)?;
    }

    #[test]
    fn no_bytes_break_the_reader(bytes in any::<Vec<u8>>()) {
        holds(&bytes)?;
    }

    #[test]
    fn an_origin_is_its_own_origin(address in address()) {
        origin_holds(&address)?;
    }
}

/// The same for as long as a fuzzer is given.
#[test]
fn slow_a_minute_of_mangled_sidecars_addresses_and_names() {
    if std::env::var_os("ATTACHE_SLOW_TESTS").is_none_or(|value| value != "1") {
        println!("skipped: set ATTACHE_SLOW_TESTS=1");
        return;
    }
    let end = Instant::now() + Duration::from_secs(60);
    let mut runner = TestRunner::new(Config { cases: 2_000, failure_persistence: None, ..Config::default() });
    let inputs = (mangled(), address(), any::<String>(), any::<String>());
    let mut rounds = 0;
    while Instant::now() < end {
        let run = runner.run(&inputs, |(bytes, address, a, b)| {
            holds(&bytes)?;
            origin_holds(&address)?;
            prop_assert_eq!(crate::natural_cmp(&a, &b), crate::natural_cmp(&b, &a).reverse());
            Ok(())
        });
        run.unwrap();
        rounds += 1;
    }
    println!("{rounds} rounds of 2000");
}
