use futures_util::FutureExt as _;
use futures_util::stream;
use proptest::prelude::*;

use super::*;

fn target() -> Target {
    Target::new("k", "p")
}

/// Everything the stream gives, and the error that ends it, if one does.
fn drain(content: &[u8], cuts: &[usize]) -> Result<String, String> {
    let mut pieces = Vec::new();
    let mut rest = content;
    for cut in cuts {
        let (piece, after) = rest.split_at((*cut).min(rest.len()));
        pieces.push(Ok(Bytes::copy_from_slice(piece)));
        rest = after;
    }
    pieces.push(Ok(Bytes::copy_from_slice(rest)));
    let mut stream = TextStream::new(&target(), stream::iter(pieces).boxed());
    let mut text = String::new();
    loop {
        match stream.next().now_or_never().unwrap() {
            Ok(Some(piece)) => {
                assert!(!piece.is_empty());
                text.push_str(&piece);
            }
            Ok(None) => break,
            Err(error) => {
                assert!(stream.next().now_or_never().unwrap().unwrap().is_none(), "nothing follows an error");
                return Err(error.to_string());
            }
        }
    }
    assert!(stream.next().now_or_never().unwrap().unwrap().is_none(), "nothing follows the end");
    Ok(text)
}

fn whole(content: &[u8]) -> Result<String, String> {
    text::decode(content.to_vec(), &target()).map_err(|error| error.to_string())
}

#[test]
fn texts_and_what_is_none() {
    let invalid = Err("cannot read \"p\": invalid UTF-8 text");
    let binary = Err("cannot read \"p\": binary file");
    let nul_at = |at: usize| [vec![b'x'; at], vec![0]].concat();
    let late_nul = String::from_utf8(nul_at(8192)).unwrap();
    for (content, expected) in [
        (&b""[..], Ok("")),
        (b"a\r\nb", Ok("a\r\nb")),
        (b"\xef\xbb\xbf", Ok("")),
        (b"\xef\xbb\xbfa\xef\xbb\xbf", Ok("a\u{feff}")),
        (b"\xef\xbb", invalid),
        ("ü€😀".as_bytes(), Ok("ü€😀")),
        (b"a\xffb", invalid),
        (b"cut \xf0\x9f\x98", invalid),
        (b"\xed\xa0\x80", invalid),
        (b"\xff\xfea\0", binary),
        (b"a\0", binary),
        (&nul_at(8191), binary),
        (&nul_at(8192), Ok(&late_nul)),
    ] {
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(whole(content), expected, "{:?}", &content[..content.len().min(20)]);
        assert_eq!(drain(content, &[]), expected);
        assert_eq!(drain(content, &[1; 10]), expected);
        assert_eq!(drain(content, &vec![1; content.len()]), expected);
    }
}

#[test]
fn an_error_of_the_source_is_passed_on_once() {
    let broken = FileError::new(crate::FileErrorKind::IoError, "the line is dead");
    let pieces = vec![Ok(Bytes::from_static(&[b'x'; 9000])), Err(broken), Ok(Bytes::from_static(b"more"))];
    let mut stream = TextStream::new(&target(), stream::iter(pieces).boxed());
    assert_eq!(stream.next().now_or_never().unwrap().unwrap().unwrap().len(), 9000);
    assert_eq!(stream.next().now_or_never().unwrap().unwrap_err().to_string(), "the line is dead");
    assert!(stream.next().now_or_never().unwrap().unwrap().is_none());
}

#[test]
fn a_fold_sees_what_the_stream_gives_until_it_is_cancelled() {
    let text = "äöü\n".repeat(9_000);
    let pieces = |cut: usize| {
        let (front, back) = text.as_bytes().split_at(cut);
        let pieces = [front, back].map(|piece| Ok(Bytes::copy_from_slice(piece)));
        TextStream::new(&target(), stream::iter(pieces).boxed())
    };
    let gather = |into: &mut String, piece: &str| into.push_str(piece);
    for cut in [0, 1, 9_000, 20_001] {
        let whole = pieces(cut).fold(&Cancel::new(), String::new(), gather).now_or_never().unwrap();
        assert_eq!(whole.unwrap(), text);
    }
    let cancel = Cancel::new();
    cancel.cancel();
    let error = pieces(9_000).fold(&cancel, String::new(), gather).now_or_never().unwrap().unwrap_err();
    assert_eq!(error.code(), "FS_ABORTED");
}

/// Mostly text, now and then something that spoils it, around the length of the probe.
fn content() -> impl Strategy<Value = Vec<u8>> {
    let bit = prop_oneof![
        8 => "[a-zü€😀\u{feff}\r\n]{1,6}".prop_map(String::into_bytes),
        1 => Just(vec![0]),
        1 => proptest::collection::vec(any::<u8>(), 1..3),
    ];
    let padding = prop_oneof![Just(0usize), 8180usize..8200];
    (padding, proptest::collection::vec(bit, 0..12))
        .prop_map(|(padding, bits)| [vec![b'-'; padding], bits.concat()].concat())
}

proptest! {
    #[test]
    fn the_pieces_do_not_matter(content in content(), cuts in proptest::collection::vec(0usize..9000, 0..20), bom in any::<bool>()) {
        let content = if bom { [BOM.as_bytes(), &content].concat() } else { content };
        prop_assert_eq!(drain(&content, &cuts), whole(&content));
    }

    #[test]
    fn small_pieces_do_not_matter_either(content in content(), cuts in proptest::collection::vec(0usize..4, 0..60)) {
        prop_assert_eq!(drain(&content, &cuts), whole(&content));
    }
}
