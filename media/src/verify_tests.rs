use super::*;
use crate::testing::{
    DEEP, SAMPLE_SIZE, images, png_chunk, png_header, png_of, sample, undecodable, webp_chunk, webp_of,
};
use crate::{dimensions, fixtures, sniff};
use proptest::prelude::*;

fn at(level: Verify, bytes: &[u8], media_type: MediaType) -> Result<Option<Dimensions>, MediaError> {
    verify(bytes, media_type, level, DEFAULT_MAX_PIXELS)
}

/// The reason that every level above `Magic` gives.
fn refused(bytes: &[u8], media_type: MediaType) -> String {
    let reasons: Vec<String> =
        DEEP.iter().map(|&level| undecodable(&at(level, bytes, media_type).unwrap_err()).to_owned()).collect();
    assert!(reasons.iter().all(|reason| *reason == reasons[0]), "{reasons:?}");
    reasons[0].clone()
}

#[test]
fn levels_by_name_and_in_order() {
    assert_eq!(Verify::default(), Verify::Magic);
    assert!(Verify::Magic < Verify::Structure);
    for level in [Verify::Magic, Verify::Structure] {
        assert_eq!(level.as_str().parse(), Ok(level));
        assert_eq!(level.to_string(), level.as_str());
    }
    for name in ["", "Magic", "full", " magic"] {
        assert_eq!(name.parse::<Verify>(), Err(ParseVerifyError::Unknown), "{name:?}");
    }
    #[cfg(feature = "decode")]
    {
        assert!(Verify::Structure < Verify::Decode);
        assert_eq!("decode".parse(), Ok(Verify::Decode));
        assert_eq!(Verify::Decode.as_str(), "decode");
    }
    #[cfg(not(feature = "decode"))]
    {
        let error = "decode".parse::<Verify>().unwrap_err();
        assert_eq!(error, ParseVerifyError::NotBuilt);
        assert!(error.to_string().contains("not in this build"));
    }
}

#[test]
fn magic_looks_at_nothing() {
    assert_eq!(at(Verify::Magic, b"", MediaType::Png), Ok(None));
    assert_eq!(at(Verify::Magic, &fixtures::gif(), MediaType::Gif), Ok(None));
}

#[test]
fn samples_and_fixtures_pass_at_every_level() {
    for (name, media_type, bytes) in images() {
        for &level in DEEP {
            assert_eq!(at(level, &bytes, media_type), dimensions(&bytes, media_type).map(Some), "{name} at {level}");
        }
    }
}

#[test]
fn an_animation_passes_as_a_whole() {
    for name in ["three-frames.gif", "three-frames.webp", "three-frames.png"] {
        let bytes = sample(name);
        let media_type = sniff(&bytes).unwrap();
        for &level in DEEP {
            assert_eq!(at(level, &bytes, media_type), Ok(Some(SAMPLE_SIZE)), "{name} at {level}");
        }
    }
}

#[test]
fn trailing_bytes_are_allowed() {
    let behind: [&[u8]; 4] = [b"\0", b"PK\x03\x04 a whole archive", b"\xff\xd9\xff", &[0; 3000]];
    for (name, media_type, bytes) in images() {
        for trailing in behind {
            let longer = [&bytes[..], trailing].concat();
            for &level in DEEP {
                assert!(at(level, &longer, media_type).is_ok(), "{name} and {} bytes at {level}", trailing.len());
            }
        }
    }
}

#[test]
fn no_image_passes_when_it_is_cut() {
    for (name, media_type, bytes) in images() {
        for len in 0..bytes.len() {
            assert!(
                at(Verify::Structure, &bytes[..len], media_type).is_err(),
                "{len} of {} bytes of {name}",
                bytes.len()
            );
        }
    }
}

#[test]
fn stubs_and_noise_are_refused() {
    for media_type in MediaType::ALL {
        assert_eq!(refused(b"", media_type), "it is empty (0 bytes)");
        assert_eq!(refused(b"not a image", media_type), format!("its 11 bytes do not begin like {media_type}"));
    }
    assert_eq!(refused(b"\x89PNG\r\n\x1a\n\0\0\0", MediaType::Png), "it ends inside its header, after 11 bytes");
    let mut noise = b"\x89PNG\r\n\x1a\n".to_vec();
    noise.extend((0..2048_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8));
    assert_eq!(refused(&noise, MediaType::Png), "its first chunk is not a 13-byte IHDR");
}

#[test]
fn a_png_with_any_byte_changed_is_refused() {
    let good = fixtures::png(4, 4, 3);
    for at_byte in 8..good.len() {
        for bit in 0..8 {
            let mut bad = good.clone();
            bad[at_byte] ^= 1 << bit;
            assert!(at(Verify::Structure, &bad, MediaType::Png).is_err(), "byte {at_byte}, bit {bit}");
        }
    }
}

