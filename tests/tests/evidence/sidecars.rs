//! The claims of a capture, beside its image.

use attache_tests::sha256;
use serde_json::{Value, json};

use crate::folder::{Place, names};

type Change = fn(&mut Value);

fn claims(image: &[u8]) -> Value {
    json!({
        "version": 1,
        "image_sha256": sha256(image),
        "producer": {"name": "synthetic", "version": "1.0"},
        "observed_at": "2026-09-10T12:34:56Z",
        "source_url": "https://user:pw@example.com/p?t=secret#f",
        "final_url": null,
        "viewport": {"width": 8, "height": 4},
        "pixels": {"width": 8, "height": 4},
        "scale": 1,
        "mode": "viewport",
        "region": null,
        "readiness_warnings": [],
        "content_trust": "untrusted",
        "derived_from": null,
    })
}

pub(crate) fn sidecar(place: &Place, name: &str, change: impl FnOnce(&mut Value)) {
    let mut document = claims(&std::fs::read(place.at(&format!("in/{name}"))).unwrap());
    change(&mut document);
    place.write(&format!("in/{name}.capture.json"), document.to_string());
}

#[test]
fn claims_are_checked_reduced_and_not_listed_as_skipped() {
    let place = Place::with(&["b10.png", "b2.png"]);
    sidecar(&place, "b2.png", |_| {});
    for command in ["probe in", "estimate in", "run in --workdir out"] {
        let found = place.json(&format!("image {command}"));
        assert_eq!((names(&found), &found["skipped"]), (vec!["b2.png", "b10.png"], &json!([])), "{command}");
        let provenance = &found["images"][0]["provenance"];
        assert_eq!((&provenance["status"], &provenance["coverage"]), (&json!("validated_claims"), &json!("unknown")));
        assert_eq!(provenance["producer_claims"]["source_url"], "https://example.com");
        assert_eq!(provenance["producer_claims"]["observed_at"], "2026-09-10T12:34:56Z");
        assert_eq!(found["images"][1]["provenance"]["status"], "missing");
    }
    assert!(!std::fs::read_to_string(place.at("out/manifest.json")).unwrap().contains("secret"));
    let text = place.run("image estimate in --human").expect_code(0).text().to_owned();
    assert!(text.contains("Capture provenance: 1 missing; 1 validated claims (not authenticated)."), "{text}");
}

#[test]
fn one_bad_sidecar_fails_the_whole_input_and_names_its_image() {
    let place = Place::with(&["a.png", "b.png"]);
    let cases: [(Change, &str); 6] = [
        (|claims| claims["version"] = json!(2), "unsupported capture sidecar version"),
        (|claims| claims["image_sha256"] = json!("0".repeat(64)), "capture sidecar image hash mismatch"),
        (|claims| claims["pixels"] = json!({"width": 9, "height": 4}), "capture sidecar image dimensions mismatch"),
        (|claims| claims["content_trust"] = json!("trusted"), "invalid capture sidecar schema or geometry"),
        (|claims| claims["producer"]["name"] = json!("$(x)"), "invalid capture sidecar schema or geometry"),
        (|claims| claims["image_path"] = json!("/etc/passwd"), "invalid capture sidecar schema or geometry"),
    ];
    for (change, expect) in cases {
        sidecar(&place, "b.png", change);
        for command in ["probe in", "estimate in", "run in --workdir out", "probe in/b.png"] {
            let message = place.refusal(&format!("image {command}"), 3);
            assert!(message.contains(expect) && message.contains("b.png"), "{message}");
            assert!(!message.contains("passwd") && !message.contains("$(x)"), "{message}");
        }
        assert!(!place.at("out").exists());
    }
}

#[test]
fn sidecars_that_are_no_files() {
    let place = Place::with(&["a.png"]);
    let sidecar = place.at("in/a.png.capture.json");
    std::os::unix::fs::symlink("nowhere", &sidecar).unwrap();
    assert!(place.refusal("image probe in", 3).contains("capture sidecar cannot be a symlink"));
    assert!(place.refusal("image probe in/a.png", 3).contains("capture sidecar cannot be a symlink"));
    std::fs::remove_file(&sidecar).unwrap();
    std::fs::create_dir(&sidecar).unwrap();
    assert!(place.refusal("image probe in", 3).contains("capture sidecar must be a regular file"));
    std::fs::remove_dir(&sidecar).unwrap();
    place.write("in/a.png.capture.json", " ".repeat(16_385));
    assert!(place.refusal("image probe in", 3).contains("capture sidecar exceeds 16384 bytes"));
}
