//! The arguments of a call, which come from a model and may be anything.

use serde_json::Value;

use crate::tools::error::ToolError;

/// The path of every tool: a string with something in it.
pub(crate) fn path(input: &Value) -> Result<&str, ToolError> {
    let path = input.get("file_path").and_then(Value::as_str);
    path.filter(|path| !path.trim().is_empty()).ok_or_else(ToolError::blank_path)
}

/// A text that has to be there, maybe an empty one.
pub(crate) fn text<'a>(input: &'a Value, name: &'static str) -> Result<&'a str, ToolError> {
    let text = input.get(name).and_then(Value::as_str);
    text.ok_or_else(|| ToolError::argument(format!("{name} must be a string")))
}

/// A switch that is off unless it is there.
pub(crate) fn switch(input: &Value, name: &'static str) -> Result<bool, ToolError> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(on)) => Ok(*on),
        Some(_) => Err(ToolError::argument(format!("{name} must be a boolean"))),
    }
}

/// A whole number from 1 that may be left out.
pub(crate) fn positive(input: &Value, name: &'static str) -> Result<Option<u64>, ToolError> {
    match input.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match whole(value) {
            Some(number) if number > 0 => Ok(Some(number)),
            _ => Err(ToolError::argument(format!("{name} must be a positive integer"))),
        },
    }
}

/// A number that is whole and not negative, however it is written: in JSON `2.0` is the integer 2.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    // Up to here every whole number has a double of its own.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..=MAX_EXACT).contains(&number)).then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_whole_however_they_are_written() {
        for (value, number) in [
            (json!(0), Some(0)),
            (json!(7), Some(7)),
            (json!(7.0), Some(7)),
            (json!(u64::MAX), Some(u64::MAX)),
            (json!(-1), None),
            (json!(1.5), None),
            (json!(1e300), None),
            (json!("1"), None),
            (json!(null), None),
        ] {
            assert_eq!(whole(&value), number, "{value}");
        }
    }
}
