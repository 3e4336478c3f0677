//! What a `read` showed, kept beside its text for whoever presents it.

use serde::Serialize;
use serde_json::Value;

use crate::tools::args::whole;

/// What a `read` showed. It is saved as `{path, offset, lines: [{number, text}], totalLines, lang?}`.
///
/// ```
/// use attache_runtime::ReadMeta;
/// use serde_json::json;
///
/// let saved = json!({"path": "a.txt", "offset": 1, "lines": [{"number": 1, "text": "one"}], "totalLines": 3});
/// let meta = ReadMeta::from_value(&saved).unwrap();
/// assert_eq!((meta.lines[0].text.as_str(), meta.total_lines), ("one", 3));
/// assert_eq!(meta.to_value(), saved);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadMeta {
    /// The file, as it was shown.
    pub path: String,
    /// The first line that was asked for, from 1.
    pub offset: u64,
    /// The lines that were shown, in ascending order.
    pub lines: Vec<ReadLine>,
    /// How many lines the file has.
    pub total_lines: u64,
    /// The language, as highlighters know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
}

/// A line as it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadLine {
    /// Its number, from 1.
    pub number: u64,
    /// Its text, cut if it was too long.
    pub text: String,
}

impl ReadMeta {
    /// As JSON.
    #[must_use]
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("strings and numbers are JSON")
    }

    /// Reads back what was saved, by whomever. `None` for anything that no `read` can have shown: a field of another type, a
    /// line number that does not ascend, begins before `offset` or lies past the end. Gaps and no lines at all are fine.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let offset = whole(fields.get("offset")?).filter(|offset| *offset > 0)?;
        let total_lines = whole(fields.get("totalLines")?)?;
        let lines: Option<Vec<_>> = fields.get("lines")?.as_array()?.iter().map(line).collect();
        let meta = Self {
            path: fields.get("path")?.as_str()?.to_owned(),
            offset,
            lines: lines?,
            total_lines,
            lang: match fields.get("lang") {
                None => None,
                Some(lang) => Some(lang.as_str()?.to_owned()),
            },
        };
        meta.is_in_order().then_some(meta)
    }

    fn is_in_order(&self) -> bool {
        let mut before = self.offset - 1;
        self.lines.iter().all(|line| {
            let follows = line.number > before && line.number <= self.total_lines;
            before = line.number;
            follows
        })
    }
}

/// What a result of `read` shows, for a view of its own. `None` where a generic one has to do: the call failed, the meta
/// is not valid, or the text is not what `read` writes.
#[must_use]
pub fn read_view(text: &str, is_error: bool, meta: &Value) -> Option<ReadMeta> {
    if is_error || !is_envelope(text) {
        return None;
    }
    ReadMeta::from_value(meta)
}

/// `<path>…</path>`, `<type>file</type>`, `<content>`, anything, an empty line, `(…)`, `</content>`.
fn is_envelope(text: &str) -> bool {
    let inside = || {
        let (path, rest) = text.split_once('\n')?;
        path.strip_prefix("<path>")?.strip_suffix("</path>")?;
        let content = rest.strip_prefix("<type>file</type>\n<content>\n")?.strip_suffix("\n</content>")?;
        let (_, footer) = content.rsplit_once("\n\n")?;
        footer.strip_prefix('(')?.strip_suffix(')')
    };
    inside().is_some_and(|footer| !footer.contains('\n'))
}

