use std::fmt;
use std::str::FromStr;

/// One of the four image types that are allowed. Whatever is not one of them is not an image here.
///
/// The order of the variants is the order in which notes list them. The set is closed on purpose: models accept these
/// four, and adding a fifth is a decision for every caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MediaType {
    /// `image/png`, begins with `89 50 4E 47 0D 0A 1A 0A`.
    Png,
    /// `image/jpeg`, begins with `FF D8 FF`.
    Jpeg,
    /// `image/gif`, begins with `GIF87a` or `GIF89a`.
    Gif,
    /// `image/webp`, has `RIFF` at 0 and `WEBP` at 8.
    Webp,
}

/// A media type that is not, letter for letter, one of the four canonical names.
///
/// It does not repeat the name: that came from outside and may be of any length. [`normalise`] is the tolerant reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the media type is none of image/png, image/jpeg, image/gif, image/webp")]
pub struct ParseMediaTypeError;

/// Reads a declared media type the tolerant way, or returns `None` where it is not one of the four.
///
/// What follows a `;` is dropped, ASCII white space around the name too, case does not matter, and three old names are
/// understood: `image/jpg` and `image/pjpeg` mean JPEG, `image/x-png` means PNG. Wildcards (`image/*`), bare names
/// (`png`) and `application/octet-stream` are none of the four. Nothing is allocated, however long the text is.
///
/// ```
/// use attache_media::{MediaType, normalise};
///
/// assert_eq!(normalise(" IMAGE/JPG ; charset=binary"), Some(MediaType::Jpeg));
/// assert_eq!(normalise("image/*"), None);
/// ```
pub fn normalise(declared: &str) -> Option<MediaType> {
    let name = declared.split_once(';').map_or(declared, |(name, _)| name).trim_ascii();
    SPELLINGS.iter().find(|(spelling, _)| name.eq_ignore_ascii_case(spelling)).map(|&(_, media_type)| media_type)
}

const SPELLINGS: [(&str, MediaType); 7] = [
    ("image/png", MediaType::Png),
    ("image/jpeg", MediaType::Jpeg),
    ("image/gif", MediaType::Gif),
    ("image/webp", MediaType::Webp),
    ("image/jpg", MediaType::Jpeg),
    ("image/pjpeg", MediaType::Jpeg),
    ("image/x-png", MediaType::Png),
];

impl MediaType {
    /// The four types, in the order in which notes list them.
    pub const ALL: [MediaType; 4] = [MediaType::Png, MediaType::Jpeg, MediaType::Gif, MediaType::Webp];

    /// The canonical name, for example `image/png`.
    pub const fn as_str(self) -> &'static str {
        match self {
            MediaType::Png => "image/png",
            MediaType::Jpeg => "image/jpeg",
            MediaType::Gif => "image/gif",
            MediaType::Webp => "image/webp",
        }
    }

    /// The usual file extension without a dot: `png`, `jpg`, `gif` or `webp`.
    pub const fn extension(self) -> &'static str {
        match self {
            MediaType::Png => "png",
            MediaType::Jpeg => "jpg",
            MediaType::Gif => "gif",
            MediaType::Webp => "webp",
        }
    }
}

impl fmt::Display for MediaType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for MediaType {
    type Err = ParseMediaTypeError;

    /// Accepts the canonical name only; [`normalise`] accepts what people write.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        MediaType::ALL.into_iter().find(|media_type| media_type.as_str() == text).ok_or(ParseMediaTypeError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn declared_types() {
        let png = Some(MediaType::Png);
        let jpeg = Some(MediaType::Jpeg);
        let cases = [
            ("image/png", png),
            ("image/jpeg", jpeg),
            ("image/gif", Some(MediaType::Gif)),
            ("image/webp", Some(MediaType::Webp)),
            ("image/jpg", jpeg),
            ("image/pjpeg", jpeg),
            ("Image/Jpeg", jpeg),
            ("IMAGE/PNG", png),
            ("image/x-png", png),
            ("image/png; charset=binary", png),
            ("image/png;", png),
            ("image/png ;a;b", png),
            (" image/png ", png),
            ("\timage/png\r\n", png),
            ("png", None),
            ("image", None),
            ("image/", None),
            ("image/*", None),
            ("*/*", None),
            ("application/octet-stream", None),
            ("", None),
            (" ", None),
            (";image/png", None),
            ("; image/png", None),
            ("null", None),
            ("image/svg+xml", None),
            ("image/x-icon", None),
            ("image/pngx", None),
            ("image /png", None),
            ("image/png, image/jpeg", None),
            // White space and case are those of ASCII: a no-break space and a dotless i are not folded.
            ("\u{a0}image/png", None),
            ("\u{131}mage/png", None),
        ];
        for (declared, expect) in cases {
            assert_eq!(normalise(declared), expect, "{declared:?}");
        }
    }

    #[test]
    fn a_declared_type_of_megabytes_is_read_in_place() {
        assert_eq!(normalise(&"x".repeat(8 << 20)), None);
        let padded = format!("{0}image/png{0};{1}", " ".repeat(1 << 20), "y".repeat(1 << 20));
        assert_eq!(normalise(&padded), Some(MediaType::Png));
    }

    #[test]
    fn names() {
        assert_eq!(MediaType::ALL.map(MediaType::as_str), ["image/png", "image/jpeg", "image/gif", "image/webp"]);
        assert_eq!(MediaType::ALL.map(MediaType::extension), ["png", "jpg", "gif", "webp"]);
        for media_type in MediaType::ALL {
            assert_eq!(media_type.as_str().parse(), Ok(media_type));
            assert_eq!(media_type.to_string(), media_type.as_str());
        }
        for not_canonical in ["image/jpg", "IMAGE/PNG", " image/png", "image/png;", ""] {
            assert_eq!(not_canonical.parse::<MediaType>(), Err(ParseMediaTypeError), "{not_canonical:?}");
        }
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(declared in "(?i)[ \t]{0,2}image/(png|x-png|jpe?g|pjpeg|gif|webp|x)[ ]{0,2}(;.*)?") {
            if let Some(media_type) = normalise(&declared) {
                prop_assert_eq!(normalise(media_type.as_str()), Some(media_type));
            }
        }

        #[test]
        fn normalising_any_text_agrees_with_the_rule_in_words(declared in ".{0,40}") {
            let lowered = declared.trim_ascii().to_ascii_lowercase();
            let name = lowered.split(';').next().unwrap_or("").trim_ascii();
            let known = SPELLINGS.iter().find(|(spelling, _)| *spelling == name).map(|found| found.1);
            prop_assert_eq!(normalise(&declared), known);
        }
    }
}
