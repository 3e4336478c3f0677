use std::sync::Arc;

use attache_blobstore::{BlobId, BlobStore};
use attache_conversation::{OnMismatch, record_block};
use attache_media::{MediaType, Verify, fixtures};
use serde_json::{Value, json};

use crate::driver::Modality;
use crate::limits::Limits;
use crate::settings::Settings;
use crate::tools::testing::{Stage, model, seeing};
use crate::tools::{CallContext, Env, FileToolOptions, Observation};

const EARLY: [&str; 0] = [];

fn at(path: &str) -> Value {
    json!({"file_path": path})
}

fn pair(code: &str, message: impl Into<String>) -> (String, String) {
    (code.to_owned(), message.into())
}

fn limits(max_bytes: u64) -> Settings {
    Settings::default().with_limits(Limits::new(5, max_bytes, 5).unwrap())
}

#[tokio::test]
async fn a_picture_is_a_text_a_record_and_a_blob() {
    for (path, media_type) in [
        ("shots/a.png", MediaType::Png),
        ("a.PNG", MediaType::Png),
        ("a.jpg", MediaType::Jpeg),
        ("a.JpEg", MediaType::Jpeg),
        ("a.b.gif", MediaType::Gif),
        ("a.webp", MediaType::Webp),
    ] {
        let stage = Stage::new(seeing());
        let bytes = fixtures::of(media_type);
        stage.files.put(path, &bytes);
        let output = stage.call("read_image", at(path)).await;
        let (id, len) = (BlobId::of(&bytes), bytes.len());
        let size = attache_media::dimensions(&bytes, media_type).unwrap();
        assert_eq!(
            output.text,
            format!(
                "<path>{path}</path>\n<type>image</type>\n<content>\n{media_type} image, {size} px, {len} bytes\n</content>"
            )
        );
        let blocks: Vec<_> = output.images.iter().map(|image| image.block().clone()).collect();
        assert_eq!(blocks, [record_block(id, media_type, len as u64)]);
        assert_eq!(
            output.structured.unwrap(),
            json!({"path": path, "image": {
                "sha256": id.to_string(), "mediaType": media_type.as_str(), "bytes": len,
                "width": size.width, "height": size.height, "name": path.rsplit('/').next().unwrap(),
            }})
        );
        assert_eq!((output.is_error, output.code), (None, None));
        assert_eq!(stage.store.get(id, None).await.unwrap(), bytes);
        assert_eq!(stage.files.calls(), ["resolve", "stat", "read_bytes"]);
        assert!(matches!(stage.session.observations().get(path), Some(Observation::Picture { .. })));
    }
}

