use proptest::prelude::*;

use super::*;

const IDS: [&str; 16] = [
    "anthropic",
    "anthropic-bedrock",
    "anthropic-vertex",
    "azure-openai",
    "bedrock-converse",
    "deepseek",
    "gemini",
    "gemini-2",
    "mistral",
    "ollama",
    "openai-chat",
    "openai-compatible",
    "openai-responses",
    "text-only",
    "vertex-gemini",
    "xai",
];

fn known(id: &str) -> &'static Profile {
    Profiles::builtin().get(id).expect("it is built in")
}

#[test]
fn every_route_is_built_in() {
    let ids: Vec<_> = Profiles::builtin().iter().map(|profile| &*profile.id).collect();
    assert_eq!(ids, IDS);
}

#[test]
fn samples() {
    let cases = [
        (256, 256, [100, 100, 77, 77, 77, 255]),
        (1024, 1024, [1369, 1369, 1229, 1229, 1229, 765]),
        (1920, 1080, [1560, 2691, 2448, 2448, 2448, 1105]),
        (3840, 2160, [1560, 4784, 9792, 2931, 9792, 1105]),
        (4032, 3024, [1564, 4740, 14364, 2942, 11868, 765]),
    ];
    for (width, height, expect) in cases {
        let columns = [
            ("anthropic", "claude-haiku-4-5", "auto"),
            ("anthropic", "claude-opus-4-7", "auto"),
            ("openai-responses", "gpt-6-astra", "auto"),
            ("openai-responses", "gpt-6-astra", "high"),
            ("openai-chat", "gpt-5.5", "auto"),
            ("openai-chat", "gpt-4o", "high"),
        ];
        for ((id, model, detail), tokens) in columns.into_iter().zip(expect) {
            for (width, height) in [(width, height), (height, width)] {
                let estimate = known(id).image_tokens_at(Some(model), detail, width, height);
                assert_eq!(estimate.map(|estimate| estimate.tokens), Some(tokens), "{model} {detail} {width}x{height}");
            }
        }
    }
}

#[test]
fn models_and_their_families() {
    // 1000 x 700, so that no rule shrinks anything.
    for (id, model, tokens) in [
        ("anthropic", None, Some(900)),
        ("anthropic", Some("gpt-6"), None),
        ("anthropic", Some("claude-next"), Some(900)),
        ("anthropic-bedrock", Some("us.anthropic.claude-opus-5-v1:0"), Some(900)),
        ("bedrock-converse", Some("amazon.nova-pro-v1:0"), None),
        ("openai-chat", None, Some(845)),
        ("openai-chat", Some("gpt-5.6-terra"), Some(845)),
        ("openai-chat", Some("openai/GPT-6"), Some(845)),
        ("openai-chat", Some("gpt-5.2"), None),
        ("openai-chat", Some("gpt-5"), Some(70 + 140 * 4)),
        ("openai-chat", Some("gpt-5-2025-08-07"), Some(70 + 140 * 4)),
        ("openai-chat", Some("gpt-5-mini"), Some(1141)),
        ("openai-chat", Some("gpt-5.4-mini"), Some(1141)),
        ("openai-chat", Some("gpt-4.1-nano"), Some(1732)),
        ("openai-chat", Some("ft:gpt-4o-mini-2024-07-18:me"), Some(2833 + 5667 * 4)),
        ("openai-chat", Some("o3"), Some(75 + 150 * 4)),
        ("openai-chat", Some("gpt-4-turbo"), None),
        ("azure-openai", Some("my-deployment"), Some(845)),
        ("gemini", Some("gemini-3-pro"), Some(1120)),
        ("gemini", Some("gemini-2.5-pro"), None),
        ("gemini-2", Some("gemini-2.5-pro"), Some(516)),
        ("vertex-gemini", Some("gemini-2.5-pro"), Some(516)),
        ("mistral", Some("mistral-large-3"), Some(893)),
        ("mistral", Some("pixtral-12b"), Some(2735)),
        ("deepseek", None, Some(384)),
        ("xai", None, None),
        ("ollama", Some("llava"), None),
        ("openai-compatible", None, None),
        ("text-only", None, None),
    ] {
        let estimate = known(id).image_tokens(model, 1000, 700);
        assert_eq!(estimate.map(|estimate| estimate.tokens), tokens, "{id} {model:?}");
    }
    assert!(known("gemini").image_tokens(None, 9, 9).unwrap().is_maximum);
    assert_eq!(known("gemini").image_tokens_at(None, "low", 9, 9).unwrap().tokens, 280);
    assert_eq!(known("openai-chat").image_tokens_at(Some("gpt-4o"), "low", 9000, 9).unwrap().tokens, 85);
    assert_eq!(known("anthropic").image_tokens(None, 0, 9), None);
}

