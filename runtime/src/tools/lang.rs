//! The language of a file by its name, for whoever colours it.

/// The name of the language, as highlighters know it; `None` where the extension says nothing.
pub(crate) fn of(path: &str) -> Option<&'static str> {
    let extension = std::path::Path::new(path).extension()?.to_str()?;
    LANGUAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension)).map(|(_, language)| *language)
}

const LANGUAGES: [(&str, &str); 34] = [
    ("bash", "bash"),
    ("c", "c"),
    ("cc", "cpp"),
    ("cpp", "cpp"),
    ("cs", "csharp"),
    ("css", "css"),
    ("go", "go"),
    ("h", "c"),
    ("hpp", "cpp"),
    ("htm", "html"),
    ("html", "html"),
    ("java", "java"),
    ("js", "javascript"),
    ("json", "json"),
    ("jsx", "jsx"),
    ("kt", "kotlin"),
    ("lua", "lua"),
    ("md", "markdown"),
    ("mjs", "javascript"),
    ("php", "php"),
    ("pl", "perl"),
    ("py", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("scala", "scala"),
    ("sh", "bash"),
    ("sql", "sql"),
    ("swift", "swift"),
    ("toml", "toml"),
    ("ts", "typescript"),
    ("tsx", "tsx"),
    ("xml", "xml"),
    ("yaml", "yaml"),
    ("yml", "yaml"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        for (path, language) in [
            ("src/main.rs", Some("rust")),
            ("A.PY", Some("python")),
            ("a.tar.gz", None),
            ("Makefile", None),
            (".rs", None),
            ("a.", None),
        ] {
            assert_eq!(of(path), language, "{path}");
        }
    }
}
