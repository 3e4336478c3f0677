//! What a write or an edit changed, kept beside its text for whoever presents it.

use std::fmt;
use std::time::{Duration, Instant};

use attache_workdir_fs::{Operation, Written};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// How many unchanged lines surround a change.
const CONTEXT: usize = 3;

/// The most bytes of both texts that are compared, and the most bytes of lines that are kept: what nobody can look through is
/// not worth the log. Both are guesses.
const MAX_COMPARED: usize = 20 << 20;
const MAX_KEPT: usize = 256 << 10;

/// The most lines of both texts, those at both ends that are the same left out, that are compared line by line, and for how long. Texts of few
/// different lines in ever new order take the square of their length; where time runs out, the rest counts as replaced.
const MAX_LINES: usize = 400_000;
const MAX_TIME: Duration = Duration::from_millis(250);

/// What a write or an edit changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiffMeta {
    /// The file, as it was shown.
    pub path: String,
    /// Whether the file is new.
    pub created: bool,
    /// The changes in unified form, with 3 lines of context, as small as could be found out in a quarter of a second. `None` where the
    /// old text was no text or too large, and where the changes are larger than 256 KiB or more than 400 000 lines apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<Hunk>>,
}

/// Changed lines that stand together, and those around them. Its `Display` is the hunk in unified form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The first line of the old text, from 1; where there is none, the line before it, from 0.
    pub old_start: usize,
    /// How many lines of the old text.
    pub old_lines: usize,
    /// The first line of the new text, as for the old.
    pub new_start: usize,
    /// How many lines of the new text.
    pub new_lines: usize,
    /// The lines without their newline, each after a space, a `-` or a `+`. `\ No newline at end of file` follows a last line
    /// that does not end.
    pub lines: Vec<String>,
}

impl DiffMeta {
    /// Compares what there was with what there is. Takes time where both are long.
    pub(crate) fn of(path: &str, written: &Written) -> Self {
        let created = written.operation == Operation::Create;
        let before = if created { Some("") } else { written.before.as_deref() };
        Self { path: path.to_owned(), created, hunks: before.and_then(|before| hunks(before, &written.after)) }
    }

    /// As JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("strings and numbers are JSON")
    }

    /// Reads back what was saved; `None` for anything else.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }
}

impl fmt::Display for Hunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |start: usize, lines: usize| match lines {
            1 => start.to_string(),
            _ => format!("{start},{lines}"),
        };
        let (old, new) = (range(self.old_start, self.old_lines), range(self.new_start, self.new_lines));
        writeln!(f, "@@ -{old} +{new} @@")?;
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

fn hunks(before: &str, after: &str) -> Option<Vec<Hunk>> {
    if before.len() + after.len() > MAX_COMPARED {
        return None;
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let mut room = MAX_KEPT;
    if old.len() + new.len() - 2 * same_ends(&old, &new) > MAX_LINES {
        return None;
    }
    let deadline = Instant::now().checked_add(MAX_TIME);
    let groups = group_diff_ops(capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline), CONTEXT);
    groups.iter().filter(|group| !group.is_empty()).map(|group| hunk(group, &old, &new, &mut room)).collect()
}

/// How many lines at the beginning and at the end are the same.
fn same_ends(old: &[&str], new: &[&str]) -> usize {
    let same = |(a, b): &(&&str, &&str)| a == b;
    let begin = old.iter().zip(new).take_while(same).count();
    begin + old[begin..].iter().rev().zip(new[begin..].iter().rev()).take_while(same).count()
}

/// `None` once there is no more room.
fn hunk(group: &[DiffOp], old: &[&str], new: &[&str], room: &mut usize) -> Option<Hunk> {
    let (first, last) = (group.first()?, group.last()?);
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let mut lines = Vec::new();
    for op in group {
        let (removed, added) = (&old[op.old_range()], &new[op.new_range()]);
        if matches!(op, DiffOp::Equal { .. }) {
            push_all(&mut lines, ' ', removed, room)?;
        } else {
            push_all(&mut lines, '-', removed, room)?;
            push_all(&mut lines, '+', added, room)?;
        }
    }
    Some(Hunk {
        old_start: start(&old_range),
        old_lines: old_range.len(),
        new_start: start(&new_range),
        new_lines: new_range.len(),
        lines,
    })
}