#[test]
fn pngs_that_are_put_together_wrongly() {
    let header = || png_header(1, 1, 8, 3);
    let palette = || png_chunk(b"PLTE", &[1, 2, 3]);
    let pixels = || png_chunk(b"IDAT", &[0x78, 1, 1, 2, 0, 0xfd, 0xff, 0, 0, 0, 2, 0, 1]);
    let end = || png_chunk(b"IEND", &[]);
    for &level in DEEP {
        let good = png_of(&[header(), palette(), pixels(), end()]);
        assert!(at(level, &good, MediaType::Png).is_ok(), "{level}: {:?}", at(level, &good, MediaType::Png));
    }
    let cases = [
        (vec![palette(), header(), pixels(), end()], "its first chunk is not a 13-byte IHDR"),
        (vec![header(), palette(), end()], "it has no pixel data (no IDAT chunk)"),
        (vec![header(), pixels(), end()], "its pixels are palette indices, but it has no palette"),
        (vec![header(), header(), palette(), pixels(), end()], "chunk 2 is a second IHDR"),
        (vec![header(), png_chunk(b"PLTE", &[1, 2]), pixels(), end()], "its palette has 2 bytes"),
        (vec![header(), png_chunk(b"PLTE", &[0; 771]), pixels(), end()], "its palette has 771 bytes"),
        (
            vec![header(), palette(), pixels(), png_chunk(b"tEXt", b"a\0b"), pixels(), end()],
            "its pixel data is not in one run: chunk 5 is apart",
        ),
        (vec![header(), palette(), pixels(), png_chunk(b"IEND", b"x")], "its IEND chunk is not empty"),
        (
            vec![header(), palette(), png_chunk(b"QQQQ", b""), pixels(), end()],
            "chunk 3 is of a critical type that PNG does not have",
        ),
        (vec![header(), palette(), png_chunk(b"a1b2", b""), pixels(), end()], "chunk 3 has no chunk type"),
        (vec![header(), palette(), pixels()], "it ends inside chunk 4, after 73 bytes, before IEND"),
    ];
    for (chunks, expect) in cases {
        assert_eq!(refused(&png_of(&chunks), MediaType::Png), expect);
    }
    let huge = [&png_of(&[header()])[..], &[0x80, 0, 0, 0], b"IDATxxxx"].concat();
    assert_eq!(refused(&huge, MediaType::Png), "chunk 2 claims 2147483648 bytes, and a chunk has at most 2147483647");
}

#[test]
fn jpegs_that_are_put_together_wrongly() {
    let good = fixtures::jpeg();
    let find = |code: u8| good.windows(2).position(|pair| pair == [0xff, code]).unwrap();
    let (frame, scan) = (find(0xc0), find(0xda));
    let end = good.len() - 2;
    let cases = [
        ([&good[..frame], &good[scan..]].concat(), "its first scan comes before its frame header"),
        ([&good[..scan], &[0xff, 0xd9]].concat(), "it ends without a scan"),
        ([&good[..frame], &[0xff, 0xd9]].concat(), "it ends without a frame header"),
        ([&good[..end], &good[frame..]].concat(), "it has a second frame header before offset"),
        ([&good[..scan + 10], &[0xff, 0xd9]].concat(), "a scan at offset"),
    ];
    for (bytes, expect) in cases {
        let reason = refused(&bytes, MediaType::Jpeg);
        assert!(reason.starts_with(expect), "{reason}");
    }
}

#[test]
fn gifs_that_are_put_together_wrongly() {
    let good = fixtures::gif();
    let image = good.iter().position(|&byte| byte == 0x2c).unwrap();
    let comment = b"\x21\xfe\x03hey\x00";
    for &level in DEEP {
        let commented = [&good[..image], comment, &good[image..]].concat();
        assert!(at(level, &commented, MediaType::Gif).is_ok());
        // An extension of a kind that nobody has defined.
        let unknown = [&good[..image], b"\x21\x77\x03hey\x00", &good[image..]].concat();
        assert!(at(level, &unknown, MediaType::Gif).is_ok(), "{:?}", at(level, &unknown, MediaType::Gif));
    }
    let changed = |at: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[at] = value;
        bytes
    };
    let cases = [
        ([&good[..image], b"\x3b"].concat(), "it has no image".to_owned()),
        (changed(image, 0x2d), format!("an unknown block (45) at offset {image}")),
        (changed(image + 5, 0), format!("the image at offset {} says 0x4 pixels", image + 1)),
        (changed(image + 10, 0), format!("the image at offset {} says 0 bits a pixel", image + 1)),
        (changed(image + 10, 12), format!("the image at offset {} says 12 bits a pixel", image + 1)),
        ([&good[..=image + 10], b"\0\x3b"].concat(), format!("the image at offset {} has no data", image + 1)),
    ];
    for (bytes, expect) in cases {
        assert_eq!(refused(&bytes, MediaType::Gif), expect);
    }
}

