use proptest::prelude::*;

use super::*;
use crate::profile::Grade;

fn size(width: u32, height: u32) -> Size {
    Size { width, height }
}

fn rule(json: serde_json::Value) -> TokenRule {
    serde_json::from_value::<Tokens>(json).unwrap().rule
}

fn patch(patch: u32, edge: Option<u32>, most: Option<u64>, budget: Option<u64>, multiplier: f64) -> TokenRule {
    TokenRule::Patch {
        patch: NonZeroU32::new(patch).unwrap(),
        max_edge: edge.and_then(NonZeroU32::new),
        max_tokens: most.and_then(NonZeroU64::new),
        budget: budget.and_then(NonZeroU64::new),
        multiplier: Multiplier::try_from(multiplier).unwrap(),
    }
}

fn tile(base: u64, tile: u64, side: u32, fit: Option<u32>, short_side: Option<u32>) -> TokenRule {
    TokenRule::Tile {
        base,
        tile: NonZeroU64::new(tile).unwrap(),
        size: NonZeroU32::new(side).unwrap(),
        fit: fit.and_then(NonZeroU32::new),
        short_side: short_side.and_then(NonZeroU32::new),
    }
}

fn area(divisor: u32, edge: u32, most: u64) -> TokenRule {
    TokenRule::Area {
        divisor: NonZeroU32::new(divisor).unwrap(),
        max_edge: NonZeroU32::new(edge),
        max_tokens: NonZeroU64::new(most),
    }
}

#[test]
fn sizes_and_their_tokens() {
    let standard = patch(28, Some(1568), Some(1568), None, 1.0);
    let budget = patch(32, None, None, Some(2500), 1.2);
    let classic = area(750, 1568, 1600);
    let large = area(784, 1540, 3025);
    let tiles = tile(85, 170, 512, Some(2048), Some(768));
    let plain = tile(0, 258, 768, None, None);
    for (rule, width, height, tokens) in [
        (&standard, 1, 1, 1),
        (&standard, 28, 29, 2),
        (&standard, 1568, 28, 56),
        (&standard, 10_000, 1, 56),
        (&standard, 1_000_000, 1_000_000, 39 * 39),
        (&classic, 1, 1, 1),
        (&classic, 200, 200, 54),
        (&classic, 1568, 1568, 1600),
        (&large, 1540, 1540, 3025),
        (&large, 3080, 1540, 1513),
        (&budget, 1600, 1600, 3000),
        (&budget, 1601, 1600, 2940),
        (&budget, 1, 1_000_000, 3000),
        (&budget, 1_000_000, 1, 3000),
        (&budget, 32, 32, 2),
        (&tiles, 1, 1, 255),
        (&tiles, 513, 512, 425),
        (&tiles, 2048, 1, 85 + 4 * 170),
        (&tiles, 1_000_000, 10, 85 + 4 * 170),
        (&plain, 384, 384, 258),
        (&plain, 769, 768, 516),
        (&plain, 3840, 2160, 258 * 15),
    ] {
        assert_eq!(rule.count(size(width, height), ""), Some(tokens), "{rule:?} {width}x{height}");
    }
    assert_eq!(standard.count(size(0, 5), ""), None);
    assert_eq!(TokenRule::Unknown.count(size(5, 5), ""), None);
}

#[test]
fn levels() {
    let rule = rule(serde_json::json!(
        {"kind": "by_level", "low": 280, "medium": 560, "high": 1120, "ultra": 2240, "default": "high", "src": "D"}
    ));
    for (detail, tokens) in [("", 1120), ("low", 280), ("medium", 560), ("high", 1120), ("ultra", 2240), ("x", 1120)] {
        assert_eq!(rule.count(size(9, 9), detail), Some(tokens));
    }
}

