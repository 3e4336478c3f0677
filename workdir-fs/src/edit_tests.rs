use proptest::prelude::*;

use super::*;

fn edit(old: &str, new: &str, replace_all: bool) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), replace_all }
}

fn run(content: &str, edit: &Edit) -> Result<Edited, FileError> {
    apply(content.as_bytes().to_vec(), edit, &Target::new("k", "p"))
}

fn edited(content: &str, old: &str, new: &str) -> String {
    let edited = run(content, &edit(old, new, true)).unwrap_or_else(|error| panic!("{content:?}: {error}"));
    String::from_utf8(edited.bytes).unwrap()
}

#[test]
fn each_line_keeps_its_ending() {
    // `L` and `C` stand for the two endings, to make them seen.
    let real = |text: &str| text.replace('L', "\n").replace('C', "\r\n");
    for (content, old, new, expected) in [
        // Uniform files.
        ("aCbCcC", "b", "xLy", "aCxCyCcC"),
        ("aLbLcL", "b", "xLy", "aLxLyLcL"),
        ("a", "a", "xLyL", "xLyL"),
        ("aCb", "b", "xLyL", "aCxCyC"),
        // The line is split: both halves end as it did.
        ("aCbLcC", "b", "xLy", "aCxLyLcC"),
        ("aLbCcL", "b", "xLy", "aLxCyCcL"),
        ("aLabbaCcL", "bb", "xLy", "aLaxCyaCcL"),
        // As many lines as before, changed or not.
        ("aCbLcC", "aLbLcL", "xLyLzL", "xCyLzC"),
        ("aLbCcL", "aLbLc", "xLbLz", "xLbCzL"),
        // A line more between lines that stay: they keep theirs, and the new one ends as most do.
        ("aCbLcCdC", "aLbLcL", "aLnewLbLcL", "aCnewCbLcCdC"),
        ("aLbCcLdL", "aLbLcL", "aLbLnewLcL", "aLbCnewLcLdL"),
        ("aCbLcCdC", "aLbLcL", "aLbLcLnewL", "aCbLcCnewCdC"),
        ("aCbLcCdC", "bLcL", "newLbLcL", "aCnewCbLcCdC"),
        // Changed lines around lines that stay, and more of them.
        ("aLxCyLbCzC", "aLxLyLb", "a1La2LxLyLb1Lb2", "a1La2LxCyLb1Cb2CzC"),
        // A part of a line is not the whole line of the same text.
        ("aCyzLbC", "aLy", "yLq", "yCqzLbC"),
        ("zyCaLbC", "yLaL", "qLyL", "zqCyLbC"),
        // A line fewer.
        ("aCbLcCdL", "aLbLcL", "aLcL", "aCcCdL"),
        ("aCbLcC", "aLb", "ab", "abLcC"),
        ("aCbLcC", "aLbL", "", "cC"),
        // The last line has no ending to give: most lines decide.
        ("aCbCcLd", "d", "xLy", "aCbCcLxCy"),
        ("aCbLcLd", "d", "xLyL", "aCbLcLxLyL"),
        ("aCbLc", "c", "xLy", "aCbLxLy"),
        // Every match by itself, many in one line.
        ("tCtLtC", "t", "xLy", "xCyCxLyLxCyC"),
        ("tttLaCbC", "t", "xL", "xLxLxLLaCbC"),
        ("aCtttLbCtttCc", "t", "-L", "aC-L-L-LLbC-C-C-CCc"),
        // The match takes part of an ending.
        ("aCbL", "L", ";L", "a;Cb;L"),
        ("aCbL", "aL", "x", "xbL"),
        ("aCbL", "aLb", "aLbLc", "aCbLcL"),
        ("CLC", "L", "xL", "xCxLxC"),
        ("C", "L", "LL", "CC"),
    ] {
        let (content, expected) = (real(content), real(expected));
        assert_eq!(edited(&content, &real(old), &real(new)), expected, "{content:?} {old:?} {new:?}");
        let marked = format!("{BOM}{content}");
        assert_eq!(edited(&marked, &real(old), &real(new)), format!("{BOM}{expected}"));
        // The endings of the arguments do not matter.
        let (old, new) = (real(&old.replace('L', "C")), real(&new.replace('L', "C")));
        assert_eq!(edited(&content, &old, &new), expected);
    }
}

#[test]
fn a_lone_carriage_return_is_a_character() {
    assert_eq!(edited("a\rb\r\nc\r\r\nd", "a\rb", "x"), "x\r\nc\r\r\nd");
    // Its last `\r\n` ends a line; the one before is text, which no argument can spell.
    assert_eq!(edited("c\r\r\nd\n", "\nd", "x"), "c\rx\n");
    assert_eq!(run("c\r\r\nd", &edit("c\r\nd", "x", false)).unwrap_err().code(), "FS_EDIT_NOT_FOUND");
}

#[test]
fn growth_is_bounded() {
    let error = run(&"x".repeat(1 << 20), &edit("x", &"y".repeat(1 << 10), true)).unwrap_err();
    assert_eq!(error.to_string(), "cannot edit \"p\": 1073741824 bytes exceeds the 268435456-byte limit");
    assert_eq!(error.code(), "FS_TOO_LARGE");
}

