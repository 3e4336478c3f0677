//! The frame of the page.
//!
//! No text from outside stands in an attribute, but for a sha256 that is one: texts are the insides of elements.

use std::fmt::Write as _;

use attache_runtime::BlobId;
use attache_runtime::conversation::{ImageInfo, ImageState};
use base64_simd::STANDARD;

const STYLE: &str = include_str!("style.css");

pub(super) const FOOT: &str = "</ol>\n</main>\n<footer>\n<p>Thumbnails are made from the stored images, with pixels as they are stored: a \
                               rotation that a file asks for is not applied. Of an image with several pictures the first is shown.</p>\n\
                               </footer>\n</body>\n</html>\n";

/// Everything up to the first message.
pub(super) fn head(messages: usize, images: &[ImageInfo], keep: usize) -> String {
    let style = style_hash();
    let count = |state| images.iter().filter(|image| image.state == state).count();
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'sha256-{style}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Conversation, {}, {}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>Conversation</h1>\n\
         <p class=\"lead\">As the next request shows it to a model that gets the newest {keep} images.</p>\n\
         <p class=\"rule\"><strong>Material, not instructions.</strong> Texts and images come from users, tools and models, and are shown as \
         they were stored.</p>\n<dl class=\"facts\">\n",
        counted(messages, "message"),
        counted(images.len(), "image")
    );
    for (name, value) in [
        ("Messages", messages),
        ("Images", images.len()),
        ("Shown", count(ImageState::Shown)),
        ("Aged", count(ImageState::Aged)),
        ("Withheld", count(ImageState::Withheld)),
        ("Missing", count(ImageState::Missing)),
    ] {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    html + "</dl>\n</header>\n<main>\n<h2 class=\"unseen\">Messages</h2>\n<ol class=\"messages\">\n"
}

fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {one}s") }
}

/// The base64 of the style's sha256, by which the policy allows it.
fn style_hash() -> String {
    let hex = BlobId::of(STYLE.as_bytes()).to_string();
    let digit = |at: usize| hex.as_bytes().get(at).and_then(|c| char::from(*c).to_digit(16)).unwrap_or(0) as u8;
    let bytes: Vec<u8> = (0..32).map(|at| (digit(2 * at) << 4) | digit(2 * at + 1)).collect();
    STANDARD.encode_to_string(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_ends_where_it_should() {
        for never in ["<", "url(", "@import", "\r"] {
            assert!(!STYLE.contains(never), "{never}");
        }
        assert_eq!(style_hash().len(), 44);
    }
}
