//! How a page for people begins.

use base64_simd::STANDARD;
use sha2::{Digest as _, Sha256};

use super::escape::html_text;

const BASE: &str = include_str!("base.css");

/// The beginning of a self-contained page, up to its body: the title, and our common style with `style` behind it.
///
/// The page may show pictures that it holds itself, and nothing else of what a browser can do: it runs no script, asks for nothing, and has no
/// other style. `style` is ours and holds no `<`.
///
/// ```
/// let head = attache_evidence::html_head("Two images", "p { margin: 0; }\n");
/// assert!(head.contains("<title>Two images</title>") && head.ends_with("p { margin: 0; }\n</style>\n</head>\n"));
/// ```
#[must_use]
pub fn html_head(title: &str, style: &str) -> String {
    let style = format!("{BASE}{style}");
    let hash = STANDARD.encode_to_string(Sha256::digest(&style));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src 'sha256-{hash}'; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n",
        html_text(title)
    )
}

/// Whether a style ends where it should, and asks for nothing.
#[cfg(test)]
pub(super) fn is_harmless(style: &str) -> bool {
    !["<", "url(", "@import", "\r"].iter().any(|never| style.contains(never))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_style_is_harmless() {
        assert!(is_harmless(BASE) && !is_harmless("</style>"));
    }
}