#[test]
fn as_sent() {
    for (id, given, sent) in [
        // The edge for many images counts from the first one on.
        ("anthropic", (4032, 3024), "2000x1500"),
        ("anthropic", (2000, 10), "2000x10"),
        ("bedrock-converse", (9000, 3), "8000x3"),
        ("mistral", (3, 20_000), "2x10000"),
        ("openai-chat", (90_000, 90_000), "90000x90000"),
        ("ollama", (90_000, 1), "90000x1"),
        ("text-only", (5, 5), "5x5"),
    ] {
        assert_eq!(known(id).fit(given.0, given.1).to_string(), sent, "{id}");
    }
    let tokens =
        |width, height| known("anthropic").tokens_as_sent(Some("claude-opus-5"), width, height).unwrap().tokens;
    assert_eq!((tokens(3840, 2160), tokens(2000, 1125)), (72 * 41, 72 * 41));
    let mine = Profile::from_toml("extends = 'deepseek'\nlimits.pixels.max = 640_000").unwrap();
    assert_eq!(mine.fit(1600, 1600).to_string(), "800x800");
}

/// What nobody has confirmed is never a number, and what is one says since when.
#[test]
fn every_number_has_a_source_and_a_date() {
    fn walk(place: &str, value: &serde_json::Value, seen: &mut usize) {
        let Some(table) = value.as_object() else {
            for item in value.as_array().into_iter().flatten() {
                walk(place, item, seen);
            }
            return;
        };
        if let Some(src) = table.get("src").and_then(|src| src.as_str()) {
            *seen += 1;
            let number =
                ["max", "max_edge", "min_tokens", "patch", "n"].iter().find_map(|key| table.get(*key)?.as_u64());
            assert!(src != "?" || number.is_none(), "{place} is {number:?} without a source");
            assert!(src != "set" || place.starts_with("text-only"), "{place} does not say who says so");
            let dated = table.get("as_of").and_then(|date| date.as_str());
            assert!(
                number.is_none() || src == "set" || dated.is_some_and(|date| date.starts_with("2026-")),
                "{place}: no date"
            );
        }
        for (key, value) in table {
            walk(&format!("{place}.{key}"), value, seen);
        }
    }
    let mut seen = 0;
    for profile in Profiles::builtin().iter() {
        walk(&profile.id, &serde_json::to_value(profile).unwrap(), &mut seen);
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn starting_values() {
    use Cap::{At, Model, None, Unknown};
    for (id, per_image, count, edge, request) in [
        ("anthropic", At(5_242_880), At(100), Some(2000), At(32_000_000)),
        ("anthropic-bedrock", At(5_242_880), At(100), Some(2000), At(20_000_000)),
        ("anthropic-vertex", Unknown, At(100), Some(2000), Unknown),
        ("azure-openai", Unknown, At(50), Option::None, Unknown),
        ("bedrock-converse", At(3_750_000), At(20), Some(8000), Unknown),
        ("deepseek", At(33_554_432), At(600), Option::None, Unknown),
        ("gemini", At(100_000_000), At(3000), Option::None, At(100_000_000)),
        ("gemini-2", At(100_000_000), At(3000), Option::None, At(100_000_000)),
        ("mistral", At(10_000_000), At(8), Some(10_000), Unknown),
        ("ollama", None, Model, Option::None, Model),
        ("openai-chat", Unknown, At(500), Option::None, At(50_000_000)),
        ("openai-compatible", None, Model, Option::None, Model),
        ("openai-responses", At(20_971_520), At(500), Option::None, At(50_000_000)),
        ("text-only", None, At(0), Option::None, Unknown),
        ("vertex-gemini", At(7_000_000), At(3000), Option::None, Unknown),
        ("xai", At(20_971_520), None, Option::None, Unknown),
    ] {
        let profile = known(id);
        let limits = &profile.limits;
        let found = (limits.per_image.max, limits.images_per_request.max, profile.max_edge(), limits.request_bytes.max);
        assert_eq!(found, (per_image, count, edge, request), "{id}");
    }
}

#[test]
fn as_json_and_back() {
    for profile in Profiles::builtin().iter() {
        let json = serde_json::to_string(profile).unwrap();
        assert_eq!(serde_json::from_str::<Profile>(&json).unwrap(), *profile);
    }
}

#[test]
fn the_form_in_json() {
    let json = serde_json::to_value(known("anthropic")).unwrap();
    assert_eq!(json["match"], serde_json::json!({"models": ["*claude*"]}));
    assert_eq!(
        json["limits"]["edge_by_count"][1],
        serde_json::json!({"when_images_lte": null, "max_edge": 2000, "retroactive": true, "src": "D", "as_of": "2026-08",
            "note": "the 21st image makes older ones of more than 2000 pixels illegal; images in tool results are taken to count"})
    );
    assert_eq!(json["limits"]["pixels"]["max"], "unknown");
    assert_eq!((&json["tokens"]["kind"], &json["tokens"]["patch"]), (&"patch".into(), &28.into()));
    assert_eq!(json["errors"][2], serde_json::json!({"status": 413, "class": "request_bytes"}));
}

#[test]
fn a_file_changes_single_values() {
    let mine = Profile::from_toml(
        "extends = 'anthropic'
        limits.per_image.max = 10_485_760
        limits.request_bytes = { max = 20_000_000, src = 'D', as_of = '2026-11-30' }
        tokens = { kind = 'fixed', n = 900 }
        families.high-res.tokens.max_tokens = 5000
        placement.tool_result = 'hoist_next_user'",
    )
    .unwrap();
    let base = known("anthropic");
    assert_eq!((&*mine.id, mine.wire, &mine.media_types), ("anthropic", base.wire, &base.media_types));
    let Limit { max, unit, alt, conflict, src, as_of, note, .. } = &mine.limits.per_image;
    assert_eq!((*max, *unit, *alt, *conflict), (Cap::At(10_485_760), Unit::B64Chars, None, false));
    assert_eq!((*src, as_of, note), (Grade::Set, &None, &None), "the old number's source is not the new one's");
    let request = &mine.limits.request_bytes;
    assert_eq!((request.src, request.as_of.as_ref().map(AsOf::as_str)), (Grade::D, Some("2026-11-30")));
    assert_eq!(mine.limits.edge_by_count, base.limits.edge_by_count);
    assert_eq!(mine.tokens.rule, TokenRule::Fixed { n: 900.try_into().unwrap() });
    let TokenRule::Patch { patch, max_tokens, .. } = &mine.families["high-res"].tokens.rule else { panic!() };
    assert_eq!((patch.get(), max_tokens.map(|most| most.get())), (28, Some(5000)));
    assert_eq!(mine.placement.tool_result, ToolResultPlacement::HoistNextUser);
    assert_eq!(mine.placement.user, RolePlacement::Native);

    let mut profiles = Profiles::builtin().clone();
    assert_eq!(profiles.insert(mine.clone()).as_ref(), Some(base));
    assert_eq!(profiles.get("anthropic"), Some(&mine));
    // A value within leaves what is said about the values around it.
    let mine = Profile::from_toml("extends = 'openai-chat'\nfamilies.gpt-4o.tokens.details.low.n = 90").unwrap();
    let tokens = &mine.families["gpt-4o"].tokens;
    assert_eq!((tokens.src, tokens.details["low"].src), (Grade::D, Grade::Set));
    assert_eq!(mine.image_tokens_at(Some("gpt-4o"), "low", 9, 9).unwrap().tokens, 90);
    // What a profile says of the source alone leaves the number.
    let mine = Profile::from_toml("extends = 'xai'\nlimits.per_image.note = 'measured'").unwrap();
    let limit = &mine.limits.per_image;
    assert_eq!((limit.max, limit.src, limit.note.as_deref()), (Cap::At(20_971_520), Grade::D, Some("measured")));
}

proptest! {
    /// Built-in text of which pieces are gone, doubled or exchanged is a profile or an error.
    #[test]
    fn no_text_is_too_strange(
        of in 0..IDS.len(), at in any::<prop::sample::Index>(), length in 0..40usize, new in "[a-z0-9_.\\[\\]{}=,\"' \n-]{0,12}",
    ) {
        let text = builtin::text_of(IDS[of]).expect("it is built in");
        let at = at.index(text.len());
        let text = format!("{}{new}{}", &text[..at], &text[(at + length).min(text.len())..]);
        if let Ok(profile) = Profile::from_toml(&text) {
            prop_assert!(profile.check().is_ok() && !profile.fit(9000, 1).is_empty());
            prop_assert!(profile.tokens_as_sent(None, 1_000_000, 1_000_000).is_none_or(|estimate| estimate.tokens > 0));
        }
        let error = Profile::from_toml(&new).expect_err("a profile is longer");
        prop_assert!(!error.to_string().is_empty());
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (text, key, parts) in [
        ("id = ", "", &["line 1"][..]),
        ("extends = 'nobody'", "extends", &["\"nobody\"", "anthropic, anthropic-bedrock"]),
        ("extends = 5", "extends", &["5"]),
        ("id = 'mine'", "", &["missing field", "extends = \"ID\""]),
        ("extends = 'xai'\nid = 'My profile'", "id", &["\"My profile\""]),
        ("extends = 'xai'\nlimit.per_image.max = 5", "limit", &["unknown field `limit`"]),
        ("extends = 'xai'\nlimits.per_image.maxx = 5", "limits.per_image.maxx", &["unknown field `maxx`"]),
        ("extends = 'xai'\nlimits.per_image.max = '5 MB'", "limits.per_image.max", &["\"5 MB\"", "a whole number"]),
        ("extends = 'xai'\nlimits.per_image.max = -5", "limits.per_image.max", &["-5"]),
        ("extends = 'xai'\nlimits.per_image.max = 5.5", "limits.per_image.max", &["5.5"]),
        ("extends = 'xai'\nlimits.per_image.max = 0", "limits.per_image.max", &["0"]),
        ("extends = 'xai'\nlimits.per_image.unit = 'pixels'", "limits.per_image.unit", &["pixels"]),
        ("extends = 'xai'\nwire = 'smtp'", "wire", &["`smtp`", "openai.chat"]),
        ("extends = 'xai'\nmedia_types = 'all'", "media_types", &["\"all\"", "a list"]),
        ("extends = 'xai'\nlimits.edge_by_count = []", "limits.edge_by_count", &["empty"]),
        (
            "extends = 'xai'\nlimits.edge_by_count = [{when_images_lte = 5, max_edge = 5}]",
            "limits.edge_by_count",
            &["rise"],
        ),
        ("extends = 'xai'\nlimits.edge_by_count = [{max_edge = 0}]", "limits.edge_by_count[0].max_edge", &["0"]),
        ("extends = 'xai'\nlimits.per_image.as_of = 'today'", "limits.per_image.as_of", &["\"today\"", "2026-09"]),
        ("extends = 'anthropic'\ntokens.patch = 0", "tokens.patch", &["0", "nonzero"]),
        ("extends = 'anthropic'\ntokens.multiplier = 0.00001", "tokens.multiplier", &["0.00001"]),
        ("extends = 'anthropic'\ntokens.tile = 5", "tokens", &["kind \"patch\" has no `tile`"]),
        ("extends = 'anthropic'\nfamilies.mine.tokens = {kind = 'fixed', n = 5}", "families.mine", &["match"]),
    ] {
        let error = Profile::from_toml(text).unwrap_err();
        assert_eq!(error.key(), key, "{text}: {error}");
        assert_eq!(error.code(), "invalid_profile");
        let message = error.to_string();
        assert!(parts.iter().all(|part| message.contains(part)) && message.starts_with(key), "{text}: {message}");
    }
}
