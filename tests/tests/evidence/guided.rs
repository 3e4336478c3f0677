//! `attache inspect`, `preview` and `read`: what people read, and the same as documents.

use serde_json::{Value, json};

use crate::folder::{Place, names};

#[test]
fn three_steps() {
    let place = Place::with(&["slide10.png", "slide2.png", "slide1.png"]);
    place.write("in/note.txt", "x");
    let text = place.run("inspect in").expect_code(0).text().to_owned();
    for part in [
        "Carousel: 3 images\n",
        "Order: slide1.png, slide2.png, slide10.png\n",
        "Skipped: note.txt (unsupported)\n",
        "Next: attache preview in\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = place.run("preview in").expect_code(0).text().to_owned();
    for part in ["image tokens:", "prepared locally", "Skipped: note.txt", "3 missing", "Next: attache read in\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = place.run("read in --workdir out").expect_code(0).text().to_owned();
    for part in ["Images: 3\n", "[image 1]", "out/manifest.json", "out/images/"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(place.at("out/manifest.json").is_file());
    let text = place.run("inspect in/slide1.png").expect_code(0).text().to_owned();
    assert!(text.starts_with("Image: 1 image\n") && !text.contains("Skipped"), "{text}");
}

/// What routes would count is for programs: the text has the lines it always had.
#[test]
fn the_text_of_an_estimate() {
    let place = Place::with(&["a.png"]);
    let input = place.at("in");
    let input = input.to_str().unwrap();
    let estimate = format!(
        "input: {input}  (carousel, 1 image)\n\
         agent=gpt-5.6-terra  vision=openai_patch32\n  \
           image tokens:       128\n  \
           output tokens:      798\n  \
           ---\n  \
           agent $0.0138\n  \
           TOTAL $0.0138   (dominant: output)\n  \
           API-equivalent estimate; a subscription may not be billed per token\n  \
           Capture provenance: 1 missing; 0 validated claims (not authenticated). Coverage remains unknown.\n"
    );
    assert_eq!(place.run("image estimate in --human").expect_code(0).text(), estimate);
    let next = "Images are prepared locally; nothing is sent.\nNext: attache read in\n";
    assert_eq!(place.run("preview in").expect_code(0).text(), estimate + next);
}

#[test]
fn hints_can_be_pasted_into_a_shell() {
    let place = Place::with(&[]);
    let name = "it's $(here).png";
    place.write(name, attache_tests::pictures::png(2, 2, 1));
    let text = place.call("inspect").arg(name).run().expect_code(0).text().to_owned();
    assert!(text.contains(r"Next: attache preview 'it'\''s $(here).png'"), "{text}");

    place.write("-x.png", attache_tests::pictures::png(2, 2, 1));
    let text = place.run("preview -- -x.png").expect_code(0).text().to_owned();
    assert!(text.ends_with(&format!("Next: attache read {}\n", place.at("-x.png").display())), "{text}");
}

#[test]
fn hints_lead_to_what_was_found_in_the_inbox() {
    let place = Place::with(&["a.png"]);
    place.write("config.json", json!({"inbox_dir": place.at("in")}).to_string());
    for (command, next) in [("inspect", "preview"), ("preview", "read")] {
        let text = place.run(&format!("{command} a.png --config config.json")).expect_code(0).text().to_owned();
        let found = place.at("in/a.png");
        assert!(text.ends_with(&format!("Next: attache {next} {}\n", found.display())), "{text}");
    }
}

#[test]
fn documents() {
    let place = Place::with(&["é.png"]);
    let text = place.run("inspect in --json").expect_code(0).text().to_owned();
    assert!(text.starts_with("{\n  \"source\"") && text.contains("é.png"), "{text}");
    assert_eq!(place.json("inspect in --json"), place.json("image probe in"));
    assert_eq!(place.json("preview in --json"), place.json("image estimate in"));
    assert_eq!(names(&place.json("read in --json --workdir out")), ["é.png"]);
}

#[test]
fn failures() {
    let place = Place::with(&["a.png"]);
    place.write("note.md", "x");
    for (words, expect) in [
        ("inspect gone.png", "no such file or folder: gone.png\nlooked in: "),
        (
            "preview https://u:pw@example.com/a.png?token=x",
            "save it locally and read the file: https://example.com/a.png\n",
        ),
        ("read note.md", "no reader for this input"),
        ("inspect in --reader video", "there is no video reader"),
        ("inspect in --stop-at frames", "--stop-at is for videos"),
        ("read in --workdir in", "workdir already exists and is not empty"),
    ] {
        let run = place.run(words);
        let text = run.expect_code(3).error_text();
        assert!(text.starts_with("attache could not continue: ") && text.contains(expect), "{words}: {text}");
        assert!(run.stdout.is_empty() && !text.contains("pw@"), "{run}");
        let reply = place.run(&format!("{words} --json")).expect_code(3).json();
        assert_eq!((&reply["ok"], &reply["meta"]["command"]), (&json!(false), &Value::Null), "{words}");
        assert_eq!((&reply["error"]["code"], &reply["error"]["exit_code"]), (&json!("input_error"), &json!(3)));
    }
}

#[test]
fn settings() {
    let place = Place::with(&["a.png"]);
    let prices = json!({
        "inbox_dir": place.at("in"),
        "agent_model": "mine",
        "model_per_mtok": {
            "_active": "other",
            "mine": {"input": 1, "output": 1, "vision_estimator": "legacy_pixels_750"},
            "other": {"input": 2, "output": 2},
        },
    });
    place.write("config.json", prices.to_string());
    let found = place.json("preview a.png --json --config config.json");
    assert_eq!((&found["agent_model"], &found["vision_estimator"]), (&json!("mine"), &json!("legacy_pixels_750")));
    assert_eq!(found["cost_basis"], "API token estimate");
    let found = place.json("preview a.png --json --config config.json --agent-model other");
    assert_eq!(found["agent_model"], "other");
    assert_eq!(place.json("image estimate a.png --config config.json")["agent_model"], "other");
    place.write("config.json", "{");
    let run = place.run("preview in --json --config config.json");
    assert_eq!(run.expect_code(0).json()["agent_model"], "gpt-5.6-terra");
    assert!(run.error_text().contains("config.json is not used"), "{run}");
}
