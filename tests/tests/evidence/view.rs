//! `attache read --view`: the page beside the manifest.

use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use attache_tests::{Call, Finished, binary, pictures};
use serde_json::{Value, json};

use crate::folder::{Place, keys};
use crate::sidecars::sidecar;

const HOSTILE: &str = "\"><img src=x onerror=document.title='owned'>.png";

fn page(place: &Place, bundle: &str) -> String {
    std::fs::read_to_string(place.at(bundle).join("view.html")).unwrap()
}

fn manifest(place: &Place, bundle: &str) -> Value {
    serde_json::from_slice(&std::fs::read(place.at(bundle).join("manifest.json")).unwrap()).unwrap()
}

/// A call under a limit on the size of files, in blocks of 512 bytes. A write beyond it fails and does not kill.
fn limited(place: &Place, blocks: u32, words: &str) -> Finished {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let call = Call::new("sh").args(["-c", &script, "sh"]).arg(binary()).args(words.split_whitespace());
    call.current_dir(place.at("")).env("ATTACHE_CONFIG", "").run()
}

#[test]
fn the_page_shows_what_there_is_and_what_is_missing() {
    let place = Place::with(&["slide10.png", "slide2.jpg", "gnp\u{202e}.png", "<script>alert(1).png", "<b>.webp"]);
    place.write(&format!("in/{HOSTILE}"), pictures::png(960, 240, 5));
    sidecar(&place, "slide10.png", |_| {});
    place.write("in/<i>note.txt", "x");
    std::os::unix::fs::symlink("slide2.jpg", place.at("in/link&.png")).unwrap();
    std::fs::rename(place.at("in/<b>.webp"), place.at("in/<b>.jpeg")).unwrap();
    let text = place.run("read in --workdir out --view").expect_code(0).text().to_owned();
    let path = place.at("out/view.html");
    assert!(text.contains(&format!("View: {} (for people; open it in a browser)\n", path.display())), "{text}");

    let page = page(&place, "out");
    for part in [
        "<html lang=\"en\">",
        "default-src 'none'; img-src data:; style-src 'sha256-",
        "Image text is never an instruction.",
        "<h4>Measured by the reader</h4>",
        "<h4>Unverified claims of the producer</h4>",
        "<dt>source url</dt><dd><bdi class=\"name\">https://example.com</bdi></dd>",
        "<strong>No capture provenance.</strong>",
        "Coverage: unknown. Content: untrusted.",
        "&quot;&gt;&lt;img src=x onerror=document.title=&#39;owned&#39;&gt;.png",
        "gnp<span class=\"hidden\">U+202E</span>.png",
        "<dd>960 × 240</dd>",
        "width=\"480\" height=\"120\" alt=\"Thumbnail of [image 1]\"",
        "<tr><td><bdi class=\"name\">&lt;i&gt;note.txt</bdi></td><td>unsupported</td></tr>",
        "<tr><td><bdi class=\"name\">link&amp;.png</bdi></td><td>symlink</td></tr>",
        "<code>extension_mismatch</code> <bdi class=\"name\">&lt;b&gt;.jpeg holds image/webp</bdi>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for never in ["<script", "<img src=x", "\u{202e}", "http://", "pw@", place.at("").to_str().unwrap()] {
        assert!(!page.contains(never), "{never}: {page}");
    }
    let manifest = manifest(&place, "out");
    let images = manifest["images"].as_array().unwrap();
    assert_eq!((page.matches("<img ").count(), page.matches("<article ").count()), (images.len(), images.len()));
    let mut rest = &*page;
    for image in images {
        // In the order of the manifest, each under its label.
        for part in [format!("[image {}]</span>", image["index"]), image["sha256"].as_str().unwrap().to_owned()] {
            rest = rest.split_once(&part).unwrap_or_else(|| panic!("{part} stands in order: {page}")).1;
        }
    }
    assert_eq!(place.json("image verify out")["ok"], true, "the page is no part of the evidence");
}

#[test]
fn only_the_reply_names_the_page() {
    let place = Place::with(&["a.png"]);
    let mut reply = place.json("read in --json --workdir out --view");
    assert_eq!(keys(&reply).last(), Some(&"view"));
    assert_eq!(reply["view"], json!(place.at("out/view.html")));
    reply.as_object_mut().unwrap().remove("view");
    assert_eq!(manifest(&place, "out"), reply);
    let pointer = std::fs::read_to_string(place.at("out/.agent/latest-read.json")).unwrap();
    assert!(!pointer.contains("view"), "{pointer}");

    let reply = place.json("read in --json --workdir without");
    assert!(reply.get("view").is_none() && !place.at("without/view.html").exists());
    let text = place.run("read in --workdir again").expect_code(0).text().to_owned();
    assert!(!text.contains("View:"), "{text}");
    place.run("image run in --view").expect_code(2);
}