fn line(value: &Value) -> Option<ReadLine> {
    let fields = value.as_object()?;
    let number = whole(fields.get("number")?).filter(|number| *number > 0)?;
    Some(ReadLine { number, text: fields.get("text")?.as_str()?.to_owned() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn saved() -> Value {
        json!({
            "path": "a.rs",
            "offset": 2,
            "lines": [{"number": 2, "text": "b"}, {"number": 4, "text": ""}],
            "totalLines": 4,
            "lang": "rust",
        })
    }

    /// `saved` with one field set, or taken away where there is no value.
    fn with(name: &str, value: Option<Value>) -> Value {
        let mut saved = saved();
        let fields = saved.as_object_mut().unwrap();
        match value {
            Some(value) => drop(fields.insert(name.to_owned(), value)),
            None => drop(fields.remove(name)),
        }
        saved
    }

    fn numbers(offset: u64, total: u64, numbers: &[u64]) -> Value {
        let lines: Vec<_> = numbers.iter().map(|number| json!({"number": number, "text": "x"})).collect();
        json!({"path": "a", "offset": offset, "lines": lines, "totalLines": total})
    }

    #[test]
    fn what_was_saved_is_read_back() {
        for value in [
            saved(),
            with("lang", None),
            with("lines", Some(json!([]))),
            numbers(1, 0, &[]),
            numbers(9, 3, &[]),
            numbers(1, 9, &[2, 5, 9]),
            numbers(u64::MAX, u64::MAX, &[u64::MAX]),
        ] {
            let meta = ReadMeta::from_value(&value).unwrap_or_else(|| panic!("{value}"));
            assert_eq!(meta.to_value(), value);
        }
        let written_otherwise = with("offset", Some(json!(2.0)));
        assert_eq!(ReadMeta::from_value(&written_otherwise), ReadMeta::from_value(&saved()));
        let with_more = with("later", Some(json!({"a": 1})));
        assert_eq!(ReadMeta::from_value(&with_more), ReadMeta::from_value(&saved()));
    }

    #[test]
    fn everything_else_is_rejected() {
        let lines = |line: Value| with("lines", Some(json!([line])));
        for value in [
            json!(null),
            json!([]),
            json!("meta"),
            json!(3),
            with("path", None),
            with("path", Some(json!(null))),
            with("path", Some(json!(7))),
            with("totalLines", None),
            with("totalLines", Some(json!(-1))),
            with("totalLines", Some(json!(4.5))),
            with("totalLines", Some(json!("4"))),
            with("totalLines", Some(json!(null))),
            with("offset", None),
            with("offset", Some(json!(0))),
            with("offset", Some(json!(-2))),
            with("offset", Some(json!(1.5))),
            with("offset", Some(json!("2"))),
            with("lines", None),
            with("lines", Some(json!(null))),
            with("lines", Some(json!({"number": 2, "text": "b"}))),
            lines(json!(null)),
            lines(json!("b")),
            lines(json!([2, "b"])),
            lines(json!({"text": "b"})),
            lines(json!({"number": 0, "text": "b"})),
            lines(json!({"number": 2.5, "text": "b"})),
            lines(json!({"number": "2", "text": "b"})),
            lines(json!({"number": 2})),
            lines(json!({"number": 2, "text": null})),
            lines(json!({"number": 2, "text": 5})),
            with("lang", Some(json!(null))),
            with("lang", Some(json!(1))),
            numbers(1, 9, &[2, 2]),
            numbers(1, 9, &[3, 2]),
            numbers(3, 9, &[2]),
            numbers(1, 9, &[9, 10]),
            numbers(1, 0, &[1]),
        ] {
            assert_eq!(ReadMeta::from_value(&value), None, "{value}");
        }
    }

    #[test]
    fn a_view_needs_a_result_that_is_one() {
        let text =
            "<path>a</path>\n<type>file</type>\n<content>\n2: b\n4: \n\n(End of file - total 4 lines)\n</content>";
        assert_eq!(read_view(text, false, &saved()), ReadMeta::from_value(&saved()));
        assert_eq!(read_view(text, true, &saved()), None);
        assert_eq!(read_view(text, false, &json!({})), None);
        for other in [
            "",
            "Error: no",
            &text.replace("<type>file", "<type>image"),
            &text.replace("\n</content>", ""),
            &text.replace("<path>", ""),
            &text.replace("</path>", ""),
            &text.replace("(End", "End"),
            &format!("{text}\n"),
            &format!("note\n{text}"),
        ] {
            assert_eq!(read_view(other, false, &saved()), None, "{other}");
        }
    }
}
