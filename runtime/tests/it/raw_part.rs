//! Images that come as base64.

use attache_runtime::{
    Accepted, MediaType, MemoryStore, OnMismatch, RawPart, Settings, accept_data_url, accept_raw_part,
};
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD, Engine};

use crate::support::{image, limits, outcomes, png};

async fn accept(data: &str, media_type: &str, settings: &Settings) -> Accepted {
    let part = RawPart { name: "part 1", media_type: Some(media_type), data };
    accept_raw_part(part, &MemoryStore::new(), settings).await
}

#[tokio::test]
async fn good_malformed_mismatched_too_large() {
    let settings = Settings::default();
    let good = BASE64_STANDARD.encode(png(1));
    let text = BASE64_STANDARD.encode("no image");
    for (data, media_type, settings, outcome) in [
        (good.as_str(), "image/png", &settings, "image/png"),
        ("%%%", "image/png", &settings, "malformed"),
        (&text, "image/png", &settings, "content_mismatch"),
        (&good, "image/png", &limits(4, 5), "too_large"),
        (&good, "image/jpeg", &settings, "content_mismatch"),
        (&good, "image/svg+xml", &settings, "media_type_not_allowed"),
        (&good, "image/svg+xml", &limits(4, 5), "media_type_not_allowed"),
        ("", "image/png", &settings, "content_mismatch"),
        ("https://example.org/a b.png", "image/png", &settings, "malformed"),
        (&good, "image/jpeg", &settings.clone().with_on_mismatch(OnMismatch::Relabel), "image/png"),
        (&good, "image/png", &limits(10_000, 0), "image/png"),
    ] {
        let accepted = accept(data, media_type, settings).await;
        assert_eq!(outcomes(&accepted.trace), [outcome]);
        assert_eq!(accepted.blocks.is_empty(), !outcome.starts_with("image/"), "{outcome}");
    }
    let note = accept(&good, "image/png", &limits(4, 5)).await.notes.remove(0);
    assert!(note.contains(&format!("{} bytes", png(1).len())) && note.contains("4 bytes"), "{note}");
}

#[tokio::test]
async fn spellings_of_base64() {
    let bytes = image(MediaType::Jpeg);
    let wrapped: String = BASE64_STANDARD
        .encode(&bytes)
        .as_bytes()
        .chunks(76)
        .flat_map(|line| [line, b"\r\n"].concat())
        .map(char::from)
        .collect();
    for data in [wrapped, BASE64_URL_SAFE_NO_PAD.encode(&bytes)] {
        assert_eq!(outcomes(&accept(&data, "image/jpeg", &Settings::default()).await.trace), ["image/jpeg"]);
    }
    let twice = BASE64_STANDARD.encode(BASE64_STANDARD.encode(&bytes));
    assert_eq!(outcomes(&accept(&twice, "image/jpeg", &Settings::default()).await.trace), ["content_mismatch"]);
}

#[tokio::test]
async fn a_data_url_is_one_only_where_the_caller_says_so() {
    let (store, settings) = (MemoryStore::new(), Settings::default());
    let url = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png(1)));
    assert_eq!(outcomes(&accept(&url, "image/png", &settings).await.trace), ["malformed"]);
    for (url, outcome) in [
        (url.as_str(), "image/png"),
        (&url.replace("image/png", ""), "image/png"),
        (&url.replace("image/png", "image/gif"), "content_mismatch"),
        ("data:image/png;base64,", "content_mismatch"),
        ("data:image/png,abc", "malformed"),
        (url.strip_prefix("data:").unwrap(), "malformed"),
        (&format!("see {url}"), "malformed"),
        ("https://example.org/a.png", "malformed"),
    ] {
        let accepted = accept_data_url("pasted", url, &store, &settings).await;
        assert_eq!(outcomes(&accepted.trace), [outcome], "{url}");
    }
}