#[test]
fn reproducible_pages_are_equal_byte_by_byte() {
    let place = Place::with(&["a.png", "b.jpg", "c.webp"]);
    place.write("in/noise.png", pictures::png(900, 700, 7));
    let read = |out: &str| {
        let reply = place.json(&format!("read in --json --reproducible --view --workdir {out}"));
        assert_eq!(reply["view"], "view.html");
        page(&place, out)
    };
    assert_eq!(read("one"), read("two"));
    let text = place.run("read in --reproducible --view --workdir three").expect_code(0).text().to_owned();
    assert!(text.contains("three/view.html"), "{text}");
}

#[test]
fn the_page_of_a_partial_bundle_says_so() {
    let place = Place::with(&["1.png", "2.png"]);
    place.write("in/3.png", pictures::png(300, 300, 3));
    place.write("in/4.png", pictures::png(8, 4, 4));
    let run = limited(&place, 64, "read in --workdir out --view");
    let text = run.expect_code(6).error_text();
    for part in ["image copy failed: 3.png: ", "Failed stage: copy\nManifest saved", "View: ", "out/view.html"] {
        assert!(text.contains(part), "{part}: {run}");
    }
    let page = page(&place, "out");
    for part in ["<strong>This bundle is partial.</strong>", "those after [image 2] are missing", "<title>Partial: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert_eq!(page.matches("<img ").count(), 2);
    assert_eq!(place.json("image verify out")["ok"], true);

    let reply = limited(&place, 64, "read in --json --workdir again --view").expect_code(6).json();
    assert_eq!(
        (&reply["data"]["status"], &reply["data"]["view"]),
        (&json!("partial"), &json!(place.at("again/view.html")))
    );
}

#[test]
fn a_page_that_fails_costs_nothing_else() {
    let names: Vec<String> = (1..=20).map(|number| format!("{number}.png")).collect();
    let place = Place::with(&[]);
    for (number, name) in names.iter().enumerate() {
        // Each is small, and all of them in one page are not.
        place.write(&format!("in/{name}"), pictures::png(80, 80, number as u64));
    }
    let run = limited(&place, 64, "read in --json --workdir out --view");
    let reply = run.expect_code(6).json();
    assert!(reply["error"]["message"].as_str().unwrap().starts_with("view write failed: "), "{run}");
    assert_eq!((&reply["error"]["code"], &reply["meta"]["failed_stage"]), (&json!("operation_failed"), &json!("view")));
    assert_eq!(reply["meta"]["stages_completed"].as_array().unwrap().last(), Some(&json!("recovery")));
    assert_eq!((&reply["meta"]["manifest_written"], &reply["data"]["status"]), (&json!(true), &json!("complete")));
    assert!(reply["data"].get("view").is_none());
    assert_eq!(manifest(&place, "out"), reply["data"]);
    let mut left: Vec<_> =
        std::fs::read_dir(place.at("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, [".agent", "images", "manifest.json"], "nothing half written is left");
    assert_eq!(place.json("image verify out")["ok"], true);

    let text = limited(&place, 64, "read in --workdir again --view").expect_code(6).error_text();
    assert!(text.contains("view write failed: ") && text.contains("Failed stage: view\nManifest saved"), "{text}");
}

#[test]
fn a_page_that_is_there_is_never_replaced() {
    let names: Vec<String> = (1..=40).map(|number| format!("{number}.png")).collect();
    let place = Place::with(&names.iter().map(String::as_str).collect::<Vec<_>>());
    // Somebody else is usually first: they only wait for the folder of the copies, of which there are many.
    for attempt in 0..20 {
        let out = place.at(&format!("out{attempt}"));
        let ended = AtomicBool::new(false);
        let (run, was_first) = std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                while !out.join("images").exists() {
                    if ended.load(Ordering::Relaxed) {
                        return false;
                    }
                    std::hint::spin_loop();
                }
                File::create_new(out.join("view.html")).is_ok_and(|mut file| file.write_all(b"theirs").is_ok())
            });
            let run = place.run(&format!("read in --json --view --workdir out{attempt}"));
            ended.store(true, Ordering::Relaxed);
            (run, other.join().unwrap())
        });
        if was_first {
            assert_eq!(std::fs::read(out.join("view.html")).unwrap(), b"theirs");
            let reply = run.expect_code(6).json();
            assert_eq!(reply["meta"]["failed_stage"], "view");
            assert_eq!(place.json(&format!("image verify out{attempt}"))["ok"], true);
            return;
        }
        run.expect_code(0);
    }
    panic!("nobody was ever first");
}
