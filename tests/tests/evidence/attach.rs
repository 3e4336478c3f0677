//! `attache attach --evidence`: a bundle's images in a conversation.

use attache_tests::pictures;
use serde_json::{Value, json};

use crate::folder::Place;

/// A bundle of three images.
fn bundle() -> Place {
    let place = Place::with(&["slide10.png", "slide2.png", "slide1.png"]);
    place.run("image run in --workdir bundle").expect_code(0);
    place
}

fn texts(document: &Value) -> Vec<&str> {
    let content = document["message"]["content"].as_array().unwrap();
    content.iter().map(|block| block["text"].as_str().unwrap_or("IMAGE")).collect()
}

#[test]
fn the_images_stand_in_order_each_after_its_label() {
    let place = bundle();
    let manifest: Value = serde_json::from_slice(&std::fs::read(place.at("bundle/manifest.json")).unwrap()).unwrap();
    let document = place.json("attach --json -c ctx --evidence bundle");
    let found = texts(&document);
    assert!(found[0].contains("Cite them as [image 1]"), "{document}");
    assert_eq!(found[1..], ["[image 1]", "IMAGE", "[image 2]", "IMAGE", "[image 3]", "IMAGE"]);
    for n in 0..3 {
        let source = &document["message"]["content"][2 * n + 2]["source"];
        assert_eq!(source["sha256"], manifest["images"][n]["sha256"]);
    }
    // Names are nobody's business but the manifest's.
    assert!(!document["message"].to_string().contains("slide"), "{document}");
    let shown = place.json("show --json -c ctx");
    assert_eq!((&shown["messages"], shown["images"].as_array().unwrap().len()), (&json!(1), 3));
}

#[test]
fn a_bundle_is_attached_whole_unless_a_limit_is_asked_for() {
    let names: Vec<String> = (1..=7).map(|n| format!("{n}.png")).collect();
    let place = Place::with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    place.run("image run in --workdir bundle").expect_code(0);
    let whole = place.json("attach --json -c ctx --evidence bundle --text Seven.");
    assert_eq!(whole["message"]["content"].as_array().unwrap().len(), 15);
    assert_eq!(whole["message"]["content"][0]["text"], "Seven.");
    let some = place.json("attach --json -c ctx --evidence bundle --max-per-turn 2");
    assert_eq!(texts(&some)[1..], ["[image 1]", "IMAGE", "[image 2]", "IMAGE"]);
    assert_eq!(some["notes"].as_array().unwrap().len(), 5);
    assert!(texts(&some)[0].contains("[image 7] was not attached (turn_limit)"), "{some}");
    assert!(!some["message"].to_string().contains(".png"), "{some}");
}

#[test]
fn of_a_partial_bundle_the_model_is_told_that_it_is() {
    let place = bundle();
    let path = place.at("bundle/manifest.json");
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest["status"] = json!("partial");
    manifest["failed_stage"] = json!("copy");
    manifest["images"].as_array_mut().unwrap().pop();
    manifest["item_count"] = json!(2);
    std::fs::write(&path, manifest.to_string()).unwrap();
    std::fs::remove_dir_all(place.at("bundle/.agent")).unwrap();
    let document = place.json("attach --json -c ctx --evidence bundle");
    let found = texts(&document);
    assert!(found[0].contains("The bundle is partial"), "{document}");
    assert_eq!(found[1..], ["[image 1]", "IMAGE", "[image 2]", "IMAGE"]);
}

#[test]
fn what_is_not_as_it_was_made_is_not_attached() {
    let place = bundle();
    std::fs::write(place.at("bundle/images/002-slide2.png"), pictures::png(8, 4, 99)).unwrap();
    let refusal = |folder: &str| {
        let run = place.run(&format!("attach --json -c ctx --evidence {folder}"));
        let error = run.expect_code(3).json()["error"].clone();
        assert_eq!(error["code"], "bundle_not_usable");
        error["message"].as_str().unwrap().to_owned()
    };
    assert!(refusal("bundle").contains("images/002-slide2.png"), "{}", refusal("bundle"));
    for folder in ["in", "gone"] {
        assert!(refusal(folder).contains(folder));
    }
    assert!(!place.at("ctx").exists());
}
