/// Takes userinfo, query and fragment out of web addresses in a text.
pub fn redact(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let Some((scheme, rest)) = word.split_once("://").filter(|(scheme, _)| scheme.starts_with("http")) else {
            return word.to_owned();
        };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let (authority, path) = rest.split_once('/').map_or((rest, None), |(host, path)| (host, Some(path)));
        let host = authority.rsplit('@').next().unwrap_or_default();
        path.map_or_else(|| format!("{scheme}://{host}"), |path| format!("{scheme}://{host}/{path}"))
    });
    words.collect::<Vec<_>>().join(" ")
}
