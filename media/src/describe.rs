use crate::sniff;

/// Names what bytes look like, for the note that refuses them.
///
/// Bytes of one of the four image types are named by their type, whatever else they are. All others get a name that
/// takes no content from them: `empty`, `HTML text`, `HEIC/HEIF`, `base64 text`, … and `an unknown format` where nothing
/// fits. A guess, made from the first bytes: it explains a refusal and must never decide one.
///
/// ```
/// use attache_media::describe;
///
/// assert_eq!(describe(br#"{"success":true}"#), "JSON text");
/// assert_eq!(describe(b"\0\0\0\x1cftypavif\0\0\0\0mif1avif"), "AVIF");
/// ```
pub fn describe(bytes: &[u8]) -> &'static str {
    if bytes.is_empty() {
        return "empty";
    }
    if let Some(media_type) = sniff(bytes) {
        return media_type.as_str();
    }
    signature(bytes).or_else(|| iso_media(bytes)).or_else(|| text(bytes)).unwrap_or("an unknown format")
}

/// What stands at an offset, and the name of what begins so. The first that fits is taken.
const SIGNATURES: [(usize, &[u8], &str); 27] = [
    (0, b"\x89PNG", "a damaged PNG"),
    (0, b"GIF8", "a damaged GIF"),
    (0, b"%PDF-", "PDF"),
    (0, b"PK\x03\x04", "ZIP archive"),
    (0, b"PK\x05\x06", "ZIP archive"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"II+\0", "TIFF"),
    (0, b"MM\0+", "TIFF"),
    (0, b"\0\0\x01\0", "ICO"),
    (0, b"\0\0\x02\0", "CUR"),
    (0, b"\xff\x0a", "JPEG XL"),
    (0, b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL"),
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
    (0, b"\xff\x4f\xff\x51", "JPEG 2000"),
    (0, b"8BPS", "Photoshop"),
    (0, b"qoif", "QOI"),
    (0, b"\x76\x2f\x31\x01", "OpenEXR"),
    (8, b"WAVE", "WAV audio"),
    (8, b"AVI ", "AVI video"),
    (0, b"RIFF", "RIFF data that is not WebP"),
    (0, b"\x1a\x45\xdf\xa3", "Matroska or WebM video"),
    (0, b"OggS", "Ogg audio or video"),
    (0, b"ID3", "MP3 audio"),
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"\x7fELF", "a program"),
    (0, b"SQLite format 3\0", "SQLite database"),
];

fn signature(bytes: &[u8]) -> Option<&'static str> {
    let fits = |&&(at, magic, _): &&(usize, &[u8], _)| bytes.get(at..).is_some_and(|rest| rest.starts_with(magic));
    // Two letters are little: a bitmap's next header has to follow, or every text on "BMW" would be one.
    let bitmap =
        bytes.starts_with(b"BM") && matches!(bytes.get(14..18), Some([12 | 40 | 52 | 56 | 64 | 108 | 124, 0, 0, 0]));
    if bitmap { Some("BMP") } else { SIGNATURES.iter().find(fits).map(|&(_, _, name)| name) }
}

/// Brands of ISO media files, the telling ones first: files list several, and an AVIF also names HEIF's.
const BRANDS: [(&[&[u8; 4]], &str); 5] = [
    (&[b"avif", b"avis"], "AVIF"),
    (&[b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"mif2", b"msf1"], "HEIC/HEIF"),
    (&[b"crx "], "Canon raw photo"),
    (&[b"qt  "], "QuickTime video"),
    (&[b"M4A ", b"M4B "], "MP4 audio"),
];

