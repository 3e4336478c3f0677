//! Names, declared types and bytes that do not agree.

use attache_runtime::conversation::blocks;
use attache_runtime::{
    Attachment, MediaType, MemoryStore, OnMismatch, RawPart, Settings, accept_raw_part, render, tool_message,
};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

use crate::support::{Folder, image, outcomes, png};

const MISNAMED: [(&str, MediaType, MediaType); 5] = [
    ("photo.png", MediaType::Jpeg, MediaType::Png),
    ("shot.jpg", MediaType::Png, MediaType::Jpeg),
    ("page.png", MediaType::Webp, MediaType::Png),
    ("anim.jpeg", MediaType::Gif, MediaType::Jpeg),
    ("no-extension", MediaType::Png, MediaType::Webp),
];

#[tokio::test]
async fn what_goes_out_is_labelled_by_its_bytes_whatever_the_name_or_the_label_says() {
    let folder = Folder::new();
    let relabel = Settings::default().with_on_mismatch(OnMismatch::Relabel);
    for (name, found, other) in MISNAMED {
        folder.write(name, image(found));
        let refused = folder.accept(&Settings::default(), &[Attachment::new(name, other.as_str())]).await;
        assert_eq!(outcomes(&refused.trace), ["content_mismatch"], "{name}");
        for (settings, entry) in [
            (&Settings::default(), Attachment::new(name, found.as_str())),
            (&Settings::default(), Attachment::by_bytes(name)),
            (&relabel, Attachment::new(name, other.as_str())),
            (&relabel, Attachment::by_bytes(name)),
        ] {
            let store = MemoryStore::new();
            let accepted = folder.accept_into(&store, settings, &[entry]).await;
            let top = tool_message("c", "t", "", &accepted, settings);
            let nested = json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c", "content": accepted.blocks},
            ]});
            let messages = [top, nested];
            let rendered = render(&messages, 5, &store).await;
            let images = rendered.iter().flat_map(|message| blocks(message)).filter(|block| block["type"] == "image");
            let images: Vec<_> = images.collect();
            assert_eq!(images.len(), 2, "{name}");
            for block in images {
                assert_eq!(block["source"]["media_type"], found.as_str(), "{name}");
                let data = block["source"]["data"].as_str().unwrap();
                assert_eq!(BASE64_STANDARD.decode(data).unwrap(), image(found), "{name}");
            }
        }
    }
}

/// What tools, services and people write for "a PNG", and what becomes of it where a tool declares it for PNG bytes: as
/// declared, and where labels are put right.
fn spellings() -> [(Value, &'static str, &'static str); 13] {
    [
        (json!("image/jpg"), "content_mismatch", "image/png"),
        (json!("IMAGE/PNG"), "image/png", "image/png"),
        (json!("Image/Jpeg"), "content_mismatch", "image/png"),
        (json!("image/png; charset=binary"), "image/png", "image/png"),
        (json!(" image/png "), "image/png", "image/png"),
        (json!("png"), "media_type_not_allowed", "media_type_not_allowed"),
        (json!("image"), "media_type_not_allowed", "media_type_not_allowed"),
        (json!("image/*"), "media_type_not_allowed", "media_type_not_allowed"),
        (json!("image/x-png"), "image/png", "image/png"),
        (json!("image/pjpeg"), "content_mismatch", "image/png"),
        (json!("application/octet-stream"), "media_type_not_allowed", "media_type_not_allowed"),
        (json!(""), "malformed", "malformed"),
        (Value::Null, "malformed", "malformed"),
    ]
}

#[tokio::test]
async fn spellings_of_a_declared_type() {
    let folder = Folder::new();
    folder.write("a.png", png(1));
    let relabel = Settings::default().with_on_mismatch(OnMismatch::Relabel);
    for (spelling, declared, relabelled) in spellings() {
        let entry = [Attachment::from_value(&json!({"path": "a.png", "media_type": spelling}))];
        let accepted = folder.accept(&Settings::default(), &entry).await;
        assert_eq!(outcomes(&accepted.trace), [declared], "{spelling}");
        let accepted = folder.accept(&relabel, &entry).await;
        assert_eq!(outcomes(&accepted.trace), [relabelled], "{spelling}");
    }
}

#[tokio::test]
async fn where_labels_are_hints_the_bytes_decide() {
    let folder = Folder::new();
    folder.write("a.png", png(1));
    let data = BASE64_STANDARD.encode(png(1));
    let accepted = folder.accept(&Settings::default(), &[Attachment::by_bytes("a.png")]).await;
    assert_eq!(outcomes(&accepted.trace), ["image/png"]);
    for media_type in [None, Some(""), Some(" \t")] {
        let part = RawPart { name: "part 1", media_type, data: &data };
        let accepted = accept_raw_part(part, &MemoryStore::new(), &Settings::default()).await;
        assert_eq!(outcomes(&accepted.trace), ["image/png"]);
    }
}
