use std::io::Cursor;
use std::sync::LazyLock;

use image::codecs::{gif::GifDecoder, webp::WebPDecoder};
use image::{AnimationDecoder as _, GrayImage, ImageFormat, ImageReader};

use super::*;

struct Sample {
    look: Look,
    number: u32,
    drawn: RgbImage,
    /// In the order of [`Kind::ALL`].
    files: Vec<(Kind, Vec<u8>)>,
}

/// Drawn once for all tests: a large picture takes about a second without optimisation.
static SAMPLES: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let pairs = Look::ALL.into_iter().flat_map(|look| [(look, 7), (look, 358)]);
    pairs.map(|(look, number)| sample(look, number)).collect()
});

fn sample(look: Look, number: u32) -> Sample {
    let drawn = draw(number, look);
    let files = Kind::ALL.map(|kind| (kind, encode(kind, &drawn).expect("an RGB picture can be encoded")));
    Sample { look, number, drawn, files: files.to_vec() }
}

fn decode(kind: Kind, bytes: &[u8]) -> RgbImage {
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format().expect("memory can be read");
    let expected = match kind {
        Kind::Png => ImageFormat::Png,
        Kind::Jpeg => ImageFormat::Jpeg,
        Kind::Gif => ImageFormat::Gif,
        Kind::Webp => ImageFormat::WebP,
    };
    assert_eq!(reader.format(), Some(expected));
    assert_eq!(expected.to_mime_type(), kind.media_type());
    assert!(expected.extensions_str().contains(&kind.extension()));
    let image = reader.decode().expect("the picture is sound");
    assert!(!image.color().has_alpha() || image.to_rgba8().pixels().all(|pixel| pixel.0[3] == 255));
    image.to_rgb8()
}

