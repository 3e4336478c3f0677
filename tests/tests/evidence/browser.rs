//! The page of a bundle in a real browser: it shows every image, and nothing in it runs or asks for anything.

use std::io::{Cursor, Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use attache_tests::{browser, gate};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::json;

use crate::folder::Place;
use crate::sidecars::sidecar;

fn dom(place: &Place, page: &Path) -> String {
    browser::dom(&place.at(""), page)
}

/// How many pixels have about this colour.
fn pixels_of(shown: &RgbImage, colour: [u8; 3]) -> usize {
    let near = |pixel: &&Rgb<u8>| pixel.0.iter().zip(colour).all(|(is, wanted)| is.abs_diff(wanted) <= 3);
    shown.pixels().filter(near).count()
}

fn flat(width: u32, height: u32, colour: [u8; 3], format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::from_pixel(width, height, Rgb(colour)).write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// Who came to a server.
#[derive(Default)]
struct Visits {
    connections: AtomicUsize,
    requests: AtomicUsize,
}

/// A server that counts who comes, and has nothing.
fn server() -> (u16, Arc<Visits>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, visits) = (listener.local_addr().unwrap().port(), Arc::<Visits>::default());
    let counted = visits.clone();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.connections.fetch_add(1, Ordering::SeqCst);
            // Some come and stay silent, and must not keep the others waiting.
            let counted = counted.clone();
            std::thread::spawn(move || {
                if stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0) {
                    counted.requests.fetch_add(1, Ordering::SeqCst);
                    let nothing = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                    let _ = stream.write_all(nothing);
                }
            });
        }
    });
    (port, visits)
}

#[test]
fn slow_the_view_in_a_browser() {
    if !gate::slow() || !gate::have(&["chromium"]) {
        return;
    }
    let (port, visits) = server();
    let (address, spelled) = (format!("http:\\\\127.0.0.1:{port}"), format!("http:&#47;&#47;127.0.0.1:{port}&#47;"));
    let hostile = [
        "\"><img src=x onerror=document.title='owned'>".to_owned(),
        format!("\"><img src=\"{address}\\a\">"),
        format!("<img src={spelled}b>"),
        format!("<link rel=stylesheet href={spelled}c>"),
        format!("<iframe src={spelled}d>"),
        "<style>img{display:none}".to_owned(),
        "<script>document.title='owned'".to_owned(),
    ];
    // That would leave the page, which no policy forbids.
    let leaving = format!("<meta http-equiv=refresh content=\"0;url={spelled}e\">");
    let place = Place::with(&[]);
    let mut colours = Vec::new();
    for (number, name) in hostile.iter().chain([&leaving]).enumerate() {
        let step = 24 * number as u8;
        let (colour, format, size) = match number % 3 {
            0 => ([200, step, 40], ImageFormat::Png, (900, 300)),
            1 => ([30, 200, step], ImageFormat::Jpeg, (300, 400)),
            _ => ([step, 60, 210], ImageFormat::Png, (120, 90)),
        };
        let name = format!("{number}{name}.{}", if format == ImageFormat::Png { "png" } else { "jpg" });
        place.write(&format!("in/{name}"), flat(size.0, size.1, colour, format));
        place.write(&format!("in/{name}.txt"), "skipped");
        if number == 0 {
            sidecar(&place, &name, |claims| {
                let pixels = json!({"width": size.0, "height": size.1});
                (claims["viewport"], claims["pixels"]) = (pixels.clone(), pixels);
                claims["source_url"] = json!(format!("http://127.0.0.1:{port}/f"));
            });
        }
        colours.push(colour);
    }
    place.run("read in --workdir out --view").expect_code(0);
    let page = place.at("out/view.html");

    let shown = dom(&place, &page);
    let title = format!("<title>Image evidence, {} images</title>", colours.len());
    assert!(shown.contains(&title) && !shown.contains("<script"), "{shown}");
    assert_eq!((shown.matches("<img ").count(), shown.matches("<style>").count()), (colours.len(), 1));
    let dark = ["--blink-settings=preferredColorScheme=0"];
    for (width, flags, ground) in [(1200, &[][..], [0xf6, 0xf7, 0xf9]), (500, &dark[..], [0x0f, 0x12, 0x16])] {
        let shown = browser::screenshot(&place.at(""), &page, width, flags);
        let shown = image::load_from_memory(&shown).unwrap().into_rgb8();
        // The style is the one that its hash allows.
        assert_eq!(shown.get_pixel(2, 2).0, ground);
        for colour in &colours {
            let found = pixels_of(&shown, *colour);
            assert!(found >= 90 * 120 * 9 / 10, "{colour:?} covers {found} pixels at a width of {width}");
        }
    }
    assert_eq!(visits.connections.load(Ordering::SeqCst), 0, "the page asked for nothing");

    // The policy alone would have done, had a name become markup. Ahead of a frame, which the policy then forbids, a browser may still
    // connect; it says nothing there.
    let broken = std::fs::read_to_string(&page).unwrap().replace("<main>", &format!("<main>{}", hostile.concat()));
    place.write("broken.html", broken);
    let shown = dom(&place, &place.at("broken.html"));
    assert!(shown.contains("onerror=") && shown.contains(&title), "{shown}");
    assert_eq!(visits.requests.load(Ordering::SeqCst), 0, "the policy lets nothing out");

    // Without either the same names do what they say, so that the silence above means something.
    place.write("naive.html", format!("<!doctype html><title>naive</title>{}", hostile.concat()));
    let shown = dom(&place, &place.at("naive.html"));
    assert!(shown.contains("<title>owned</title>"), "{shown}");
    assert!(visits.requests.load(Ordering::SeqCst) > 0);
}