#[test]
fn a_kind_has_its_fields_and_no_others() {
    for (json, message) in [
        (r#"{"kind": "fixed"}"#, "kind \"fixed\" needs `n`"),
        (r#"{"kind": "fixed", "n": 1, "patch": 28}"#, "kind \"fixed\" has no `patch`"),
        (r#"{"kind": "unknown", "n": 1}"#, "kind \"unknown\" has no `n`"),
        (r#"{"kind": "patch", "patch": 28}"#, "kind \"patch\" needs `multiplier`"),
        (r#"{"kind": "patch", "patch": 0, "multiplier": 1}"#, "0"),
        (r#"{"kind": "fixed", "n": 1, "m": 1}"#, "unknown field `m`"),
        (r#"{"kind": "guess"}"#, "guess"),
    ] {
        let error = serde_json::from_str::<Tokens>(json).unwrap_err().to_string();
        assert!(error.contains(message), "{json}: {error}");
    }
    let fixed: Tokens = serde_json::from_str(r#"{"kind": "fixed", "n": 7}"#).unwrap();
    assert_eq!((fixed.src, fixed.is_estimate, fixed.is_maximum), (Grade::Set, true, false));
}

fn some_edge() -> impl Strategy<Value = Option<u32>> {
    proptest::option::of(1..70_000u32)
}

fn some_rule() -> impl Strategy<Value = TokenRule> {
    let most = || proptest::option::of(1..40_000u64);
    prop_oneof![
        (1..100u32, some_edge(), most(), most(), 1..5000u32).prop_map(|(side, edge, most, budget, by)| patch(
            side,
            edge,
            most,
            budget,
            f64::from(by) / 1000.0
        )),
        (0..5000u64, 1..6000u64, 1..2000u32, some_edge(), some_edge())
            .prop_map(|(base, each, side, fit, short)| tile(base, each, side, fit, short)),
        (1..2000u32, 1..9999u32, 1..9999u64).prop_map(|(divisor, edge, most)| area(divisor, edge, most)),
    ]
}

/// Sides of any length, with a liking for the smallest and the largest.
fn side() -> impl Strategy<Value = u32> {
    prop_oneof![1..4u32, 1..5000u32, 1..1_000_000u32, Just(1_000_000), Just(u32::MAX)]
}

proptest! {
    #[test]
    fn something_for_every_image(rule in some_rule(), width in side(), height in side()) {
        prop_assert!(rule.count(size(width, height), "").unwrap() > 0);
    }

    #[test]
    fn no_more_than_the_cap(width in side(), height in side(), most in 1..50_000u64, by in 1..4000u32) {
        let by = f64::from(by) / 1000.0;
        let capped = patch(28, None, Some(most), None, by).count(size(width, height), "").unwrap();
        // A single square may cost more than the cap.
        prop_assert!(capped <= most.max(by.ceil() as u64));
        let budgeted = patch(32, None, None, Some(most), 1.0).count(size(width, height), "").unwrap();
        prop_assert!(budgeted <= most);
        prop_assert!(area(784, 1540, most).count(size(width, height), "").unwrap() <= most);
    }

    #[test]
    fn a_wider_cap_never_counts_less(width in side(), height in side(), most in 1..50_000u64, edge in 1..9000u32) {
        let size = size(width, height);
        let count = |rule: TokenRule| rule.count(size, "").unwrap();
        for wider in [most + 1, most * 2] {
            prop_assert!(count(patch(32, None, None, Some(most), 1.2)) <= count(patch(32, None, None, Some(wider), 1.2)));
            prop_assert!(count(patch(28, None, Some(most), None, 1.0)) <= count(patch(28, None, Some(wider), None, 1.0)));
            prop_assert!(count(area(750, 1568, most)) <= count(area(750, 1568, wider)));
        }
        prop_assert!(count(patch(28, Some(edge), None, None, 1.0)) <= count(patch(28, Some(edge + 1), None, None, 1.0)));
        prop_assert!(count(tile(85, 170, 512, Some(edge), None)) <= count(tile(85, 170, 512, Some(edge + 1), None)));
        prop_assert!(count(tile(85, 170, 512, None, Some(edge))) <= count(tile(85, 170, 512, None, Some(edge + 1))));
    }

    #[test]
    fn turned_it_counts_the_same(rule in some_rule(), width in side(), height in side()) {
        prop_assert_eq!(rule.count(size(width, height), ""), rule.count(size(height, width), ""));
    }

    /// The formula as it is written, in floating point, where that is not next to a whole number.
    #[test]
    fn whole_patches_as_the_formula_says(width in 200..9000u32, height in 200..9000u32, budget in 100..9000u32) {
        let (w, h, p) = (f64::from(width), f64::from(height), 32.0);
        let counted = patch(32, None, None, Some(budget.into()), 1.0).count(size(width, height), "");
        let unscaled = (w / p).ceil() * (h / p).ceil();
        if unscaled <= f64::from(budget) {
            prop_assert_eq!(counted, Some(unscaled as u64));
            return Ok(());
        }
        let scale = (p * p * f64::from(budget) / (w * h)).sqrt();
        let (across, down) = (w * scale / p, h * scale / p);
        let scale = scale * (across.floor() / across).min(down.floor() / down);
        let (across, down) = (w * scale / p, h * scale / p);
        let clear = |x: f64| if (x - x.round()).abs() < 1e-6 { x.round() } else { x.ceil() };
        let near = |x: f64| (x - x.round()).abs() < 1e-6;
        prop_assume!(!(near(w * scale / p) && near(h * scale / p)) || width == height);
        let expect = clear(across) * clear(down);
        prop_assert_eq!(counted, Some(expect as u64));
    }
}