/// Mean distance of a channel, in levels of 255.
fn mean_error(one: &RgbImage, two: &RgbImage) -> f64 {
    let sum: u64 = one.as_raw().iter().zip(two.as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / one.as_raw().len() as f64
}

#[test]
fn every_file_decodes_to_what_was_drawn() {
    for Sample { look, drawn, files, .. } in SAMPLES.iter() {
        for (kind, bytes) in files {
            let decoded = decode(*kind, bytes);
            assert_eq!(decoded.dimensions(), look.size(), "{look:?} {kind:?}");
            let error = mean_error(drawn, &decoded);
            let allowed = match kind {
                Kind::Png | Kind::Webp => 0.0,
                Kind::Jpeg => 3.0,
                Kind::Gif => 6.0,
            };
            assert!(error <= allowed, "{look:?} {kind:?} strays by {error}");
        }
    }
}

#[test]
fn the_number_can_be_read_back_from_every_file() {
    let candidates = [0, 1, 4, 7, 9, 27, 42, 353, 356, 358, 359, 368, 388, 853, 958];
    for look in Look::ALL {
        let plaques = candidates.map(|number| (number, plaque(look, &blank_with(number, look))));
        for Sample { number, files, .. } in SAMPLES.iter().filter(|sample| sample.look == look) {
            for (kind, bytes) in files {
                let seen = plaque(look, &decode(*kind, bytes));
                let best =
                    plaques.iter().min_by_key(|(_, plaque)| differing(plaque, &seen)).expect("there are candidates");
                assert_eq!(best.0, *number, "{look:?} {kind:?}");
                // The right digits fit almost everywhere, not merely better than the wrong ones.
                let total = seen.as_raw().len();
                assert!(differing(&best.1, &seen) * 100 < total, "{look:?} {kind:?} is blurred");
            }
        }
    }
}

fn blank_with(number: u32, look: Look) -> RgbImage {
    let (width, height) = look.size();
    let mut canvas = Canvas::new(width, height);
    look.plate().paint(&mut canvas, number);
    canvas.into_image()
}

/// The area inside the rim in black and white.
fn plaque(look: Look, image: &RgbImage) -> GrayImage {
    let area = look.plate().area;
    let area = area.inset(area.height * 0.14);
    let (left, top) = (area.left as u32, area.top as u32);
    GrayImage::from_fn(area.width as u32, area.height as u32, |x, y| {
        let [red, green, blue] = image.get_pixel(left + x, top + y).0.map(u32::from);
        let light = (3 * red + 6 * green + blue) / 10;
        image::Luma([if light < 128 { 0 } else { 255 }])
    })
}

fn differing(one: &GrayImage, two: &GrayImage) -> usize {
    one.as_raw().iter().zip(two.as_raw()).filter(|(a, b)| a != b).count()
}

#[test]
fn no_two_digits_look_alike() {
    let plaques: Vec<GrayImage> = (0..10).map(|digit| plaque(Look::Sketch, &blank_with(digit, Look::Sketch))).collect();
    for (low, one) in plaques.iter().enumerate() {
        for (high, two) in plaques.iter().enumerate().skip(low + 1) {
            let ink = one.as_raw().iter().filter(|light| **light == 0).count();
            let differ = differing(one, two);
            assert!(differ * 10 > ink, "{low} and {high} differ in {differ} of {ink} pixels");
        }
    }
}

#[test]
fn a_longer_number_still_fits_the_plaque() {
    for look in Look::ALL {
        let area = look.plate().area;
        let mut ground = Canvas::new(look.size().0, look.size().1);
        look.plate().paint_ground(&mut ground);
        let without = ground.into_image();
        for number in [0, 88, 888] {
            let with = blank_with(number, look);
            let inner = area.inset(area.height * 0.08);
            let changed = with.enumerate_pixels().filter(|(x, y, pixel)| without.get_pixel(*x, *y) != *pixel);
            for (x, y, _) in changed {
                let inside = (x as f32) >= inner.left
                    && (x as f32) < inner.left + inner.width
                    && (y as f32) >= inner.top
                    && (y as f32) < inner.top + inner.height;
                assert!(inside, "{look:?} {number} touches the rim at {x}, {y}");
            }
        }
    }
}

#[test]
fn big_pictures_weigh_what_real_ones_do_and_small_ones_stay_small() {
    let big = [
        (Kind::Png, &[Look::Map, Look::Photo, Look::Screenshot][..]),
        (Kind::Webp, &[Look::Map, Look::Photo, Look::Screenshot]),
        (Kind::Jpeg, &[Look::Map, Look::Photo]),
        (Kind::Gif, &[Look::Map, Look::Photo]),
    ];
    for Sample { look, number, files, .. } in SAMPLES.iter() {
        for (kind, bytes) in files {
            let heavy = big.iter().any(|(of, looks)| of == kind && looks.contains(look));
            let light = matches!(look, Look::Chart | Look::Document | Look::Sketch);
            let allowed = match (heavy, light) {
                (true, _) => 200_000..=900_000,
                (_, true) => 1_000..=120_000,
                _ => 100_000..=300_000,
            };
            assert!(allowed.contains(&bytes.len()), "{look:?} {number} {kind:?} has {} bytes", bytes.len());
        }
    }
}

#[test]
fn the_same_arguments_give_the_same_bytes_and_other_numbers_others() {
    for Sample { look, number, files, .. } in SAMPLES.iter().filter(|sample| sample.number == 7) {
        let other =
            SAMPLES.iter().find(|sample| sample.look == *look && sample.number != *number).expect("two of each look");
        let again = sample(*look, *number);
        for (place, (kind, bytes)) in files.iter().enumerate() {
            assert!(*bytes == again.files[place].1, "{look:?} {kind:?} differs the second time");
            assert!(*bytes != other.files[place].1, "{look:?} {kind:?} ignores the number");
        }
    }
}

#[test]
fn nothing_moves() {
    for Sample { look, files, .. } in SAMPLES.iter() {
        for (kind, bytes) in files {
            match kind {
                Kind::Gif => {
                    let decoder = GifDecoder::new(Cursor::new(bytes)).expect("the picture is sound");
                    assert_eq!(decoder.into_frames().count(), 1, "{look:?}");
                    assert_eq!(bytes.last(), Some(&b';'), "{look:?} lacks the trailer");
                }
                Kind::Webp => {
                    let decoder = WebPDecoder::new(Cursor::new(bytes)).expect("the picture is sound");
                    assert!(!decoder.has_animation(), "{look:?}");
                }
                Kind::Png => assert!(!bytes.windows(4).any(|name| name == b"acTL"), "{look:?}"),
                Kind::Jpeg => {}
            }
        }
    }
}

#[test]
fn a_number_of_four_digits_is_refused() {
    for kind in Kind::ALL {
        assert!(picture(kind, MAX_NUMBER, Look::Sketch).is_ok());
        let error = picture(kind, MAX_NUMBER + 1, Look::Sketch).expect_err("1000 has four digits");
        assert!(matches!(error, Error::NumberTooLarge { number: 1000 }));
        assert_eq!(error.to_string(), "cannot draw 1000: a picture carries a number up to 999");
    }
}

#[test]
fn names_suit_files_and_differ() {
    let mut names: Vec<&str> = Look::ALL.map(Look::name).to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Look::ALL.len());
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase())));
}
