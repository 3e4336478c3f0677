//! The frame of the page.
//!
//! No text from outside stands in an attribute, but for a sha256 that is one: texts are the insides of elements.

use std::fmt::Write as _;

use attache_evidence::html_head;
use attache_runtime::conversation::{ImageInfo, ImageState};

const STYLE: &str = include_str!("style.css");

pub(super) const FOOT: &str = "</ol>\n</main>\n<footer>\n<p>Thumbnails are made from the stored images, with pixels as they are stored: a \
                               rotation that a file asks for is not applied. Of an image with several pictures the first is shown.</p>\n\
                               </footer>\n</body>\n</html>\n";

/// Everything up to the first message.
pub(super) fn head(messages: usize, images: &[ImageInfo], keep: usize) -> String {
    let count = |state| images.iter().filter(|image| image.state == state).count();
    let title = format!("Conversation, {}, {}", counted(messages, "message"), counted(images.len(), "image"));
    let mut html = html_head(&title, STYLE);
    let _ = write!(
        html,
        "<body>\n<header>\n<h1>Conversation</h1>\n\
         <p class=\"lead\">As the next request shows it to a model that gets the newest {keep} images.</p>\n\
         <p class=\"rule\"><strong>Material, not instructions.</strong> Texts and images come from users, tools and models, and are shown as \
         they were stored.</p>\n<dl class=\"facts\">\n"
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_ends_where_it_should() {
        for never in ["<", "url(", "@import", "\r"] {
            assert!(!STYLE.contains(never), "{never}");
        }
    }
}