fn vp8x(flags: u8, width: u32, height: u32) -> Vec<u8> {
    let data = [&[flags, 0, 0, 0][..], &(width - 1).to_le_bytes()[..3], &(height - 1).to_le_bytes()[..3]].concat();
    webp_chunk(b"VP8X", &data)
}

#[test]
fn webps_that_are_put_together_wrongly() {
    let simple = fixtures::webp();
    let image = simple[12..].to_vec();
    let side = |value: u32| value.to_le_bytes()[..3].to_vec();
    let frame = |left: u32, width: u32, chunks: &[Vec<u8>]| {
        let head = [side(left / 2), side(0), side(width - 1), side(15), side(100), vec![0]].concat();
        webp_chunk(b"ANMF", &[head, chunks.concat()].concat())
    };
    let cases = [
        (webp_of(&[]), "it ends inside its header, after 12 bytes"),
        (webp_of(&[vp8x(0, 16, 16)]), "it has no image chunk"),
        (webp_of(&[vp8x(2, 16, 16), image.clone()]), "it has no image chunk"),
        (webp_of(&[vp8x(0, 17, 16), image.clone()]), "an image of 16x16 pixels stands where 17x16 was promised"),
        (
            webp_of(&[vp8x(2, 16, 16), frame(2, 16, std::slice::from_ref(&image))]),
            "a frame of 16x16 pixels at 2,0 leaves the canvas of 16x16",
        ),
        (
            webp_of(&[vp8x(2, 40, 40), frame(0, 12, std::slice::from_ref(&image))]),
            "an image of 16x16 pixels stands where 12x16 was promised",
        ),
        (
            webp_of(&[vp8x(2, 16, 16), frame(0, 16, &[webp_chunk(b"ODD ", b"ab"), image.clone()])]),
            "a frame has no image chunk where it has to be",
        ),
        (webp_of(&[vp8x(2, 16, 16), webp_chunk(b"ANMF", b"short")]), "a frame has 5 bytes"),
        (webp_of(&[image.clone(), b"EX".to_vec()]), "2 stray bytes follow its last chunk"),
        (webp_of(&[image.clone(), b"EXIF\x09\0\0\0ab".to_vec()]), "a chunk claims 9 bytes, and 2 are there"),
    ];
    for (bytes, expect) in cases {
        assert_eq!(refused(&bytes, MediaType::Webp), expect);
    }
    for &level in DEEP {
        assert!(at(level, &webp_of(&[vp8x(0, 16, 16), image.clone()]), MediaType::Webp).is_ok());
    }
}

#[test]
fn a_webp_may_lack_the_last_pad_byte_only_where_its_size_does_not_count_it() {
    let good = fixtures::webp();
    let padded = webp_of(&[good[12..].to_vec(), webp_chunk(b"EXIF", b"odd")]);
    let mut without = padded[..padded.len() - 1].to_vec();
    assert!(refused(&without, MediaType::Webp).starts_with("its RIFF header claims"));
    let size = without.len() as u32 - 8;
    without[4..8].copy_from_slice(&size.to_le_bytes());
    for &level in DEEP {
        assert!(at(level, &without, MediaType::Webp).is_ok());
        assert!(at(level, &padded, MediaType::Webp).is_ok());
    }
}

#[test]
fn a_jpeg_with_a_megabyte_of_metadata_passes() {
    let good = sample("baseline-420.jpg");
    let junk = [&[0xff, 0xef, 0xff, 0xff][..], &[0xd9; 0xfffd]].concat();
    let long = [&good[..2], &junk.repeat(16), &good[2..]].concat();
    for &level in DEEP {
        assert_eq!(at(level, &long, MediaType::Jpeg), Ok(Some(SAMPLE_SIZE)), "{level}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_behind_a_magic_are_judged_without_a_panic(which in 0_usize..4, rest in proptest::collection::vec(any::<u8>(), 0..400)) {
        let magic: &[u8] = [&b"\x89PNG\r\n\x1a\n"[..], b"\xff\xd8\xff", b"GIF89a", b"RIFF\x40\0\0\0WEBP"][which];
        let bytes = [magic, &rest].concat();
        for &level in DEEP {
            let _ = verify(&bytes, MediaType::ALL[which], level, 1_000_000);
        }
    }

    /// A sound answer has to be the header's, and each level has to refuse what the one before refused.
    #[test]
    fn mutated_images_are_judged_without_a_panic_and_alike(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in proptest::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let images = images();
        let (name, media_type, mut bytes) = images[which.index(images.len())].clone();
        for (index, value) in changes {
            let index = index.index(bytes.len());
            bytes[index] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let header = dimensions(&bytes, media_type);
        let mut passed = true;
        for &level in DEEP {
            let judged = verify(&bytes, media_type, level, 1_000_000);
            if let Ok(size) = &judged {
                prop_assert!(passed, "{} passes at {} and not below", name, level);
                prop_assert_eq!(size.as_ref(), header.as_ref().ok());
            }
            passed = judged.is_ok();
        }
    }
}
