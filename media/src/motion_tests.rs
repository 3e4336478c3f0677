use super::*;
use crate::MediaType;
use crate::testing::{SAMPLES, png_chunk, png_header, png_of, sample, type_of, webp_chunk, webp_of};

const fn animated(frames: u64) -> Motion {
    Motion::Animated { frames: Some(frames) }
}

#[test]
fn samples() {
    for (name, bytes) in SAMPLES {
        let expect = if name.starts_with("three-frames") { animated(3) } else { Motion::Still };
        assert_eq!(motion(bytes), expect, "{name}");
    }
    for (bytes, what) in [(&b""[..], "nothing"), (b"\xff\xd8\xff", "a JPEG's first bytes"), (b"plain", "text")] {
        assert_eq!(motion(bytes), Motion::Still, "{what}");
    }
}

#[test]
fn nothing_is_seen_in_a_cut_file_that_is_not_there() {
    for (name, bytes) in SAMPLES {
        let whole = motion(bytes);
        for len in 0..bytes.len() {
            match (motion(&bytes[..len]), whole) {
                (Motion::Still, _) => {}
                (Motion::Animated { .. }, Motion::Animated { .. }) => {}
                found => panic!("{name} cut to {len}: {found:?}"),
            }
        }
    }
}

#[test]
fn pngs() {
    let header = || png_header(1, 1, 8, 0);
    let actl = |frames: u32| png_chunk(b"acTL", &[frames.to_be_bytes(), [0; 4]].concat());
    let fctl = || png_chunk(b"fcTL", &[0; 26]);
    let (pixels, end) = (|| png_chunk(b"IDAT", b"x"), || png_chunk(b"IEND", b""));
    let cases = [
        ("no animation", png_of(&[header(), pixels(), end()]), Motion::Still),
        ("one frame, the default image", png_of(&[header(), actl(1), fctl(), pixels(), end()]), Motion::Still),
        ("two frames", png_of(&[header(), actl(2), fctl(), pixels(), end()]), animated(2)),
        ("one hidden frame", png_of(&[header(), actl(1), pixels(), fctl(), end()]), animated(2)),
        ("two hidden frames", png_of(&[header(), actl(2), pixels(), end()]), animated(3)),
        ("announced after the pixels", png_of(&[header(), pixels(), actl(2), end()]), Motion::Still),
    ];
    for (what, bytes, expect) in cases {
        assert_eq!(motion(&bytes), expect, "{what}");
    }
}

#[test]
fn webps() {
    let head = |flags: u8| webp_chunk(b"VP8X", &[flags, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let (anim, frame) = (|| webp_chunk(b"ANIM", &[0; 6]), || webp_chunk(b"ANMF", &[0; 16]));
    let cases = [
        ("not animated", webp_of(&[head(0)]), Motion::Still),
        ("says so, and has no frame", webp_of(&[head(2)]), Motion::Animated { frames: None }),
        ("one frame", webp_of(&[head(2), anim(), frame()]), animated(1)),
        ("two frames", webp_of(&[head(2), anim(), frame(), frame()]), animated(2)),
        ("does not say so", webp_of(&[head(0), anim(), frame(), frame()]), animated(2)),
    ];
    for (what, bytes, expect) in cases {
        assert_eq!(motion(&bytes), expect, "{what}");
    }
}

#[test]
fn jpegs() {
    let names = || SAMPLES.iter().map(|(name, _)| *name).filter(|name| type_of(name) == MediaType::Jpeg);
    for name in names() {
        let one = sample(name);
        let with = |rest: &[&[u8]]| [&[&one[..]], rest].concat().concat();
        assert_eq!(motion(&with(&[&one])), animated(2), "{name} twice");
        assert_eq!(motion(&with(&[&[0; 500], &one, b"\xff\xd8\xff", &one])), animated(3), "{name} with padding");
        assert_eq!(motion(&with(&[&one[..one.len() / 2]])), Motion::Still, "{name} and a half");
        assert_eq!(motion(&with(&[b"SEFT\xff\xd8\xff\xe0 a trailer"])), Motion::Still, "{name} with a trailer");
        let many: Vec<&[u8]> = std::iter::repeat_n(&one[..], 40).collect();
        assert_eq!(motion(&with(&many)), Motion::Animated { frames: None }, "{name} many times");
    }
}