#[tokio::test]
async fn the_first_five_gates_touch_no_file_and_the_first_that_fails_counts() {
    let blank = || pair("FS_NOT_FOUND", "file_path must be a non-empty string");
    let extension = |path: &str| {
        let message = format!("cannot read \"{path}\": read_image only accepts PNG/JPEG/WebP/GIF paths");
        pair("extension_not_allowed", message)
    };
    let no_store = || pair("no_blob_store", "cannot read \"a.png\" as an image: no attachment service is mounted");
    let not_allowed = || {
        let message = "cannot read \"a.png\": image/png images are not accepted by this deployment";
        pair("media_type_not_allowed", message)
    };
    let unresolved = || {
        let message = "cannot read \"a.png\" as an image: the current model route could not be resolved";
        pair("model_unresolved", message)
    };
    let text_only = |id: &str| {
        let message = format!(
            "cannot read \"a.png\" as an image: model \"{id}\" does not declare image input; switch to an \
             image-capable model to read images"
        );
        pair("model_takes_no_images", message)
    };
    let nobody = FileToolOptions::default;
    let gif_only = || nobody().with_media_types([MediaType::Gif]);
    for (options, mounted, path, failed) in [
        (gif_only(), false, json!("\n "), blank()),
        (gif_only(), false, json!(null), blank()),
        (gif_only(), false, json!("a.svg"), extension("a.svg")),
        (seeing(), true, json!("png"), extension("png")),
        (seeing(), true, json!("a.png/b"), extension("a.png/b")),
        (seeing(), true, json!("a.png "), extension("a.png ")),
        (seeing(), true, json!("a\n.txt"), extension("a\\u{a}.txt")),
        (gif_only(), false, json!("a.png"), no_store()),
        (gif_only(), true, json!("a.png"), not_allowed()),
        (nobody(), true, json!("a.png"), unresolved()),
        (nobody().with_model(model("reader", Some(&[Modality::Text]))), true, json!("a.png"), text_only("reader")),
        (nobody().with_model(model("mute", None)), true, json!("a.png"), text_only("mute")),
        (nobody().with_model(model("empty", Some(&[]))), true, json!("a.png"), text_only("empty")),
    ] {
        let stage = Stage::new(options.clone());
        let store: Arc<dyn BlobStore> = stage.store.clone();
        let env = Env {
            files: stage.files.as_ref(),
            options: &options,
            session: Some(&stage.session),
            cwd: None,
            cancel: &stage.cancel,
        };
        let error = super::call(&env, mounted.then_some(store), &json!({"file_path": path})).await.unwrap_err();
        assert_eq!(pair(error.code, error.message), failed);
        assert_eq!((stage.files.calls(), stage.blobs()), (EARLY.to_vec(), 0), "{path}");
        assert_eq!(stage.session.observations(), Default::default());
    }
}

#[tokio::test]
async fn the_latest_request_says_which_model_it_is() {
    let reader = || model("reader", Some(&[Modality::Text]));
    let seer = || model("seer", Some(&[Modality::Image]));
    for (fallback, latest, code) in [
        (None, None, Some("model_unresolved")),
        (Some(seer()), None, None),
        (Some(reader()), None, Some("model_takes_no_images")),
        (Some(reader()), Some(Some(seer())), None),
        (Some(seer()), Some(Some(reader())), Some("model_takes_no_images")),
        (Some(seer()), Some(None), Some("model_unresolved")),
    ] {
        let stage = Stage::new(FileToolOptions { model: fallback.clone(), ..FileToolOptions::default() });
        stage.files.put("a.png", fixtures::png(1, 1, 1));
        if let Some(latest) = latest.clone() {
            stage.session.note_request(latest);
        }
        let output = stage.call("read_image", at("a.png")).await;
        assert_eq!(output.code.as_deref(), code, "{fallback:?} {latest:?}");
    }
    // Without a session the options alone say it.
    let stage = Stage::new(seeing());
    stage.files.put("a.png", fixtures::png(1, 1, 1));
    let context = CallContext::without_session(&stage.cancel);
    assert_eq!(stage.tools.call("read_image", &at("a.png"), context).await.code, None);
}

