use crate::testing::{SAMPLES, png_chunk, png_header, png_of, sample, type_of, undecodable, webp_chunk, webp_of};
use crate::{DEFAULT_MAX_PIXELS, Dimensions, MediaError, MediaType, Verify, fixtures, verify};

fn decode(bytes: &[u8], media_type: MediaType) -> Result<Option<Dimensions>, MediaError> {
    verify(bytes, media_type, Verify::Decode, DEFAULT_MAX_PIXELS)
}

fn passes_structure(bytes: &[u8], media_type: MediaType) -> bool {
    verify(bytes, media_type, Verify::Structure, DEFAULT_MAX_PIXELS).is_ok()
}

fn reason(bytes: &[u8], media_type: MediaType) -> String {
    undecodable(&decode(bytes, media_type).unwrap_err()).to_owned()
}

/// A PNG that holds a zlib stream of `len` zero bytes, written by the decoder crate's own encoder, row by row.
fn black_png(width: u32, height: u32, depth: png::BitDepth) -> Vec<u8> {
    use std::io::Write;

    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(depth);
    let mut writer = encoder.write_header().unwrap();
    let mut rows = writer.stream_writer().unwrap();
    let row = vec![0; (width as usize * depth as usize).div_ceil(8)];
    for _ in 0..height {
        rows.write_all(&row).unwrap();
    }
    rows.finish().unwrap();
    drop(writer);
    bytes
}

