use super::*;
use crate::testing::{SAMPLE_SIZE, images, png_header, png_of, undecodable, webp_chunk, webp_of};
use crate::{fixtures, sniff};
use proptest::prelude::*;

fn size(width: u32, height: u32) -> Dimensions {
    Dimensions { width, height }
}

fn reason(bytes: &[u8], media_type: MediaType) -> String {
    undecodable(&dimensions(bytes, media_type).unwrap_err()).to_owned()
}

/// A JPEG from `SOI` to its frame header and no further.
fn jpeg_head(between: &[u8], code: u8, width: u16, height: u16) -> Vec<u8> {
    let [w0, w1] = width.to_be_bytes();
    let [h0, h1] = height.to_be_bytes();
    [&[0xff, 0xd8], between, &[0xff, code, 0, 11, 8, h0, h1, w0, w1, 1, 1, 0x11, 0]].concat()
}

fn segment(code: u8, len: u16) -> Vec<u8> {
    let mut segment = vec![0xff, code];
    segment.extend_from_slice(&len.to_be_bytes());
    segment.resize(2 + usize::from(len), 0xd8);
    segment
}

#[test]
fn samples_and_fixtures() {
    for (name, media_type, bytes) in images() {
        let expect = match name.as_str() {
            "a made image/png" => size(8, 8),
            "a made image/jpeg" => size(64, 64),
            "a made image/gif" => size(4, 4),
            "a made image/webp" => size(16, 16),
            _ => SAMPLE_SIZE,
        };
        assert_eq!(dimensions(&bytes, media_type), Ok(expect), "{name}");
    }
}

#[test]
fn only_the_header_has_to_be_there() {
    let heads = [(MediaType::Png, 8 + 8 + 13), (MediaType::Gif, 13), (MediaType::Webp, 12 + 8 + 5)];
    for (media_type, head) in heads {
        let bytes = fixtures::of(media_type);
        assert!(dimensions(&bytes[..head], media_type).is_ok(), "{media_type}");
        for len in 0..head {
            assert!(dimensions(&bytes[..len], media_type).is_err(), "{len} bytes of {media_type}");
        }
    }
}

#[test]
fn a_jpeg_of_every_kind_of_frame() {
    for code in 0xc0..=0xcf {
        let bytes = jpeg_head(&[], code, 300, 200);
        match code {
            // Tables and extensions that share the range.
            0xc4 | 0xc8 | 0xcc => assert!(dimensions(&bytes, MediaType::Jpeg).is_err(), "{code:x}"),
            _ => assert_eq!(dimensions(&bytes, MediaType::Jpeg), Ok(size(300, 200)), "{code:x}"),
        }
    }
}

#[test]
fn a_jpeg_with_a_megabyte_before_its_frame() {
    let between: Vec<u8> = (0..16).flat_map(|_| segment(0xef, 0xffff)).collect();
    let bytes = jpeg_head(&between, 0xc0, 300, 200);
    assert!(bytes.len() > 1 << 20);
    assert_eq!(dimensions(&bytes, MediaType::Jpeg), Ok(size(300, 200)));
}

#[test]
fn a_jpeg_with_fill_bytes_before_markers() {
    let fill = [vec![0xff; 100], segment(0xe1, 20), vec![0xff; 3]].concat();
    assert_eq!(dimensions(&jpeg_head(&fill, 0xc2, 7, 9), MediaType::Jpeg), Ok(size(7, 9)));
}

#[test]
fn jpegs_without_a_readable_frame() {
    let cases: &[(&[u8], &str)] = &[
        (b"\xff\xd8\xff", "it ends after 3 bytes, before its end marker"),
        (b"\xff\xd8\xff\xd9", "it ends without a frame header"),
        (b"\xff\xd8\xff\xe0\0\x01", "the segment of marker 224 at offset 4 claims 1 bytes"),
        (b"\xff\xd8\xff\xe0\xff\xff1234", "it ends after 10 bytes, before its end marker"),
        (b"\xff\xd8\xff\xe0\0\x02\0\0", "no marker at offset 6, where one has to be"),
        (b"\xff\xd8\xff\0", "no marker at offset 2, where one has to be"),
        (b"\xff\xd8\xff\xd8", "a second image begins inside it, at offset 2"),
        (b"\xff\xd8\xff\xc0\0\x04\x08\0", "its frame header has 2 bytes"),
        (b"\xff\xd8\xff\xc0\0\x08\x08\0\x01\0\x01\x03", "its frame header has 6 bytes for 3 components"),
        (b"\xff\xd8\xff\xda\0\x02\x12\xff\xd9", "its first scan comes before its frame header"),
    ];
    for (bytes, expect) in cases {
        assert_eq!(reason(bytes, MediaType::Jpeg), *expect, "{bytes:x?}");
    }
}