/// Reads the `ftyp` box that an ISO media file begins with: size (4), `ftyp`, major brand (4), version (4), and any number
/// of compatible brands. The major brand decides where it is known; the others help where it is a general one.
fn iso_media(bytes: &[u8]) -> Option<&'static str> {
    // Real files name a dozen brands. A box that claims to be as large as the file is not read to its end.
    const BRANDS_MAX: usize = 64;

    let (size, rest) = bytes.split_first_chunk::<4>()?;
    let content = rest.strip_prefix(b"ftyp")?;
    // A size of 1 says that a size of eight bytes follows, and 0 that the box goes on to the end.
    let (claimed, content) = match u32::from_be_bytes(*size) {
        0 => (usize::MAX, content),
        1 => (usize::MAX, content.get(8..)?),
        claimed => ((claimed as usize).saturating_sub(8), content),
    };
    let content = &content[..claimed.min(content.len())];
    let (major, rest) = content.split_first_chunk::<4>()?;
    let compatible = rest.get(4..).unwrap_or_default();
    let name_of = |brand: &[u8; 4]| BRANDS.iter().find(|(brands, _)| brands.contains(&brand)).map(|&(_, name)| name);
    let general = matches!(major, b"mif1" | b"mif2" | b"msf1");
    let by_major = name_of(major).filter(|_| !general);
    let by_others = || {
        let names = compatible.chunks_exact(4).take(BRANDS_MAX).filter_map(|brand| name_of(brand.first_chunk()?));
        let rank = |name: &&str| BRANDS.iter().position(|(_, known)| known == name);
        names.min_by_key(rank)
    };
    by_major.or_else(by_others).or_else(|| name_of(major)).or(Some("MP4 video"))
}

/// How much of a text is looked at, in bytes.
const WINDOW: usize = 4096;

fn text(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Some("plain text");
    }
    let window = &bytes[..bytes.len().min(WINDOW)];
    let window = window.strip_prefix(b"\xef\xbb\xbf").unwrap_or(window);
    let window = match std::str::from_utf8(window) {
        Ok(text) => text,
        // A character may be cut in two at the window's end, and nowhere else.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&window[..error.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    if window.chars().any(|c| c.is_ascii_control() && !matches!(c, '\t' | '\n' | '\x0c' | '\r' | '\x1b')) {
        return None;
    }
    let window = window.trim_start();
    Some(markup(window).or_else(|| json(window)).or_else(|| base64(window)).unwrap_or("plain text"))
}

fn markup(text: &str) -> Option<&'static str> {
    let begins =
        |tag: &str| text.as_bytes().get(..tag.len()).is_some_and(|head| head.eq_ignore_ascii_case(tag.as_bytes()));
    let holds = |tag: &str| text.as_bytes().windows(tag.len()).any(|part| part.eq_ignore_ascii_case(tag.as_bytes()));
    if ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| begins(tag)) {
        Some("HTML text")
    } else if begins("<svg") || begins("<!doctype svg") {
        Some("SVG text")
    } else if begins("<?xml") || begins("<!--") || begins("<!doctype") {
        // Which of the three it is shows behind the prologue.
        Some(if holds("<svg") {
            "SVG text"
        } else if holds("<html") {
            "HTML text"
        } else {
            "XML text"
        })
    } else {
        None
    }
}

/// An object or an array by its first two characters: `[see below](...)` is neither.
fn json(text: &str) -> Option<&'static str> {
    let (first, rest) = text.as_bytes().split_first()?;
    let next = rest.trim_ascii_start().first()?;
    let opens = match first {
        b'{' => matches!(next, b'"' | b'}'),
        b'[' => matches!(next, b'{' | b'[' | b'"' | b']' | b'-' | b'0'..=b'9'),
        _ => false,
    };
    opens.then_some("JSON text")
}

/// The four image types as base64 begin so, and so do data URLs with them.
const BASE64_HEADS: [&str; 5] = ["iVBORw0KGgo", "/9j/", "R0lGODdh", "R0lGODlh", "UklGR"];

/// Base64 of an image by its beginning, of anything else by its looks: long, without spaces, mixed.
fn base64(text: &str) -> Option<&'static str> {
    const LOOKS_FROM: usize = 64;

    if text.as_bytes().get(..5).is_some_and(|head| head.eq_ignore_ascii_case(b"data:")) && text.contains(";base64,") {
        return Some("a data URL");
    }
    let text = text.trim_end();
    let alphabet =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\r' | b'\n');
    if !text.bytes().all(alphabet) {
        return None;
    }
    let mixed = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit]
        .iter()
        .all(|kind| text.as_bytes().iter().any(kind));
    let known = BASE64_HEADS.iter().any(|head| text.starts_with(head));
    (known || text.len() >= LOOKS_FROM && mixed).then_some("base64 text")
}

#[cfg(test)]
#[path = "describe_tests.rs"]
mod tests;