#[test]
fn a_header_that_claims_too_much_is_refused_at_once() {
    let claim = png_of(&[png_header(65_535, 65_535, 1, 0), png_chunk(b"IDAT", &[]), png_chunk(b"IEND", &[])]);
    let refused = MediaError::TooManyPixels { width: 65_535, height: 65_535, limit: DEFAULT_MAX_PIXELS };
    assert_eq!(decode(&claim, MediaType::Png), Err(refused.clone()));
    // The header alone is enough: what follows it is not looked at.
    assert_eq!(decode(&claim[..33], MediaType::Png), Err(refused));

    let gif = b"GIF89a\xff\xff\xff\xff\0\0\0";
    assert_eq!(decode(gif, MediaType::Gif).unwrap_err().code(), "too_many_pixels");
    let webp = webp_of(&[webp_chunk(b"VP8X", &[0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]);
    assert_eq!(decode(&webp, MediaType::Webp).unwrap_err().code(), "too_many_pixels");
    let jpeg = b"\xff\xd8\xff\xc0\0\x0b\x08\xff\xff\xff\xff\x01\x01\x11\0";
    assert_eq!(decode(jpeg, MediaType::Jpeg).unwrap_err().code(), "too_many_pixels");
}

#[test]
fn the_budget_is_inclusive() {
    for media_type in MediaType::ALL {
        let bytes = fixtures::of(media_type);
        let pixels = decode(&bytes, media_type).unwrap().unwrap().pixels();
        assert!(verify(&bytes, media_type, Verify::Decode, pixels).is_ok());
        let error = verify(&bytes, media_type, Verify::Decode, pixels - 1).unwrap_err();
        assert_eq!(error.code(), "too_many_pixels", "{media_type}");
        // Nothing is decoded at this level, so nothing is counted.
        assert!(verify(&bytes, media_type, Verify::Structure, 0).is_ok());
    }
}

#[test]
fn a_small_png_of_four_hundred_million_pixels() {
    let bytes = black_png(20_000, 20_000, png::BitDepth::One);
    assert!(bytes.len() < 100_000);
    let refused = MediaError::TooManyPixels { width: 20_000, height: 20_000, limit: DEFAULT_MAX_PIXELS };
    assert_eq!(decode(&bytes, MediaType::Png), Err(refused));
    // It is sound, and rows are decoded one at a time, so a larger budget costs no more memory.
    assert!(verify(&bytes, MediaType::Png, Verify::Decode, 400_000_000).is_ok());
}

#[test]
fn a_png_of_one_very_long_row() {
    let bytes = black_png(30_000_000, 1, png::BitDepth::Sixteen);
    assert_eq!(decode(&bytes, MediaType::Png), Ok(Some(Dimensions { width: 30_000_000, height: 1 })));
}

#[test]
fn a_gif_whose_frame_is_larger_than_its_screen() {
    let mut gif = fixtures::gif();
    let image = gif.iter().position(|&byte| byte == 0x2c).unwrap();
    gif[image + 5..image + 9].copy_from_slice(&[0xff, 0xff, 0xff, 0xff]);
    let refused = MediaError::TooManyPixels { width: 65_535, height: 65_535, limit: DEFAULT_MAX_PIXELS };
    assert_eq!(decode(&gif, MediaType::Gif), Err(refused));
    gif[image + 5..image + 9].copy_from_slice(&[5, 0, 4, 0]);
    assert_eq!(reason(&gif, MediaType::Gif), "its pixel data is damaged or too short for 5x4 pixels");
}

#[test]
fn a_webp_frame_hidden_behind_a_small_one() {
    // The alpha plane's neighbour is decoded whatever it is called: a larger image must not get in there.
    let image = fixtures::webp()[12..].to_vec();
    let head = [&[0; 6][..], &[15, 0, 0, 15, 0, 0], &[100, 0, 0, 0]].concat();
    let frame = [head, webp_chunk(b"ALPH", &[0]), webp_chunk(b"ABCD", &[0; 40]), image].concat();
    let canvas = webp_chunk(b"VP8X", &[2, 0, 0, 0, 15, 0, 0, 15, 0, 0]);
    let bytes = webp_of(&[canvas, webp_chunk(b"ANIM", &[0; 6]), webp_chunk(b"ANMF", &frame)]);
    assert_eq!(reason(&bytes, MediaType::Webp), "a frame has no image chunk where it has to be");
}

/// One changed byte in the pixels of a PNG is found by the chunk's checksum, and by that of the zlib stream where someone
/// has put the first one right.
#[test]
fn a_png_with_a_changed_pixel() {
    let good = fixtures::png(8, 8, 1);
    let idat = good.windows(4).position(|kind| kind == b"IDAT").unwrap();
    let mut bad = good.clone();
    bad[idat + 40] ^= 1;
    assert!(reason(&bad, MediaType::Png).starts_with("the checksum of chunk 2"));

    let data_end = good.len() - 12 - 4;
    let crc = crc32fast::hash(&bad[idat..data_end]);
    bad[data_end..data_end + 4].copy_from_slice(&crc.to_be_bytes());
    assert!(passes_structure(&bad, MediaType::Png));
    assert!(reason(&bad, MediaType::Png).starts_with("its pixel data is damaged or too short"));
}

#[test]
fn a_png_whose_pixels_end_early() {
    let good = fixtures::png(8, 8, 1);
    let idat = good.windows(4).position(|kind| kind == b"IDAT").unwrap();
    let data = &good[idat + 4..good.len() - 16];
    // The last four bytes are a checksum. Where they alone are missing every pixel is there, and the chunk's own checksum
    // vouches for it.
    for len in 0..data.len() - 4 {
        let cut = png_of(&[png_header(8, 8, 8, 2), png_chunk(b"IDAT", &data[..len]), png_chunk(b"IEND", &[])]);
        assert!(passes_structure(&cut, MediaType::Png));
        assert!(decode(&cut, MediaType::Png).is_err(), "{len} of {} bytes", data.len());
    }
}

/// A JPEG cut anywhere in its pixels has lost its end marker, and one that was given a new end marker lacks blocks.
#[test]
fn a_jpeg_whose_pixels_end_early() {
    for name in SAMPLES.iter().map(|(name, _)| *name).filter(|name| name.ends_with("jpg")) {
        let good = sample(name);
        assert!(decode(&good[..good.len() * 7 / 10], MediaType::Jpeg).is_err());
        // A progressive image is whole after each scan, only coarser: cut inside its first.
        let first_scan = good.windows(2).position(|pair| pair == [0xff, 0xda]).unwrap();
        let scan_end = (first_scan + 2..good.len() - 1)
            .find(|&at| good[at] == 0xff && !matches!(good[at + 1], 0 | 0xd0..=0xd7))
            .unwrap();
        let data_start = first_scan + 2 + usize::from(good[first_scan + 3]);
        for cut in data_start..scan_end - 1 {
            let mended = [&good[..cut], &[0xff, 0xd9]].concat();
            assert!(decode(&mended, MediaType::Jpeg).is_err(), "{name} cut at {cut} of {}", good.len());
        }
    }
}

#[test]
fn a_jpeg_says_what_is_missing() {
    let good = fixtures::jpeg();
    // Behind the third restart marker three rows of eight units have been read.
    let third = good.windows(2).position(|pair| pair == [0xff, 0xd2]).unwrap();
    let mended = [&good[..third + 2], &[0xff, 0xd9]].concat();
    assert!(passes_structure(&mended, MediaType::Jpeg));
    assert_eq!(reason(&mended, MediaType::Jpeg), "the data of scan 1 ends after 24 of 64 units");
    let mut out_of_turn = good.clone();
    out_of_turn[third + 1] = 0xd3;
    assert_eq!(reason(&out_of_turn, MediaType::Jpeg), "restart marker 2 is missing in scan 1, after 24 of 64 units");

    let tables = good.windows(2).position(|pair| pair == [0xff, 0xc4]).unwrap();
    let rest = tables + 2 + usize::from(good[tables + 3]);
    let without = [&good[..tables], &good[rest..]].concat();
    assert_eq!(reason(&without, MediaType::Jpeg), "scan 1 needs a table of codes that is not there");

    let frame = good.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    let mut arithmetic = good.clone();
    arithmetic[frame + 1] = 0xc9;
    assert_eq!(reason(&arithmetic, MediaType::Jpeg), "it is of a rare kind (SOF9 with 8 bits) that is not decoded");
}

#[test]
fn a_jpeg_with_endless_scans() {
    let good = sample("progressive-grey.jpg");
    // The first scan sets upper bits, so it may come again as it is.
    let scan = good.windows(2).position(|pair| pair == [0xff, 0xda]).unwrap();
    let end = (scan + 10..good.len()).find(|&at| good[at] == 0xff && good[at + 1] != 0).unwrap();
    let many = |times| [&good[..end], &good[scan..end].repeat(times), &good[end..]].concat();
    assert!(decode(&many(20), MediaType::Jpeg).is_ok());
    let many = many(200);
    assert!(passes_structure(&many, MediaType::Jpeg));
    assert_eq!(reason(&many, MediaType::Jpeg), "it has more than 100 scans");
}

/// Frames of a motion JPEG: the typical tables are meant, and they alone.
#[test]
fn jpegs_without_tables_of_codes() {
    for (name, typical) in [
        ("baseline-420.jpg", true),
        ("baseline-444-restarts.jpg", true),
        ("orientation-6.jpg", true),
        ("baseline-cmyk.jpg", true),
        ("progressive-420.jpg", false),
    ] {
        let good = sample(name);
        let mut bytes = good[..2].to_vec();
        let mut at = 2;
        while good[at + 1] != 0xda {
            let end = at + 2 + usize::from(u16::from_be_bytes([good[at + 2], good[at + 3]]));
            if good[at + 1] != 0xc4 {
                bytes.extend_from_slice(&good[at..end]);
            }
            at = end;
        }
        bytes.extend_from_slice(&good[at..]);
        assert_eq!(decode(&bytes, MediaType::Jpeg).is_ok(), typical, "{name}");
    }
}

#[test]
fn a_gif_whose_pixels_end_early() {
    let gif = fixtures::gif();
    let image = gif.iter().position(|&byte| byte == 0x2c).unwrap();
    let (length, data) = (image + 11, image + 12);
    let whole = usize::from(gif[length]);
    // The end code may be missing; a pixel may not.
    for len in 1..whole - 1 {
        let cut = [&gif[..length], &[len as u8], &gif[data..data + len], &[0, 0x3b]].concat();
        assert!(passes_structure(&cut, MediaType::Gif));
        assert!(decode(&cut, MediaType::Gif).is_err(), "{len} of {whole} bytes");
    }
}

/// Codes that stand for long runs meet narrow rows, where several rows come out of one code.
#[test]
fn gifs_of_every_shape_that_compress_well() {
    for (width, height) in (1..=24).flat_map(|width| [1, 2, 5, 17, 64].map(|height| (width, height))) {
        for turns in [1, 2, 3, 10] {
            let count = usize::from(width) * usize::from(height);
            let pixels: Vec<u8> = (0..count).map(|at| (at * turns / count % 2) as u8).collect();
            let mut bytes = Vec::new();
            let mut encoder = gif::Encoder::new(&mut bytes, width, height, &[0, 0, 0, 255, 255, 255]).unwrap();
            for interlaced in [false, true] {
                let buffer = std::borrow::Cow::Borrowed::<[u8]>(&pixels);
                encoder.write_frame(&gif::Frame { width, height, buffer, interlaced, ..Default::default() }).unwrap();
            }
            drop(encoder);
            let size = Dimensions { width: width.into(), height: height.into() };
            assert_eq!(decode(&bytes, MediaType::Gif), Ok(Some(size)), "{size} pixels, {turns} turns");
        }
    }
}

/// Written by an encoder of wide use: codes of nine bits for pixels of two colours, in rows of nine.
#[test]
fn a_gif_whose_rows_end_inside_codes() {
    let gif = b"GIF87a\x09\0\x11\0\x81\0\0\x7f\xbf\x10\x7f\x37\x08\0\0\0\0\0\0\x2c\0\0\0\0\x09\0\x11\0\0\x08\x1f\
        \0\x03\x08\x1c\x48\xb0\xa0\xc1\x83\x08\x13\x2a\x5c\x68\x10\x80\xc3\x87\x10\x23\x4a\x9c\x48\xb1\xa2\xc5\x8b\x18\x1f\
        \x06\x04\0\x3b";
    assert_eq!(decode(gif, MediaType::Gif), Ok(Some(Dimensions { width: 9, height: 17 })));
}

#[test]
fn a_webp_whose_pixels_end_early() {
    for name in ["lossy.webp", "lossless.webp"] {
        let good = sample(name);
        let kind: [u8; 4] = good[12..16].try_into().unwrap();
        let size = u32::from_le_bytes(good[16..20].try_into().unwrap()) as usize;
        let data = &good[20..20 + size];
        for len in (10..size - 8).step_by(3) {
            let cut = webp_of(&[webp_chunk(&kind, &data[..len])]);
            assert!(passes_structure(&cut, MediaType::Webp));
            assert!(decode(&cut, MediaType::Webp).is_err(), "{name}: {len} of {size} bytes");
        }
    }
}

#[test]
fn reasons_quote_nothing_but_numbers() {
    let canary = b"CANARY";
    for (name, bytes) in SAMPLES {
        let media_type = type_of(name);
        for at in (12..bytes.len().saturating_sub(canary.len())).step_by(7) {
            let mut bad = bytes.to_vec();
            bad[at..at + canary.len()].copy_from_slice(canary);
            if let Err(error) = decode(&bad, media_type) {
                let text = error.to_string();
                assert!(text.is_ascii() && !text.contains("CAN") && !text.contains("ARY"), "{text}");
            }
        }
    }
}

/// Sequential images may come with a scan for each component, of which no common encoder makes any.
#[test]
fn a_jpeg_with_a_scan_for_each_component() {
    let grey = fixtures::jpeg();
    let find = |code: u8| grey.windows(2).position(|pair| pair == [0xff, code]).unwrap();
    let (frame, tables, scan) = (find(0xc0), find(0xc4), find(0xda));
    let data = &grey[scan + 10..grey.len() - 2];
    let colour_frame = [0xff, 0xc0, 0, 17, 8, 0, 64, 0, 64, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0];
    let scan_of = |id: u8| [&[0xff, 0xda, 0, 8, 1, id, 0, 0, 63, 0], data].concat();
    let with = |ids: &[u8]| {
        let scans: Vec<u8> = ids.iter().flat_map(|&id| scan_of(id)).collect();
        [&grey[..frame], &colour_frame, &grey[tables..scan], &scans, &[0xff, 0xd9]].concat()
    };
    let whole = decode(&with(&[1, 2, 3]), MediaType::Jpeg);
    assert_eq!(whole, Ok(Some(Dimensions { width: 64, height: 64 })));
    assert_eq!(reason(&with(&[1, 2]), MediaType::Jpeg), "no scan holds its component 3");
    assert_eq!(
        reason(&with(&[1, 2, 4]), MediaType::Jpeg),
        "a scan holds component 4, which the frame header does not have"
    );
}

#[test]
fn an_interlaced_png() {
    // Seven passes over 8 x 8 grey pixels, each row with a filter byte before it: 79 zeros in one stored block. The
    // checksum of n zeros is n times 65536, plus one.
    let header = png_chunk(b"IHDR", &[0, 0, 0, 8, 0, 0, 0, 8, 8, 0, 0, 0, 1]);
    let of = |len: u8| {
        let data = [&[0x78, 1, 1, len, 0, !len, 0xff][..], &vec![0; len.into()], &[0, len, 0, 1]].concat();
        png_of(&[header.clone(), png_chunk(b"IDAT", &data), png_chunk(b"IEND", &[])])
    };
    assert_eq!(decode(&of(79), MediaType::Png), Ok(Some(Dimensions { width: 8, height: 8 })));
    assert!(decode(&of(78), MediaType::Png).is_err());
}