/// An empty range is named by the line before it.
fn start(range: &std::ops::Range<usize>) -> usize {
    if range.is_empty() { range.start } else { range.start + 1 }
}

fn push_all(to: &mut Vec<String>, sign: char, lines: &[&str], room: &mut usize) -> Option<()> {
    for line in lines {
        *room = room.checked_sub(line.len() + 1)?;
        let text = line.strip_suffix('\n');
        to.push(format!("{sign}{}", text.unwrap_or(line)));
        if text.is_none() {
            to.push("\\ No newline at end of file".to_owned());
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use attache_workdir_fs::Version;

    use super::*;

    fn unified(before: &str, after: &str) -> String {
        hunks(before, after).unwrap().iter().map(Hunk::to_string).collect()
    }

    #[test]
    fn hunks_have_three_lines_of_context() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("5\n6\n", "5\nfive and a half\n6\n").replace("\n16\n", "\nsixteen\n");
        assert_eq!(
            unified(&before, &after),
            "@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+five and a half\n 6\n 7\n 8\n\
             @@ -13,7 +14,7 @@\n 13\n 14\n 15\n-16\n+sixteen\n 17\n 18\n 19\n"
        );
    }

    #[test]
    fn ends_and_empty_texts() {
        for (before, after, expected) in [
            ("", "", ""),
            ("a\n", "a\n", ""),
            ("", "a\n", "@@ -0,0 +1 @@\n+a\n"),
            ("a\nb\n", "", "@@ -1,2 +0,0 @@\n-a\n-b\n"),
            ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
            (
                "a\nb",
                "a\nb\nc",
                "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n",
            ),
        ] {
            assert_eq!(unified(before, after), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn there_are_no_hunks_without_a_basis_or_where_they_are_too_large() {
        let written = |operation, before: Option<&str>, after: String| Written {
            operation,
            version: Version::new("1"),
            before: before.map(str::to_owned),
            after,
        };
        let hunks = |written: &Written| DiffMeta::of("a", written).hunks.map(|hunks| hunks.len());
        assert_eq!(hunks(&written(Operation::Update, None, "a\n".to_owned())), None);
        assert_eq!(hunks(&written(Operation::Create, None, "a\n".to_owned())), Some(1));
        assert_eq!(hunks(&written(Operation::Update, Some("a\n"), "x".repeat(MAX_KEPT))), None);
        assert_eq!(hunks(&written(Operation::Update, Some(""), "x".repeat(MAX_KEPT - 1))), Some(1));
        assert_eq!(hunks(&written(Operation::Create, None, "x".repeat(MAX_COMPARED + 1))), None);
        let meta = DiffMeta::of("a", &written(Operation::Update, Some("a"), "b".to_owned()));
        assert_eq!(DiffMeta::from_value(&meta.to_value()), Some(meta));
        assert_eq!(DiffMeta::from_value(&Value::Null), None);
    }

    /// Two lines in ever new order: nothing to go by, and work that grows with the square.
    #[test]
    fn long_texts_that_share_everything_are_compared_soon() {
        let text = |lines: u64, salt: u64| {
            let mut state = salt;
            let line = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if state >> 63 == 0 { "a\n" } else { "b\n" }
            };
            (0..lines).map(line).collect::<String>()
        };
        for lines in [MAX_LINES as u64 / 2, 2_000_000] {
            // It ends, on the stack of a test; how soon depends on the machine.
            assert_eq!(hunks(&text(lines, 1), &text(lines, 2)), None);
        }
    }

    #[test]
    fn a_small_change_in_a_long_text_is_found() {
        let before: String = (0..MAX_LINES).map(|n| format!("{n}\n")).collect();
        let after = before.replace("\n777\n", "\nseven\n");
        assert_eq!(unified(&before, &after).lines().count(), 9);
        assert_eq!(same_ends(&["a", "a"], &["a", "a", "a"]), 2);
        assert_eq!(same_ends(&["a", "b"], &["c", "b"]), 1);
        assert_eq!(same_ends(&[], &["c"]), 0);
    }

    #[test]
    fn long_texts_that_share_nothing_are_compared_soon() {
        let text = |salt: usize| (0..200_000).map(|n| format!("{}\n", n * 2 + salt)).collect::<String>();
        assert_eq!(hunks(&text(0), &text(1)), None);
    }
}
