use super::*;
use serde_json::json;

#[test]
fn tokens_by_size() {
    for (width, height, patches, pixels) in [
        (1, 1, 256, 350),
        (1080, 1080, 256, 350),
        (1920, 1080, 144, 197),
        (3840, 2160, 144, 197),
        (1080, 1350, 320, 437),
        (1080, 1920, 464, 622),
        (800, 600, 192, 263),
        (100, 50, 128, 175),
        (1024, 3, 16, 2),
        (1024, 1, 0, 0),
        (10_000, 1, 0, 0),
        (1, 1000, 256_000, 349_526),
    ] {
        let tokens = |estimator| vision_tokens(estimator, 512, width, height).unwrap();
        assert_eq!((tokens("openai_patch32"), tokens("legacy_pixels_750")), (patches, pixels), "{width}x{height}");
    }
    assert!(vision_tokens("other", 512, 1, 1).is_err());
}

fn priced(sizes: &[(u32, u32)], words: u64) -> Estimate {
    let image = |(at, &(width, height)): (usize, &(u32, u32))| Image {
        index: at + 1,
        source: String::new(),
        source_name: String::new(),
        width,
        height,
        bytes: 10,
        provenance: Value::Null,
    };
    let probe = Probe {
        source: "local",
        input: String::new(),
        kind: Kind::Carousel,
        item_count: sizes.len(),
        within_limit: true,
        images: sizes.iter().enumerate().map(image).collect(),
        skipped: Vec::new(),
        warnings: Vec::new(),
    };
    let native: Vec<(String, NativeTokens<'_>)> = vec![
        ("wide".to_owned(), Box::new(|width, _, _| Some(u64::from(width)))),
        ("small".to_owned(), Box::new(|width, _, _| (width < 1500).then_some(1))),
    ];
    let asked = EstimateOptions { native, ..EstimateOptions::default() };
    let (name, model) = asked.pricing.model(None).unwrap();
    price(probe, words, name, model, &asked).unwrap()
}

#[test]
fn the_example() {
    let estimate = priced(&[(1920, 1080), (1080, 1080), (1080, 1350)], 600);
    assert_eq!(estimate.tokens, Tokens { images: 720, output: 798, overhead: 2000, read_total: 2720 });
    assert_eq!(estimate.cost_usd, Cost { transcription: 0.0, agent: 0.015, total: 0.015 });
    assert_eq!(Value::from(estimate.native_tokens), json!({"wide": 4080, "small": null}));
    assert_eq!(Value::from(estimate.images[1].native_tokens.clone()), json!({"wide": 1080, "small": 1}));
}

#[test]
fn what_costs_most_is_judged_in_dollars() {
    for (words, output, dominant) in [(0, 0, "overhead"), (50, 66, "overhead"), (1000, 1330, "output")] {
        let estimate = priced(&[(1, 1)], words);
        assert_eq!((estimate.tokens.output, estimate.dominant_cost), (output, dominant), "{words}");
    }
    assert_eq!(priced(&[(1, 1000)], 0).dominant_cost, "images");
}

#[test]
fn tables() {
    let table = json!({
        "_note": "x",
        "model_per_mtok": {"_active": "b", "b": {"input": 1, "output": 2.5}, "a": {"input": 0, "output": 0, "vision_estimator": "e"}},
        "frame": {"target_width": 100},
    });
    let pricing = Pricing::from_json(&table).unwrap();
    assert_eq!(pricing.target_width, 100);
    assert_eq!(pricing.model(None).unwrap().1.estimator, "openai_patch32");
    for name in ["_active", "c"] {
        let error = pricing.model(Some(name)).unwrap_err().to_string();
        assert!(error.ends_with("a, b"), "{error}");
    }
    for bad in [json!([]), json!({"model_per_mtok": {"b": {"input": 1, "output": 1}}}), json!({"model_per_mtok": 1})] {
        assert_eq!(Pricing::from_json(&bad), None, "{bad}");
    }
}
