//! Takes secrets out of messages.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

const REDACTED: &str = "[REDACTED_SECRET]";

/// Up to white space: a quote may stand in an address too.
static URL: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\b(https?://)(\S+)"));
/// Its value may have several parts, so that the rest of the line goes.
static AUTHORIZATION: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?i)(authorization["']?\s*[:=]\s*)[^\r\n]+"#));
/// A value in quotes goes up to the closing one and what a shell would join to it, or, where that is missing, to the end; another one up to
/// white space or the next field of a query, but for the comma that ends a clause.
static FIELD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)((?:api[_-]?key|token|secret|password|signature)["']?\s*[:=]\s*)((?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)(?:[^\s&,;}](?:[^\s&]*[^\s&,;])?)?|[^\s&]*[^\s&,;])"#,
    )
});
/// `Bearer` and `Basic` are followed by something of some length: the words alone are harmless.
static SCHEME: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)\b(bearer|basic)(\s+)[a-z0-9._~+/=-]{4,}"));
static KEY: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:sk-|gsk_|hf_)[A-Za-z0-9_-]{4,}"));

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that a test compiles")
}

/// Takes secrets out of a text that is about to be shown: web addresses lose user, query and fragment; the values of
/// fields named like `token`, `password` or `authorization`, of `Bearer` and `Basic`, and keys that begin with `sk-`, `gsk_` or `hf_`
/// become `[REDACTED_SECRET]`.
///
/// ```
/// use attache_evidence::redact;
/// assert_eq!(redact("no such file: https://user:pw@example.com/a.png?token=x"), "no such file: https://example.com/a.png");
/// assert_eq!(redact("password=hunter2 slide1.png"), "password=[REDACTED_SECRET] slide1.png");
/// ```
#[must_use]
pub fn redact(text: &str) -> String {
    let text = URL.replace_all(text, |found: &Captures<'_>| format!("{}{}", &found[1], bare(&found[2])));
    let text = AUTHORIZATION.replace_all(&text, |found: &Captures<'_>| format!("{}{REDACTED}", &found[1]));
    let text = FIELD.replace_all(&text, |found: &Captures<'_>| format!("{}{REDACTED}", &found[1]));
    let text = SCHEME.replace_all(&text, |found: &Captures<'_>| format!("{}{}{REDACTED}", &found[1], &found[2]));
    let text: Cow<'_, str> = KEY.replace_all(&text, REDACTED);
    text.into_owned()
}

/// What is left of an address without user, query and fragment. The path may hold another address.
fn bare(rest: &str) -> String {
    let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
    let without_user = |address: &str| {
        let authority = address.find('/').unwrap_or(address.len());
        address[address[..authority].rfind('@').map_or(0, |at| at + 1)..].to_owned()
    };
    rest.split("://").map(without_user).collect::<Vec<_>>().join("://")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_go_and_the_rest_stays() {
        for (text, shown) in [
            ("https://user:pw@example.com/a.png?token=x", "https://example.com/a.png"),
            ("see HTTP://a@b@h:80/x#f, then", "see HTTP://h:80/x then"),
            ("https://https://user:pw@example.com/a", "https://https://example.com/a"),
            ("http://example.com/save/https://user:pw@h/?q", "http://example.com/save/https://h/"),
            ("https://example.com", "https://example.com"),
            ("Authorization: Bearer abc.def-123", "Authorization: [REDACTED_SECRET]"),
            ("authorization: Digest a=\"b\", c=d\nnext", "authorization: [REDACTED_SECRET]\nnext"),
            ("https://us'er:pw@example.com/<a>", "https://example.com/<a>"),
            ("password='unclosed and more", "password=[REDACTED_SECRET]"),
            ("password=''hunter2 then", "password=[REDACTED_SECRET] then"),
            ("password='hun'\"ter\"2, then", "password=[REDACTED_SECRET], then"),
            (r#"{"token":"t","x":1}"#, r#"{"token":[REDACTED_SECRET],"x":1}"#),
            ("password=[hunter2]x", "password=[REDACTED_SECRET]"),
            (r#"password="a\"b-secret" then"#, "password=[REDACTED_SECRET] then"),
            ("password=p,w;x then", "password=[REDACTED_SECRET] then"),
            ("got Basic dXNlcjpwYXNz from it", "got Basic [REDACTED_SECRET] from it"),
            (
                "api_key=abc, api-key: 'x y'; \"token\": \"t\"",
                "api_key=[REDACTED_SECRET], api-key: [REDACTED_SECRET]; \"token\": [REDACTED_SECRET]",
            ),
            ("access_token=abc&x=1", "access_token=[REDACTED_SECRET]&x=1"),
            (
                "keys sk-abcdef123, gsk_abcdef, hf_abcdef",
                "keys [REDACTED_SECRET], [REDACTED_SECRET], [REDACTED_SECRET]",
            ),
            ("a basic bit of news, the bearer was", "a basic bit of news, the bearer was"),
            ("unsupported image format: .gif in task-list.gif", "unsupported image format: .gif in task-list.gif"),
        ] {
            assert_eq!(redact(text), shown, "{text}");
        }
    }

    proptest! {
        #[test]
        fn redacting_again_changes_nothing(text in "(https://|token=|Basic |sk-|[a-z@/?#:= \"'\\[\\]]|password: ){0,12}") {
            let once = redact(&text);
            prop_assert_eq!(redact(&once), once);
        }
    }
}