#[test]
fn the_three_kinds_of_webp() {
    let lossy =
        [&[0x10, 0, 0, 0x9d, 0x01, 0x2a][..], &300_u16.to_le_bytes(), &(200_u16 | 0x4000).to_le_bytes()].concat();
    let lossless = [&[0x2f][..], &(299_u32 | 199 << 14).to_le_bytes()].concat();
    let extended = [&[0, 0, 0, 0][..], &299_u32.to_le_bytes()[..3], &199_u32.to_le_bytes()[..3]].concat();
    for (kind, data) in [(b"VP8 ", &lossy), (b"VP8L", &lossless), (b"VP8X", &extended)] {
        let bytes = webp_of(&[webp_chunk(kind, data)]);
        assert_eq!(dimensions(&bytes, MediaType::Webp), Ok(size(300, 200)), "{kind:?}");
    }
    let largest = [&[0, 0, 0, 0][..], &[0xff; 6]].concat();
    assert_eq!(dimensions(&webp_of(&[webp_chunk(b"VP8X", &largest)]), MediaType::Webp), Ok(size(1 << 24, 1 << 24)));

    let mut not_a_key_frame = lossy.clone();
    not_a_key_frame[0] |= 1;
    let expect = "its image does not begin with a key frame";
    assert_eq!(reason(&webp_of(&[webp_chunk(b"VP8 ", &not_a_key_frame)]), MediaType::Webp), expect);
    let expect = "its lossless image has no valid signature";
    assert_eq!(reason(&webp_of(&[webp_chunk(b"VP8L", &[0x2e, 0, 0, 0, 0])]), MediaType::Webp), expect);
    assert_eq!(reason(&webp_of(&[webp_chunk(b"VP8L", &[0x2f, 0, 0, 0, 0x20])]), MediaType::Webp), expect);
    let expect = "its first chunk is none of VP8, VP8L, VP8X";
    assert_eq!(reason(&webp_of(&[webp_chunk(b"EXIF", &lossy)]), MediaType::Webp), expect);
}

#[test]
fn a_zero_side_is_an_error() {
    let expect = |width, height| format!("its header says {width}x{height} pixels");
    for (width, height) in [(0, 1), (1, 0), (0, 0)] {
        let png = png_of(&[png_header(width, height, 8, 2)]);
        assert_eq!(reason(&png, MediaType::Png), expect(width, height));
        let jpeg = jpeg_head(&[], 0xc0, width as u16, height as u16);
        assert_eq!(reason(&jpeg, MediaType::Jpeg), expect(width, height));
        let gif = [b"GIF89a", &(width as u16).to_le_bytes()[..], &(height as u16).to_le_bytes(), &[0; 3]].concat();
        assert_eq!(reason(&gif, MediaType::Gif), expect(width, height));
        let head = [0, 0, 0, 0x9d, 0x01, 0x2a, width as u8, 0, height as u8, 0];
        assert_eq!(reason(&webp_of(&[webp_chunk(b"VP8 ", &head)]), MediaType::Webp), expect(width, height));
    }
}

#[test]
fn png_headers_that_cannot_be() {
    assert_eq!(
        reason(&png_of(&[png_header(1 << 31, 1, 8, 2)]), MediaType::Png),
        "its header says 2147483648x1 pixels, and a side is at most 2147483647"
    );
    let noise: Vec<u8> =
        b"\x89PNG\r\n\x1a\n".iter().copied().chain((0..2048_u32).map(|i| (i * 31 % 251) as u8)).collect();
    assert_eq!(reason(&noise, MediaType::Png), "its first chunk is not a 13-byte IHDR");
    let existing = [
        (0, 1),
        (0, 2),
        (0, 4),
        (0, 8),
        (0, 16),
        (2, 8),
        (2, 16),
        (3, 1),
        (3, 2),
        (3, 4),
        (3, 8),
        (4, 8),
        (4, 16),
        (6, 8),
        (6, 16),
    ];
    for colour_type in 0..=7 {
        for depth in 0..=32 {
            let png = png_of(&[png_header(3, 2, depth, colour_type)]);
            let exists = existing.contains(&(colour_type, depth));
            assert_eq!(dimensions(&png, MediaType::Png).is_ok(), exists, "type {colour_type}, depth {depth}");
        }
    }
}

#[test]
fn bytes_of_another_type_or_of_none() {
    for declared in MediaType::ALL {
        assert_eq!(reason(b"", declared), "it is empty (0 bytes)");
        assert_eq!(reason(b"<html>", declared), format!("its 6 bytes do not begin like {declared}"));
        for actual in MediaType::ALL.into_iter().filter(|actual| *actual != declared) {
            let bytes = fixtures::of(actual);
            assert_eq!(reason(&bytes, declared), format!("its {} bytes do not begin like {declared}", bytes.len()));
        }
    }
}

#[test]
fn pixels_of_the_largest_image_fit() {
    assert_eq!(size(u32::MAX, u32::MAX).pixels(), 18_446_744_065_119_617_025);
    assert_eq!(size(1280, 800).to_string(), "1280x800");
}

proptest! {
    #[test]
    fn any_bytes_behind_a_magic_are_read_without_a_panic(which in 0_usize..4, rest in proptest::collection::vec(any::<u8>(), 0..300)) {
        let media_type = MediaType::ALL[which];
        let magic: &[u8] = [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF89a", b"RIFF\x40\0\0\0WEBP"][which];
        let bytes = [magic, &rest].concat();
        prop_assert_eq!(sniff(&bytes), Some(media_type));
        if let Ok(size) = dimensions(&bytes, media_type) {
            prop_assert!(size.width > 0 && size.height > 0);
        }
    }
}
