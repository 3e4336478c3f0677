//! Reduces a web address to its origin.

use url::{Host, Url};

/// The longest address that is read, in characters.
const MAX_CHARS: usize = 4_096;
/// Longest label of a host name, in bytes (RFC 1035).
const MAX_LABEL: usize = 63;

/// Scheme, host and port of an `http` or `https` address; `None` where it is none. A port stays even where it is the
/// scheme's own; zero is none.
pub(super) fn origin(address: &str) -> Option<String> {
    let odd = |c: char| c == '\\' || c.is_whitespace() || c.is_control();
    if address.chars().count() > MAX_CHARS || address.contains(odd) {
        return None;
    }
    let (scheme, rest) = address.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if !matches!(&*scheme, "http" | "https") {
        return None;
    }
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let (host, port) = split_port(authority.rsplit('@').next().unwrap_or(authority))?;
    let host = spell(host)?;
    // The library has the last word on all of it.
    Url::parse(address).ok()?;
    Some(match port {
        0 => format!("{scheme}://{host}"),
        port => format!("{scheme}://{host}:{port}"),
    })
}

/// The host as written, and the port; 0 where there is none.
fn split_port(host_and_port: &str) -> Option<(&str, u16)> {
    let end_of_host = host_and_port.rfind(']').map_or(0, |bracket| bracket + 1);
    let Some(colon) = host_and_port[end_of_host..].find(':') else { return Some((host_and_port, 0)) };
    let (host, port) = (&host_and_port[..end_of_host + colon], &host_and_port[end_of_host + colon + 1..]);
    let port = match port {
        "" => 0,
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        _ => return None,
    };
    Some((host, port))
}

/// The host in ASCII, if nothing about its spelling is odd.
fn spell(written: &str) -> Option<String> {
    // Nothing in a host is escaped, and only a full stop parts its labels: not what a library would turn into one.
    if written.contains(['%', '\u{3002}', '\u{ff0e}', '\u{ff61}']) {
        return None;
    }
    match Host::parse(written).ok()? {
        Host::Domain(domain) => is_name(&domain).then_some(domain),
        // Other spellings of the same number, such as 2130706433, are refused.
        Host::Ipv4(address) => Some(address.to_string()).filter(|spelled| spelled == written),
        Host::Ipv6(address) => Some(format!("[{address}]")),
    }
}

fn is_name(domain: &str) -> bool {
    let labels = domain.strip_suffix('.').unwrap_or(domain);
    let is_label = |label: &str| {
        (1..=MAX_LABEL).contains(&label.len()) && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    labels.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_their_origins() {
        for (address, reduced) in [
            ("https://example.com", "https://example.com"),
            ("HTTPS://user:pw@Example.COM:8443/p?t=s#f", "https://example.com:8443"),
            ("https://example.com:443/", "https://example.com:443"),
            ("http://example.com:80", "http://example.com:80"),
            ("https://example.com:0/", "https://example.com"),
            ("https://example.com:", "https://example.com"),
            ("http://[::1]:8080/x", "http://[::1]:8080"),
            ("http://[::1]", "http://[::1]"),
            ("https://127.0.0.1:5000", "https://127.0.0.1:5000"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
            ("https://straße.example", "https://xn--strae-oqa.example"),
            ("https://例え.テスト", "https://xn--r8jz45g.xn--zckzah"),
            ("https://example.com./", "https://example.com."),
            ("https://a@b@example.com", "https://example.com"),
            ("https://example.com?x", "https://example.com"),
        ] {
            assert_eq!(origin(address).as_deref(), Some(reduced), "{address}");
        }
        let long_label = format!("https://{}.com", "a".repeat(64));
        let long = format!("https://example.com/{}", "a".repeat(4_077));
        assert_eq!(origin(&long[..4_096]).as_deref(), Some("https://example.com"));
        for bad in [
            "",
            "example.com",
            "//example.com",
            "ftp://example.com",
            "file:///x",
            "javascript:alert(1)",
            "data:text/plain,x",
            "http://",
            "http:///example.com",
            "http:example.com",
            "https://user@",
            "https://:80",
            "https://example.com:99999",
            "https://example.com:abc",
            "https://example.com:+80",
            "https://example.com:80:80",
            "https://my_host/",
            "https://a..b",
            "https://..",
            "https://.",
            "https://.a",
            "https://exa mple.com",
            " https://example.com",
            "https://example.com ",
            "https://exam\tple.com",
            "https://example.com/\n",
            "https://example.com\\@evil.test",
            "http://[fe80::1%25eth0]/",
            "http://[::1",
            "http://::1]",
            "http://[::1]x",
            "https://ex*mple.com",
            "https://%65xample.com",
            "https://2130706433",
            "https://0x7f.1",
            "https://127.1",
            "https://127.0.0.1.",
            "https://example。com",
            "https://exa\u{ad}mple\u{3000}.com",
            "https://example.com\u{85}",
            &long_label,
            &long,
        ] {
            assert_eq!(origin(bad), None, "{bad}");
        }
    }
}