#[tokio::test]
async fn the_file_decides_after_them_and_what_fails_leaves_nothing() {
    let broken = &fixtures::png(8, 8, 1)[..40];
    let mismatch = |path: &str, extension: &str, media_type: &str| {
        let message = format!(
            "cannot read \"{path}\": the {extension} extension declares {media_type}, but the bytes use a different image \
             format; rename the file to match its actual format if it is PNG/JPEG/WebP/GIF, or convert it to one of those \
             formats"
        );
        pair("content_mismatch", message)
    };
    // An extension is never only a hint.
    let settings = limits(1000).with_verify(Verify::Structure).with_on_mismatch(OnMismatch::Relabel);
    let stage = Stage::new(seeing().with_settings(settings));
    stage.files.put_dir("dir.png").put("big.png", vec![0; 1001]).put("really.png", fixtures::gif());
    stage.files.put("photo.JPEG", "<html>").put("empty.webp", "").put("broken.png", broken);
    for (path, failed, calls) in [
        ("gone.png", pair("FS_NOT_FOUND", "cannot read \"gone.png\": not found"), 2),
        ("dir.png", pair("FS_NOT_REGULAR_FILE", "cannot read \"dir.png\": not a regular file"), 2),
        ("big.png", pair("FS_TOO_LARGE", "cannot read \"big.png\": 1001 bytes exceeds the 1000-byte limit"), 3),
        ("really.png", mismatch("really.png", "png", "image/png"), 3),
        ("photo.JPEG", mismatch("photo.JPEG", "jpeg", "image/jpeg"), 3),
        ("empty.webp", mismatch("empty.webp", "webp", "image/webp"), 3),
    ] {
        assert_eq!(stage.fail("read_image", at(path)).await, failed);
        assert_eq!(stage.files.calls(), ["resolve", "stat", "read_bytes"][..calls], "{path}");
        let seen = (path == "gone.png").then_some(&Observation::Absent);
        assert_eq!(stage.session.observations().get(path), seen, "{path}");
    }
    let (code, message) = stage.fail("read_image", at("broken.png")).await;
    assert_eq!(code, "undecodable");
    assert!(message.starts_with("cannot read \"broken.png\": "), "{message}");
    assert_eq!(stage.blobs(), 0);
}

#[tokio::test]
async fn an_image_without_a_size_is_refused_at_every_depth() {
    let stage = Stage::new(seeing());
    stage.files.put("a.png", b"\x89PNG\r\n\x1a\n");
    assert_eq!(stage.fail("read_image", at("a.png")).await.0, "undecodable");
    assert_eq!(stage.blobs(), 0);
}

#[tokio::test]
async fn the_smaller_of_both_limits_holds_and_is_inclusive() {
    let bytes = fixtures::png(8, 8, 1);
    let len = bytes.len() as u64;
    for (per_image, per_message, limit) in [
        (len, u64::MAX, None),
        (1 << 20, len, None),
        (len - 1, u64::MAX, Some(len - 1)),
        (len, len - 1, Some(len - 1)),
        (len - 2, len - 1, Some(len - 2)),
    ] {
        let stage = Stage::new(seeing().with_settings(limits(per_image)).with_max_message_bytes(per_message));
        stage.files.put("a.png", &bytes);
        let output = stage.call("read_image", at("a.png")).await;
        let expected =
            limit.map(|limit| format!("Error: cannot read \"a.png\": {len} bytes exceeds the {limit}-byte limit"));
        assert_eq!(
            (output.is_error.is_some().then_some(output.text), stage.blobs()),
            (expected.clone(), usize::from(expected.is_none()))
        );
    }
}

#[tokio::test]
async fn a_picture_may_not_be_written_over_as_text() {
    let stage = Stage::new(seeing());
    stage.files.put("a.png", fixtures::png(1, 1, 1));
    stage.call("read_image", at("a.png")).await;
    let failed = stage.fail("write", json!({"file_path": "a.png", "content": "text"})).await;
    let message = "cannot overwrite existing \"a.png\" without reading it first — read the file, then retry";
    assert_eq!(failed, pair("FS_NOT_OBSERVED", message));
    let failed = stage.fail("edit", json!({"file_path": "a.png", "old_string": "P", "new_string": "Q"})).await;
    assert_eq!(failed.0, "FS_NOT_OBSERVED");
}

#[tokio::test]
async fn two_at_a_time_are_two_pictures() {
    let stage = Stage::new(seeing());
    stage.files.put("a.png", fixtures::png(1, 1, 1)).put("b.png", fixtures::png(2, 2, 2));
    let (a, b) = tokio::join!(stage.call("read_image", at("a.png")), stage.call("read_image", at("b.png")));
    for (output, bytes) in [(a, fixtures::png(1, 1, 1)), (b, fixtures::png(2, 2, 2))] {
        assert_eq!(output.structured.unwrap()["image"]["sha256"], json!(BlobId::of(&bytes).to_string()));
        assert_eq!(output.images.len(), 1);
    }
    assert_eq!(stage.blobs(), 2);
}
