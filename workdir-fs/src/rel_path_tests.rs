use proptest::prelude::*;

use super::*;
use crate::FsErrorKind;

const GIVEN: &str = "/home/me/alias";
const CANONICAL: &str = "/data/w";

fn lowered(spelling: &str) -> Result<RelPath, FsError> {
    lower(spelling, [Path::new(GIVEN), Path::new(CANONICAL)])
}

#[test]
fn accepted_spellings() {
    for (spelling, name) in [
        ("a.png", "a.png"),
        ("a/b.png", "a/b.png"),
        ("./a.png", "a.png"),
        ("a//b.png", "a/b.png"),
        ("././a/./b.png", "a/b.png"),
        ("/home/me/alias/a.png", "a.png"),
        ("/data/w/a/b.png", "a/b.png"),
        ("//data///w//./a.png", "a.png"),
        ("/./data/w/a.png", "a.png"),
        // Everything below is a plain name.
        ("...", "..."),
        ("..a", "..a"),
        ("~", "~"),
        ("~/a.png", "~/a.png"),
        ("%2e%2e/a.png", "%2e%2e/a.png"),
        (r"..\a.png", r"..\a.png"),
        (r"C:\Users\me\x.jpg question", r"C:\Users\me\x.jpg question"),
        (r"Shot\ 1.png", r"Shot\ 1.png"),
        (" ", " "),
        ("a\nb", "a\nb"),
        ("$HOME", "$HOME"),
        ("file:///data/w/a.png", "file:/data/w/a.png"),
    ] {
        let path = lowered(spelling).unwrap();
        assert_eq!((path.as_str(), path.asks_for_folder()), (name, false), "{spelling:?}");
    }
}

#[test]
fn refused_spellings() {
    for spelling in [
        "",
        "..",
        "../a.png",
        "a/../b.png",
        "a/..",
        "a/../",
        "/data/w/../w/a.png",
        "/data/w/..",
        "a\0.png",
        "\0",
        // Other absolute paths, among them those that only share characters with the folder's.
        "/etc/hostname",
        "/",
        "//",
        "/data",
        "/data/",
        "/data/w2",
        "/data/w2/a.png",
        "/data/wa.png",
        "/DATA/w/a.png",
        "/home/me",
        "/home/me/alias.png",
        "/home/me/data/w/a.png",
        // The folder itself.
        ".",
        "./",
        "./.",
        ".//./",
        "/data/w",
        "/data/w/",
        "/data/w/.",
        "/data//w//",
        "/home/me/alias",
    ] {
        let error = lowered(spelling).expect_err(spelling);
        assert_eq!(error.kind(), FsErrorKind::OutsideRoot, "{spelling:?}");
        assert!(!error.to_string().contains('/'), "{error}");
    }
}

#[test]
fn a_final_slash_asks_for_a_folder() {
    for spelling in ["a/", "a/.", "a//", "a/./", "./a/.//.", "/data/w/a/"] {
        let path = lowered(spelling).unwrap();
        assert_eq!((path.as_str(), path.asks_for_folder()), ("a", true), "{spelling:?}");
    }
}

#[test]
fn a_root_with_parent_segments_matches_by_its_canonical_form_only() {
    let roots = || [Path::new("/data/x/../w"), Path::new(CANONICAL)];
    assert_eq!(lower("/data/w/a.png", roots()).unwrap().as_str(), "a.png");
    assert_eq!(lower("/data/x/a.png", roots()).unwrap_err().kind(), FsErrorKind::OutsideRoot);
}

#[test]
fn the_file_systems_root_can_be_the_folder() {
    let roots = || [Path::new("/"), Path::new("/")];
    assert_eq!(lower("/etc/hostname", roots()).unwrap().as_str(), "etc/hostname");
    assert_eq!(lower("/", roots()).unwrap_err().kind(), FsErrorKind::OutsideRoot);
}

#[test]
fn parts() {
    let path = lowered("a/b/c.png").unwrap();
    assert_eq!(path.components().collect::<Vec<_>>(), ["a", "b", "c.png"]);
    assert_eq!(path.file_name(), "c.png");
    assert_eq!(path.with_file_name("d").as_str(), "a/b/d");
    assert_eq!(lowered("c.png").unwrap().with_file_name("d").as_str(), "d");
}

/// Spellings built from the pieces that matter.
fn spelling() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        4 => prop::sample::select(vec!["a", "b.png", "é", "日", "...", r"\", "~", "%2e%2e", " ", "data", "w"]),
        2 => prop::sample::select(vec!["", "."]),
        1 => prop::sample::select(vec!["..", "\0"]),
    ];
    let prefix = prop::sample::select(vec!["", "", "/", "/data/w/", "/data/w", "/data/w2/", "/home/me/alias/", "./"]);
    (prefix, prop::collection::vec(segment, 0..6))
        .prop_map(|(prefix, segments)| prefix.to_owned() + &segments.join("/"))
}

fn check_guarantees(spelling: &str) {
    let Ok(path) = lowered(spelling) else { return };
    assert!(path.components().all(|name| !matches!(name, "" | "." | "..") && !name.contains('\0')), "{path:?}");
    assert!(!path.as_str().starts_with('/') && !path.as_str().ends_with('/'), "{path:?}");
    let joined = Path::new(CANONICAL).join(path.as_str());
    assert!(joined.strip_prefix(CANONICAL).unwrap().components().all(|c| matches!(c, Component::Normal(_))));
    assert_eq!(joined.components().count(), 3 + path.components().count());
    assert!(!spelling.split('/').any(|segment| segment == ".."));
    // What was lowered lowers to itself.
    assert_eq!(lowered(path.as_str()).unwrap().as_str(), path.as_str());
}

proptest! {
    #[test]
    fn guarantees_hold_for_likely_spellings(spelling in spelling()) {
        check_guarantees(&spelling);
    }

    #[test]
    fn guarantees_hold_for_any_string(spelling in any::<String>()) {
        check_guarantees(&spelling);
    }

    #[test]
    fn relative_spellings_agree_with_a_filter(spelling in spelling()) {
        prop_assume!(!spelling.starts_with('/'));
        let names: Vec<&str> = spelling.split('/').filter(|s| !matches!(*s, "" | ".")).collect();
        let refused = names.is_empty() || names.contains(&"..") || spelling.contains('\0');
        match lowered(&spelling) {
            Ok(path) => prop_assert_eq!((refused, path.as_str()), (false, &*names.join("/"))),
            Err(_) => prop_assert!(refused),
        }
    }

    #[test]
    fn spellings_of_one_name_agree(spelling in spelling(), slashes in 1..4usize) {
        prop_assume!(!spelling.starts_with('/'));
        let plain = lowered(&spelling).ok();
        for other in [
            format!("./{spelling}"),
            format!("{CANONICAL}/{spelling}"),
            format!("{GIVEN}//./{spelling}"),
            spelling.replace('/', &"/".repeat(slashes)),
            spelling.replace('/', "/./"),
        ] {
            // An empty spelling names nothing, and the folder itself is refused as well.
            prop_assert_eq!(lowered(&other).ok(), plain.clone(), "{:?} and {:?}", other, spelling);
        }
    }
}