#[test]
fn large_texts_are_paired_off() {
    // Unlike in every line, in a file of mixed endings.
    let lines = |mark: &str| (0..6000).map(|n| format!("{mark}{n}\n")).collect::<String>();
    let content = lines("a").replace("9\n", "9\r\n");
    let result = edited(&content, &lines("a"), &lines("b"));
    assert_eq!(result, content.replace('a', "b"));
}

#[test]
fn large_files_are_fast() {
    // Not timed: were any part of it quadratic, it would not end.
    let content = "some line of text\r\n".repeat(500_000) + "needle\n" + &"t".repeat(500_000);
    let result = edited(&content, "needle", "x\ny");
    assert_eq!(result.len(), content.len() + 3 - "needle".len());
    let result = edited(&content, "t", "-\n-");
    assert!(result.ends_with("-\r\n--\r\n-"));
}

/// What the contract says, put down without regard to cost, for texts without a byte order mark.
fn lf_after(content: &str, edit: &Edit) -> String {
    let [content, old, new] = [content, &edit.old, &edit.new].map(|text| text.replace("\r\n", "\n"));
    if edit.replace_all { content.replace(&old, &new) } else { content.replacen(&old, &new, 1) }
}

fn file(line: &'static str) -> impl Strategy<Value = String> {
    let line = (line, prop_oneof![Just("\n"), Just("\r\n")]);
    (proptest::collection::vec(line, 0..10), "[abü]{0,3}", any::<bool>()).prop_map(|(lines, last, bom)| {
        let lines: String = lines.into_iter().map(|(text, ending)| text + ending).collect();
        format!("{}{lines}{last}", if bom { BOM } else { "" })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A span of the file is replaced: everything before and after it is there as it was, byte for byte.
    #[test]
    fn only_the_matched_span_changes(file in file("[ab ü😀\r]{0,4}"), at in any::<(prop::sample::Index, prop::sample::Index)>(), new in "[ab\r\nü$&\\\\1]{0,8}") {
        let body = file.trim_start_matches(BOM);
        let cuts: Vec<usize> = body.char_indices().map(|(at, _)| at).chain([body.len()]).collect();
        let (one, other) = (*at.0.get(&cuts), *at.1.get(&cuts));
        let (start, end) = (one.min(other), one.max(other));
        // A lone `\r` before a line end cannot be spelled.
        prop_assume!(!new.contains("\r\r"));
        // A cut in the middle of an ending is none in the text that is matched.
        prop_assume!(![start, end].iter().any(|cut| body[..*cut].ends_with('\r') && body[*cut..].starts_with('\n')));
        let edit = edit(&body[start..end], &new, false);
        let lf = body.replace("\r\n", "\n");
        let matches = if start == end { 0 } else { lf.matches(&edit.old.replace("\r\n", "\n")).count() };
        match run(&file, &edit) {
            Err(error) => prop_assert_eq!(error.code(), if matches == 0 { "FS_EDIT_NOT_FOUND" } else { "FS_AMBIGUOUS_EDIT" }),
            Ok(edited) => {
                prop_assert_eq!(matches, 1);
                // Of overlapping matches the first is meant.
                prop_assume!(lf.find(&edit.old.replace("\r\n", "\n")) == Some(body[..start].replace("\r\n", "\n").len()));
                let bytes = String::from_utf8(edited.bytes).unwrap();
                let (before, after) = (&body[..start], &body[end..]);
                prop_assert!(bytes.starts_with(&file[..file.len() - body.len() + start]), "{:?}", bytes);
                prop_assert!(bytes.ends_with(after), "{:?}", bytes);
                let put = &bytes[file.len() - body.len() + before.len()..bytes.len() - after.len()];
                prop_assert_eq!(put.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
                prop_assert_eq!(edited.before.as_deref(), Some(lf.as_str()));
                prop_assert_eq!(edited.after, bytes.trim_start_matches(BOM).replace("\r\n", "\n"));
            }
        }
    }

    /// On the text with plain endings it is the standard library's replacement, and no ending is invented.
    #[test]
    fn it_is_a_literal_replacement(file in file("[ab ü😀]{0,4}"), old in "[ab\n]{1,2}", new in "[ab\nü]{0,5}", replace_all in any::<bool>()) {
        let edit = edit(&old, &new, replace_all);
        if let Ok(edited) = run(&file, &edit) {
            let body = file.trim_start_matches(BOM);
            let bytes = String::from_utf8(edited.bytes).unwrap();
            prop_assert_eq!(&bytes.trim_start_matches(BOM).replace("\r\n", "\n"), &lf_after(body, &edit));
            prop_assert_eq!(bytes.starts_with(BOM), file.starts_with(BOM));
            let plain = |text: &str| text.replace("\r\n", "").contains('\n');
            prop_assert!(!bytes.contains("\r\n") || body.contains("\r\n"), "an ending that was nowhere");
            prop_assert!(!plain(&bytes) || plain(body) || !body.contains('\n'), "an ending that was nowhere");
        }
    }
}
