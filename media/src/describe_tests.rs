use super::*;
use crate::{MediaType, fixtures};
use proptest::prelude::*;

#[test]
fn names() {
    let long_base64 = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5YWJjZGVmZ2hpamtsbW5vcA==\n".repeat(200);
    let late_svg = format!("<?xml version=\"1.0\"?>\n<!-- {} -->\n<svg xmlns=\"x\">", "-".repeat(500));
    let cut_character = format!("{}\u{20ac}", "a".repeat(WINDOW - 1));
    let cases: &[(&[u8], &str)] = &[
        (b"", "empty"),
        (b"\0", "an unknown format"),
        (b"<!DOCTYPE html><title>404</title>", "HTML text"),
        (b"\n  <html lang=en>", "HTML text"),
        (b"\xef\xbb\xbf<HTML>", "HTML text"),
        (b"<!doctype HTML PUBLIC \"-//W3C//DTD\">", "HTML text"),
        (b"<!-- login --><html>", "HTML text"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG text"),
        (late_svg.as_bytes(), "SVG text"),
        (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "XML text"),
        (br#"{"success":true,"data":"iVBORw0KGgo="}"#, "JSON text"),
        (b"[ {\"a\": 1} ]", "JSON text"),
        (b"[-1]", "JSON text"),
        (b"{}", "JSON text"),
        (b"[see below](x.png)", "plain text"),
        (b"{% include x %}", "plain text"),
        (b"Access denied", "plain text"),
        (b"BMW is a maker of cars and motorcycles", "plain text"),
        (b"export const Icon = () => null;", "plain text"),
        (cut_character.as_bytes(), "plain text"),
        (b"\xff\xfeh\0i\0", "plain text"),
        (b"iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB", "base64 text"),
        (b"/9j/4AAQ", "base64 text"),
        (long_base64.as_bytes(), "base64 text"),
        (b"data:image/png;base64,iVBORw0KGgo=", "a data URL"),
        (b"\x89PNG\r\n\x1a", "a damaged PNG"),
        (b"\x89PNG\n\x1a\n\0\0\0\rIHDR", "a damaged PNG"),
        (b"GIF88a", "a damaged GIF"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "WAV audio"),
        (b"RIFF\x24\0\0\0AVI LIST", "AVI video"),
        (b"RIFF", "RIFF data that is not WebP"),
        (b"%PDF-1.7", "PDF"),
        (b"PK\x03\x04\x14\0", "ZIP archive"),
        (b"II*\0\x08\0\0\0", "TIFF"),
        (b"MM\0*\0\0\0\x08", "TIFF"),
        (b"\0\0\x01\0\x01\0\x10\x10", "ICO"),
        (b"\xff\x0a\xfa", "JPEG XL"),
        (b"\xff\xd8", "an unknown format"),
        (b"\x1f\x8b\x08\0", "gzip data"),
    ];
    for (bytes, expect) in cases {
        assert_eq!(describe(bytes), *expect, "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
    }
}

#[test]
fn a_bitmap_needs_more_than_two_letters() {
    let mut bitmap = vec![0; 14 + 40];
    bitmap[..2].copy_from_slice(b"BM");
    bitmap[14] = 40;
    assert_eq!(describe(&bitmap), "BMP");
    bitmap[14] = 41;
    assert_eq!(describe(&bitmap), "an unknown format");
}

#[test]
fn an_iso_media_file_is_named_by_its_brands_not_by_the_length_of_its_first_box() {
    type Brand = &'static [u8; 4];
    let cases: &[(Brand, &[Brand], &str)] = &[
        (b"heic", &[b"mif1", b"heic"], "HEIC/HEIF"),
        (b"heix", &[], "HEIC/HEIF"),
        (b"mif1", &[b"mif1", b"heic"], "HEIC/HEIF"),
        (b"mif1", &[], "HEIC/HEIF"),
        (b"mif1", &[b"mif1", b"miaf", b"avif"], "AVIF"),
        (b"avif", &[b"mif1", b"miaf"], "AVIF"),
        (b"avis", &[b"msf1", b"iso8"], "AVIF"),
        (b"isom", &[b"iso2", b"avc1", b"mp41"], "MP4 video"),
        (b"mp42", &[], "MP4 video"),
        (b"qt  ", &[b"qt  "], "QuickTime video"),
        (b"M4A ", &[b"isom"], "MP4 audio"),
    ];
    for &(major, compatible, expect) in cases {
        let content =
            [&major[..], &[0; 4], &compatible.iter().copied().flatten().copied().collect::<Vec<_>>()].concat();
        let exact = (content.len() as u32 + 8).to_be_bytes();
        // The right size with another box behind it, "to the end", and far more than is there.
        for (size, behind) in [(exact, &b"\0\0\0\x10metaavif"[..]), ([0; 4], b""), ([0x7f, 0, 0, 0], b"")] {
            let file = [&size[..], b"ftyp", &content, behind].concat();
            assert_eq!(describe(&file), expect, "{major:?} {compatible:?} {size:?}");
        }
        let large = [&b"\0\0\0\x01ftyp\0\0\0\0\0\0\0\x40"[..], &content].concat();
        assert_eq!(describe(&large), expect, "{major:?} with a size of eight bytes");
    }
    assert_eq!(describe(b"\0\0\0\x08ftyp"), "an unknown format");
}

#[test]
fn the_four_types_are_named_by_type() {
    for media_type in MediaType::ALL {
        assert_eq!(describe(&fixtures::of(media_type)), media_type.as_str());
    }
}

proptest! {
    #[test]
    fn any_bytes_have_a_name(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(!describe(&bytes).is_empty());
    }

    #[test]
    fn any_ftyp_box_has_a_name(size in any::<u32>(), rest in proptest::collection::vec(any::<u8>(), 0..80)) {
        let file = [&size.to_be_bytes()[..], b"ftyp", &rest].concat();
        prop_assert!(!describe(&file).is_empty());
    }
}
