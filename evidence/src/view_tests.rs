use std::io;
use std::path::PathBuf;

use attache_media::fixtures::png;
use regex::Regex;
use serde_json::json;

use super::*;
use crate::manifest::{Stage, Status};
use crate::run::{Fault, RunFailure, RunOptions, Step, run_with};
use crate::{ErrorKind, Options};

struct Case {
    place: tempfile::TempDir,
}

impl Case {
    fn with(names: &[&str]) -> Self {
        let case = Self { place: tempfile::tempdir().unwrap() };
        std::fs::create_dir(case.at("in")).unwrap();
        for (number, name) in names.iter().enumerate() {
            std::fs::write(case.at("in").join(name), png(4, 1 + number as u32, number as u64)).unwrap();
        }
        case
    }

    fn at(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn run(&self, shrink: Shrink<'_>, fault: Fault<'_>) -> Result<(Manifest, Option<PathBuf>), Box<RunFailure>> {
        let asked = RunOptions { workdir: Some(self.at("out")), reproducible: true };
        run_with(&self.at("in"), &asked, &Options::default(), Some(shrink), fault)
    }

    fn page(&self) -> String {
        std::fs::read_to_string(self.at("out/view.html")).unwrap()
    }

    /// The bundle's own files, sorted.
    fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.at("out")).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn is_good(&self) -> bool {
        crate::verify(&self.at("out"), &Options::default()).unwrap().ok
    }
}

/// Small pictures that are what they show.
fn same(bytes: &[u8]) -> Result<Vec<u8>, String> {
    Ok(bytes.to_vec())
}

fn fine(_: Step) -> io::Result<()> {
    Ok(())
}

fn full() -> io::Error {
    io::Error::from(io::ErrorKind::StorageFull)
}

#[test]
fn a_small_page() {
    let case = Case::with(&["slide2.png", "slide10.png", "evil <b>&\u{202e}gnp.png"]);
    let claimed = std::fs::read(case.at("in/slide2.png")).unwrap();
    let sidecar = json!({
        "version": 1,
        "image_sha256": hex::encode(Sha256::digest(&claimed)),
        "producer": {"name": "synthetic", "version": "1.0"},
        "observed_at": "2026-09-10T12:34:56Z",
        "source_url": "https://user:pw@example.com/p?t=secret#f",
        "final_url": null,
        "viewport": {"width": 4, "height": 1},
        "pixels": {"width": 4, "height": 1},
        "scale": 1,
        "mode": "viewport",
        "region": null,
        "readiness_warnings": ["fonts_pending", "occluded"],
        "content_trust": "untrusted",
        "derived_from": null,
    });
    std::fs::write(case.at("in/slide2.png.capture.json"), sidecar.to_string()).unwrap();
    std::fs::write(case.at("in/<script>.txt"), "x").unwrap();
    std::fs::rename(case.at("in/slide10.png"), case.at("in/slide10.jpg")).unwrap();
    let (manifest, view) = case.run(&same, &fine).unwrap();
    assert_eq!(view, Some(case.at("out").canonicalize().unwrap().join("view.html")));
    assert_eq!(case.files(), [".agent", "images", "manifest.json", "view.html"], "nothing temporary is left");
    assert!(case.is_good(), "the page is no part of the evidence");
    assert!(manifest.stages_completed == Stage::Recovery.before(), "the manifest was there before");

    let page = case.page();
    assert!(!page.contains(case.place.path().to_str().unwrap()), "no absolute path");
    // The style is allowed by its hash, and nothing else is.
    let (_, style) = page.split_once("<style>").unwrap();
    let (style, _) = style.split_once("</style>").unwrap();
    let hash = base64_simd::STANDARD.encode_to_string(Sha256::digest(style));
    assert!(page.contains(&format!("style-src 'sha256-{hash}';")));
    insta::assert_snapshot!(page.replace(style, "…").replace(&hash, "…"));
}

