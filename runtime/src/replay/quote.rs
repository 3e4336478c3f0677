//! `{{fromRequest:REGEX}}`: a part of the request in a scripted string.

use std::collections::HashMap;

use crate::driver::DriverError;
use crate::replay::{ScriptError, ScriptedDriver};

const BEGIN: &str = "{{fromRequest:";
const END: &str = "}}";

/// The most bytes that one compiled regex takes: a guess, far above what a quote needs.
#[cfg(feature = "replay")]
const MAX_COMPILED: usize = 1 << 20;

#[cfg(feature = "replay")]
type Regex = regex::Regex;
#[cfg(not(feature = "replay"))]
type Regex = std::convert::Infallible;

/// The quotes of a script, ready to be searched for. Empty for one whose strings are taken as they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Quotes(HashMap<String, Regex>);

impl Quotes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes in what a string quotes.
    pub(super) fn learn(&mut self, text: &str) -> Result<(), ScriptError> {
        for part in parts(text) {
            if let Part::Quote(pattern) = part? {
                let regex = compile(pattern)
                    .map_err(|reason| ScriptError::Quote { quote: format!("{BEGIN}{pattern}{END}"), reason })?;
                self.0.insert(pattern.to_owned(), regex);
            }
        }
        Ok(())
    }

    /// The string with the quotes filled in. What is filled in is not looked at again.
    pub(super) fn fill(&self, text: &str, request: &str) -> Result<String, DriverError> {
        if self.is_empty() {
            return Ok(text.to_owned());
        }
        let mut out = String::with_capacity(text.len());
        // That every quote has an end was seen when it was learned.
        for part in parts(text).flatten() {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Quote(pattern) => {
                    let found = self.0.get(pattern).and_then(|regex| last_match(regex, request));
                    out.push_str(found.ok_or_else(|| no_match(pattern))?);
                }
            }
        }
        Ok(out)
    }
}

fn no_match(pattern: &str) -> DriverError {
    DriverError::new(ScriptedDriver::NO_MATCH, format!("nothing in the request matches \"{pattern}\""))
}

#[cfg(feature = "replay")]
fn compile(pattern: &str) -> Result<Regex, String> {
    let built = regex::RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
    built.map_err(|error| error.to_string())
}

#[cfg(not(feature = "replay"))]
fn compile(_: &str) -> Result<Regex, String> {
    Err("this build has not the feature `replay`".to_owned())
}

#[cfg(feature = "replay")]
fn last_match<'a>(regex: &Regex, request: &'a str) -> Option<&'a str> {
    // Only the last match is asked for its groups, which costs more than finding it.
    let last = regex.find_iter(request).last()?;
    let groups = regex.captures_at(request, last.start())?;
    Some(groups.get(1).unwrap_or(last).as_str())
}

#[cfg(not(feature = "replay"))]
fn last_match<'a>(regex: &Regex, _: &'a str) -> Option<&'a str> {
    match *regex {}
}

enum Part<'a> {
    Text(&'a str),
    Quote(&'a str),
}

/// The parts of a string, in order; an error for a quote without an end, which is the last part.
fn parts(text: &str) -> impl Iterator<Item = Result<Part<'_>, ScriptError>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        out.push(Ok(Part::Text(&rest[..begin])));
        let inner = &rest[begin + BEGIN.len()..];
        let Some(end) = end_of(inner) else {
            out.push(Err(ScriptError::Quote { quote: rest[begin..].to_owned(), reason: "it has no end".to_owned() }));
            return out.into_iter();
        };
        out.push(Ok(Part::Quote(&inner[..end])));
        rest = &inner[end + END.len()..];
    }
    out.push(Ok(Part::Text(rest)));
    out.into_iter()
}

/// A regex may end with a brace of its own, as `[0-9]{3}` does.
fn end_of(inner: &str) -> Option<usize> {
    let end = inner.find(END)?;
    Some(end + inner[end + END.len()..].bytes().take_while(|byte| *byte == b'}').count())
}

#[cfg(all(test, feature = "replay"))]
mod tests {
    use super::*;

    fn filled(text: &str, request: &str) -> Result<String, String> {
        let mut quotes = Quotes::default();
        quotes.learn(text).map_err(|error| error.to_string())?;
        quotes.fill(text, request).map_err(|error| error.to_string())
    }

    #[test]
    fn the_last_match_is_quoted_or_its_first_group() {
        let request = r#"{"id":"a1","id":"b22","id":"c3","text":"{{fromRequest:x}}"}"#;
        for (text, expected) in [
            ("plain }} {{", "plain }} {{"),
            ("{{fromRequest:[a-c][0-9]+}}", "c3"),
            ("<{{fromRequest:[a-c][0-9]{2}}}>", "<b22>"),
            (r#"{{fromRequest:"id":"(\w+)"}}!"#, "c3!"),
            ("{{fromRequest:a1}}{{fromRequest:b(2)}}", "a12"),
            ("{{fromRequest:(z)?a1}}", "a1"),
            ("{{fromRequest:\\{\\{.*x}}", "{{fromRequest:x"),
            ("{{fromRequest:(?:a|b)\\d+}}", "b22"),
            // The place of a match counts, not what could match there on its own.
            ("{{fromRequest:\\bc(.)}}", "3"),
        ] {
            let text = text.replace("\\\\", "\\");
            assert_eq!(filled(&text, request).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_quoted_is_said() {
        for (text, why) in [
            ("{{fromRequest:none}}", "nothing in the request matches \"none\" (script_no_match)"),
            ("{{fromRequest:}", "the quote \"{{fromRequest:}\" cannot be used: it has no end"),
            ("{{fromRequest:(}}", "the quote \"{{fromRequest:(}}\" cannot be used: regex parse error"),
            ("{{fromRequest:(?:\\w{1000}){1000}}}", "exceeds size limit"),
        ] {
            let error = filled(text, "{}").unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
