use super::*;
use crate::{describe, fixtures, normalise};
use proptest::prelude::*;

/// Each magic as a pattern, written apart from the code it checks.
const TABLE: [(&[Option<u8>], MediaType); 5] = [
    (&[Some(0x89), Some(b'P'), Some(b'N'), Some(b'G'), Some(13), Some(10), Some(26), Some(10)], MediaType::Png),
    (&[Some(0xff), Some(0xd8), Some(0xff)], MediaType::Jpeg),
    (&[Some(b'G'), Some(b'I'), Some(b'F'), Some(b'8'), Some(b'7'), Some(b'a')], MediaType::Gif),
    (&[Some(b'G'), Some(b'I'), Some(b'F'), Some(b'8'), Some(b'9'), Some(b'a')], MediaType::Gif),
    (
        &[
            Some(b'R'),
            Some(b'I'),
            Some(b'F'),
            Some(b'F'),
            None,
            None,
            None,
            None,
            Some(b'W'),
            Some(b'E'),
            Some(b'B'),
            Some(b'P'),
        ],
        MediaType::Webp,
    ),
];

fn by_table(bytes: &[u8]) -> Option<MediaType> {
    let fits = |pattern: &[Option<u8>]| {
        bytes.len() >= pattern.len()
            && pattern.iter().zip(bytes).all(|(want, have)| want.is_none_or(|want| want == *have))
    };
    TABLE.iter().find(|(pattern, _)| fits(pattern)).map(|&(_, media_type)| media_type)
}

fn concrete(pattern: &[Option<u8>], filler: u8) -> Vec<u8> {
    pattern.iter().map(|byte| byte.unwrap_or(filler)).collect()
}

#[test]
fn each_magic_and_every_prefix_of_it() {
    for (pattern, media_type) in TABLE {
        let magic = concrete(pattern, 0xa5);
        assert_eq!(sniff(&magic), Some(media_type));
        assert_eq!(sniff(&[&magic[..], b"anything"].concat()), Some(media_type));
        for len in 0..magic.len() {
            assert_eq!(sniff(&magic[..len]), None, "{len} bytes of {media_type}");
        }
    }
}

#[test]
fn what_only_looks_like_one_of_the_four() {
    let cases: &[&[u8]] = &[
        b"",
        b"RIFF",
        b"RIFF\x24\0\0\0WAVEfmt ",
        b"RIFF\x24\0\0\0AVI LIST",
        b"RIFX\x24\0\0\0WEBP",
        b"RIFF\x24\0\0\0WEB",
        b"WEBP",
        b"\x89PNG\r\n\x1a",
        b"\x89PNG\n\x1a\n\0",
        b"\0\x89PNG\r\n\x1a\n",
        b"\xff\xd8",
        b"\xff\xd8\0",
        b"GIF88a",
        b"GIF89A",
        b"gif89a",
        b"<svg/>",
        b"{\"success\":true}",
        b"\0\0\0\x20ftypheic",
        b"BM",
    ];
    for bytes in cases {
        assert_eq!(sniff(bytes), None, "{:?}", String::from_utf8_lossy(bytes));
    }
}

/// All 12 pairs of a declared type and bytes of another: the two differ, and the bytes' own type can be named.
#[test]
fn cross_pairs() {
    let mut pairs = 0;
    for declared in MediaType::ALL {
        for actual in MediaType::ALL.into_iter().filter(|actual| *actual != declared) {
            let bytes = fixtures::of(actual);
            let found = sniff(&bytes);
            assert_ne!(found, normalise(declared.as_str()));
            assert_eq!(found, Some(actual), "declared as {declared}");
            assert_eq!(describe(&bytes), actual.as_str());
            pairs += 1;
        }
    }
    assert_eq!(pairs, 12);
}

proptest! {
    #[test]
    fn agrees_with_the_table_on_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..24)) {
        prop_assert_eq!(sniff(&bytes), by_table(&bytes));
    }

    #[test]
    fn agrees_with_the_table_near_a_magic(
        which in 0..TABLE.len(),
        filler in any::<u8>(),
        at in 0_usize..16,
        change in any::<u8>(),
        len in 0_usize..16,
    ) {
        let mut bytes = concrete(TABLE[which].0, filler);
        bytes.resize(16, filler);
        bytes[at] ^= change;
        bytes.truncate(len);
        prop_assert_eq!(sniff(&bytes), by_table(&bytes));
    }
}
