//! The page of a conversation in a real browser: every picture is shown, and nothing in a text runs.

use std::io::Cursor;

use attache_tests::message::inline_image;
use attache_tests::{browser, gate};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;

use crate::session::Session;

fn flat(colour: [u8; 3], format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(600, 300, Rgb(colour)).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

#[test]
fn slow_the_page_of_a_conversation_in_a_browser() {
    if !gate::slow() || !gate::have(&["chromium"]) {
        return;
    }
    let session = Session::new();
    let hostile = "</div><img src=x onerror=document.title='owned'><script>document.title='owned'</script><style>img{display:none}";
    let (seen, gone) = ([[200, 30, 40], [30, 180, 90], [40, 60, 210]], [210, 120, 20]);
    for (colour, format) in
        [seen[0], seen[1], seen[2], gone].into_iter().zip([ImageFormat::Png, ImageFormat::Jpeg].into_iter().cycle())
    {
        let image = inline_image("", &flat(colour, format));
        session.append(&[json!({"role": hostile, "content": [{"type": "text", "text": hostile}, image]})]);
    }
    let shown = session.json("show");
    session.json(&format!("withhold {}", shown["images"][3]["sha256"].as_str().unwrap()));
    session.json("view --out page.html --keep 1");
    let page = session.path("page.html");
    let dom = browser::dom(&session.path(""), &page);
    assert!(dom.contains("<title>Conversation, 4 messages, 4 images</title>") && !dom.contains("<script"), "{dom}");
    let dark = ["--blink-settings=preferredColorScheme=0"];
    for (width, flags, ground) in [(1200, &[][..], [0xf6, 0xf7, 0xf9]), (500, &dark[..], [0x0f, 0x12, 0x16])] {
        let shot = browser::screenshot(&session.path(""), &page, width, flags);
        let shot = image::load_from_memory(&shot).unwrap().into_rgb8();
        // The style is the one that its hash allows.
        assert_eq!(shot.get_pixel(2, 2).0, ground);
        let of = |colour: [u8; 3]| {
            shot.pixels()
                .filter(|pixel| pixel.0.iter().zip(colour).all(|(is, wanted)| is.abs_diff(wanted) <= 3))
                .count()
        };
        for colour in seen {
            assert!(of(colour) > 200 * 100, "{colour:?} covers {} pixels at a width of {width}", of(colour));
        }
        assert!(of(gone) < 100, "a withheld image is nowhere to be seen");
    }
    // Without the escaping and the policy the same text does what it says, so that the silence above means something.
    std::fs::write(session.path("naive.html"), format!("<!doctype html><title>naive</title>{hostile}")).unwrap();
    assert!(browser::dom(&session.path(""), &session.path("naive.html")).contains("<title>owned</title>"));
}

#[test]
fn slow_the_demos_page_in_a_browser() {
    if !gate::slow() || !gate::have(&["chromium"]) {
        return;
    }
    let session = Session::new();
    session.json_alone("demo demo");
    let html = std::fs::read_to_string(session.path("demo/view.html")).unwrap();
    let images = html.matches("<img ").count();
    // The page lets no script run, so that a copy without its policy counts the pictures that the browser could draw.
    let (before, policy) = html.split_once("<meta http-equiv=").unwrap();
    let after = policy.split_once('>').unwrap().1;
    let count = "<script>onload = () => document.title = [...document.images].filter(i => i.naturalWidth > 0).length + ' drawn'</script>";
    std::fs::write(session.path("counted.html"), format!("{before}{after}{count}")).unwrap();
    let dom = browser::dom(&session.path(""), &session.path("counted.html"));
    assert!(images > 5 && dom.contains(&format!("<title>{images} drawn</title>")), "{images}");
}
