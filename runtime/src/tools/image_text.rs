//! The words about an image that was read.

use attache_media::{Dimensions, MediaType};
use attache_workdir_fs::Target;

/// The text beside the image. `original` is the size of the file's image where what is shown was scaled down from it.
pub(crate) fn envelope(
    target: &Target,
    media_type: MediaType,
    shown: Dimensions,
    bytes: u64,
    original: Option<Dimensions>,
) -> String {
    let scale =
        original.filter(|original| *original != shown).map_or_else(String::new, |original| note(original, shown));
    format!(
        "<path>{target}</path>\n<type>image</type>\n<content>\n{media_type} image, {shown} px, {bytes} bytes{scale}\n</content>"
    )
}

/// How to find a place of the shown image in the original.
fn note(original: Dimensions, shown: Dimensions) -> String {
    let ratio = |original: u32, shown: u32| format!("{:.2}", f64::from(original) / f64::from(shown.max(1)));
    let (x, y) = (ratio(original.width, shown.width), ratio(original.height, shown.height));
    let multiply = if x == y {
        format!("multiply coordinates by {x}")
    } else {
        format!("multiply x coordinates by {x} and y coordinates by {y}")
    };
    format!(" (downscaled from {original} px; {multiply} to locate features in the original file)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smaller_copy_says_how_to_find_a_place_in_the_original() {
        let size = |width, height| Dimensions { width, height };
        for (original, said) in [
            (None, ""),
            (Some((100, 50)), ""),
            (
                Some((200, 100)),
                " (downscaled from 200x100 px; multiply coordinates by 2.00 to locate features in the original file)",
            ),
            (
                Some((150, 75)),
                " (downscaled from 150x75 px; multiply coordinates by 1.50 to locate features in the original file)",
            ),
            (
                Some((200, 101)),
                " (downscaled from 200x101 px; multiply x coordinates by 2.00 and y coordinates by 2.02 to locate \
                 features in the original file)",
            ),
        ] {
            let original = original.map(|(width, height)| size(width, height));
            let text = envelope(&Target::new("k", "a.png"), MediaType::Png, size(100, 50), 69, original);
            let expected = format!(
                "<path>a.png</path>\n<type>image</type>\n<content>\nimage/png image, 100x50 px, 69 bytes{said}\n</content>"
            );
            assert_eq!(text, expected);
        }
    }
}