/// Every tag is one of ours, with attributes of ours.
fn assert_only_ours(page: &str) {
    let tag = Regex::new(r#"^</?(?:html|head|body|title|style|header|main|section|article|nav|footer|h[1-4]|p|strong|code|ul|ol|li|dl|dt|dd|div|table|caption|thead|tbody|tr|th|td|a|img|bdi|span|meta|!doctype html)(?: (?:lang|charset|http-equiv|content|name|class|id|aria-labelledby|aria-label|href|scope|src|width|height|alt)="[^"<>]*")*>$"#).unwrap();
    for found in Regex::new("<[^>]*>").unwrap().find_iter(page) {
        assert!(tag.is_match(found.as_str()), "{}", found.as_str());
    }
    for link in Regex::new(r#"(?:href|src)="([^"]*)""#).unwrap().captures_iter(page) {
        assert!(link[1].starts_with('#') || link[1].starts_with("data:image/png;base64,"), "{}", &link[1]);
    }
}

#[test]
fn no_name_is_markup() {
    let names = [
        "\"><img src=x onerror=document.title='owned'>.png",
        "<script>document.title='owned'<\\script>.png",
        "' onload='x.png",
        "--><svg onload=x>.png",
        "&lt;b&gt;&#60;b&#62;.png",
        "<base href=x>.png",
        "<style>*{display:none}.png",
        "{{x}}${x}<%x%>.png",
        "\u{202e}gnp\u{2066}\n\t\u{1b}]0;x\u{7}.png",
    ];
    let case = Case::with(&names);
    for name in names {
        std::fs::write(case.at("in").join(format!("{name}.txt")), "x").unwrap();
        let wrong = case.at("in").join(name.replace(".png", ".jpg"));
        std::fs::write(wrong, png(4, 4, 9)).unwrap();
    }
    let refused: Shrink<'_> = &|_| Err("<img src=x>\u{202e}".to_owned());
    for shrink in [&same as Shrink<'_>, refused] {
        case.run(shrink, &fine).unwrap();
        let page = case.page();
        assert_only_ours(&page);
        for never in ["<script", "<svg", "<base", "onerror=document.title='", "\u{202e}", "\u{2066}", "\u{1b}", "\u{7}"]
        {
            assert!(!page.contains(never), "{never}");
        }
        assert!(page.contains("&quot;&gt;&lt;img src=x onerror=document.title=&#39;owned&#39;&gt;.png"));
        for number in ["U+202E", "U+2066", "U+000A", "U+001B"] {
            assert!(page.contains(&format!("<span class=\"hidden\">{number}</span>")), "{number}");
        }
        std::fs::remove_dir_all(case.at("out")).unwrap();
    }
}

#[test]
fn an_image_without_thumbnail_says_why() {
    let case = Case::with(&["1.png", "2.png"]);
    case.run(&|bytes| if bytes == png(4, 1, 0) { Err("it has <no> colours".to_owned()) } else { same(bytes) }, &fine)
        .unwrap();
    let page = case.page();
    assert!(page.contains("No thumbnail: it has &lt;no&gt; colours"), "{page}");
    assert_eq!((page.matches("<img ").count(), page.matches("<article ").count()), (1, 2));
    let case = Case::with(&["1.png"]);
    case.run(&|_| Ok(b"GIF89".to_vec()), &fine).unwrap();
    assert!(case.page().contains("No thumbnail: "));
}

#[test]
fn a_page_that_fails_leaves_the_bundle_complete() {
    let case = Case::with(&["1.png"]);
    let failure = case.run(&same, &|step| if step == Step::View { Err(full()) } else { Ok(()) }).unwrap_err();
    assert!(failure.error.to_string().starts_with("view write failed: "), "{}", failure.error);
    assert_eq!((failure.failed_stage, failure.error.kind()), (Stage::View, ErrorKind::Operation));
    assert_eq!(failure.stages_completed, Stage::View.before());
    assert_eq!((failure.stages_completed.last(), failure.view), (Some(&Stage::Recovery), None));
    assert!(failure.manifest_written && failure.data.unwrap().status == Status::Complete);
    assert!(case.is_good() && case.files() == [".agent", "images", "manifest.json"]);

    // A copy that was changed since is not shown as if it were evidence.
    let case = Case::with(&["1.png", "2.png"]);
    let change = |step| match step {
        Step::Recovery => std::fs::write(case.at("out/images/002-2.png"), png(4, 2, 99)),
        _ => Ok(()),
    };
    let failure = case.run(&same, &change).unwrap_err();
    assert!(
        failure.error.to_string().starts_with("view failed: images/002-2.png: its sha256 is "),
        "{}",
        failure.error
    );
    assert_eq!((failure.failed_stage, failure.error.kind()), (Stage::View, ErrorKind::Input));
    assert!(!case.at("out/view.html").exists());
}

#[test]
fn a_page_that_is_there_is_not_replaced() {
    let case = Case::with(&["1.png"]);
    let theirs = |step| match step {
        Step::View => std::fs::write(case.at("out/view.html"), "theirs"),
        _ => Ok(()),
    };
    let failure = case.run(&same, &theirs).unwrap_err();
    assert_eq!((failure.failed_stage, failure.error.kind()), (Stage::View, ErrorKind::Operation));
    assert_eq!(case.page(), "theirs");
    assert_eq!(case.files(), [".agent", "images", "manifest.json", "view.html"], "nothing temporary is left");
}

#[test]
fn a_partial_bundle_says_so_loudly() {
    let case = Case::with(&["1.png", "2.png", "3.png"]);
    let failure = case.run(&same, &|step| if step == Step::Copy(3) { Err(full()) } else { Ok(()) }).unwrap_err();
    assert_eq!(
        (failure.failed_stage, failure.view),
        (Stage::Copy, Some(case.at("out").canonicalize().unwrap().join("view.html")))
    );
    let page = case.page();
    assert_only_ours(&page);
    for part in [
        "<title>Partial: Image evidence, 2 images</title>",
        "<p class=\"alarm\"><strong>This bundle is partial.</strong> The read ended while images were copied: those after [image 2] are missing. Do not",
        "<li><strong>The read ended while images were copied: those after [image 2] are missing.</strong></li>",
        "<code>read_incomplete</code>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(case.is_good());

    let case = Case::with(&["1.png", "2.png"]);
    let both = |step| if matches!(step, Step::Copy(2) | Step::View) { Err(full()) } else { Ok(()) };
    let failure = case.run(&same, &both).unwrap_err();
    assert_eq!((failure.failed_stage, failure.view), (Stage::Copy, None), "what ended the read is the error");
    assert!(failure.error.to_string().starts_with("image copy failed: "), "{}", failure.error);
    assert_eq!(failure.warnings.last().unwrap().code, "view_unavailable");
    assert!(failure.manifest_written && case.is_good());
}

#[test]
fn reproducible_pages_are_equal() {
    let page = |_| {
        let case = Case::with(&["1.png", "2.png"]);
        case.run(&same, &fine).unwrap();
        case.page()
    };
    let pages = [0, 1].map(page);
    assert_eq!(pages[0], pages[1]);
}
