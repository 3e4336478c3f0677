use std::fs;

use cap_std::ambient_authority;
use proptest::prelude::*;

use super::*;

fn folded(name: &str) -> String {
    fold(name).collect()
}

/// A directory with these files, and what asking for `asked` in it finds, at most `limit` entries looked at.
fn find_among(names: &[&str], asked: &str, limit: usize) -> Result<String, FsError> {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        fs::write(folder.path().join(name), "").unwrap();
    }
    let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
    find_within(&dir, asked, limit)
}

#[test]
fn one_match_is_taken() {
    for (there, asked) in [
        ("Shot 5.00\u{202f}PM.png", "Shot 5.00 PM.png"),
        ("Shot 5.00 PM.png", "Shot 5.00\u{202f}PM.png"),
        ("Shot\u{a0}1.png", "Shot\u{3000}1.png"),
        ("Sni\u{301}mek.png", "Sn\u{ed}mek.png"),
        ("Sn\u{ed}mek.png", "Sni\u{301}mek.png"),
        ("\u{212b}.png", "\u{c5}.png"),
        ("ha\u{308} 1.png", "h\u{e4}\u{2009}1.png"),
    ] {
        assert_eq!(find_among(&["other.png", there], asked, 10).unwrap(), there);
    }
}

#[test]
fn other_differences_are_no_match() {
    for (there, asked) in [
        ("a b.png", "a  b.png"),
        ("a b.png", "A b.png"),
        ("a b.png", r"a\ b.png"),
        ("a b.png", "a%20b.png"),
        ("a b.png", "a\tb.png"),
        ("a b.png", "ab.png"),
        ("a b.png", "a\u{200b}b.png"),
        ("fi.png", "\u{fb01}.png"),
        ("a b.png", "a b.png "),
    ] {
        let error = find_among(&[there], asked, 10).expect_err(asked);
        assert!(error.is_missing(), "{error}");
    }
}

#[test]
fn several_matches_are_listed_in_order_and_cut() {
    let error = find_among(&["a\u{202f}b", "a\u{a0}b", "c"], "a b", 10).unwrap_err();
    assert_eq!((error.code(), error.candidates()), ("not_found", &["a\u{a0}b".to_owned(), "a\u{202f}b".into()][..]));
    let many: Vec<String> = ('\u{2002}'..='\u{2008}').map(|space| format!("a{space}b")).collect();
    let error = find_among(&many.iter().map(|name| &**name).collect::<Vec<_>>(), "a b", 10).unwrap_err();
    assert_eq!(error.candidates(), &many[..MAX_LISTED]);
    assert!(error.to_string().ends_with(", …"), "{error}");
}

#[test]
fn the_look_is_bounded() {
    let names = ["1", "2", "3", "4", "a\u{a0}b"];
    assert_eq!(find_among(&names, "a b", 5).unwrap(), "a\u{a0}b");
    let error = find_among(&names, "a b", 4).unwrap_err();
    assert_eq!(error.code(), "not_found");
    assert!(error.to_string().contains("more than 4 entries"), "{error}");
}

proptest! {
    #[test]
    fn folding_is_settled_after_once(name in any::<String>()) {
        prop_assert_eq!(folded(&folded(&name)), folded(&name));
    }

    #[test]
    fn composition_and_kind_of_space_do_not_matter(name in "[a-zé日 ü.\u{202f}\u{a0}\u{301}\u{323}]{0,12}", space in 0..17usize) {
        let spaces: Vec<char> = ('\0'..='\u{ffff}').filter(|c| is_space(*c)).collect();
        prop_assert_eq!(spaces.len(), 17);
        let decomposed: String = name.nfd().collect();
        prop_assert_eq!(folded(&decomposed), folded(&name));
        let respaced: String = name.chars().map(|c| if is_space(c) { spaces[space] } else { c }).collect();
        prop_assert_eq!(folded(&respaced), folded(&name));
    }

    #[test]
    fn plain_names_fold_to_themselves(name in "[ -~]{0,20}") {
        prop_assert_eq!(folded(&name), name);
    }
}
