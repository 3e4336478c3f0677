//! JSON without equal keys: they are refused while it is parsed.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Number, Value};

/// No sidecar has more than three levels; what is deeper costs no stack.
const MAX_DEPTH: usize = 64;

/// The value, if the bytes are one JSON text in UTF-8 in which no object has equal keys.
///
/// A number that no `f64` can hold is an empty string instead, which stands for no valid claim: the rules then refuse it in their order.
pub(super) fn parse(bytes: &[u8]) -> Option<Value> {
    value(serde_json::from_slice(bytes).ok()?, MAX_DEPTH)
}

/// Level by level, since only the text of a number tells all of it.
fn value(raw: &RawValue, depth: usize) -> Option<Value> {
    let (text, depth) = (raw.get(), depth.checked_sub(1)?);
    match text.as_bytes().first()? {
        b'{' => {
            let Entries(entries) = serde_json::from_str(text).ok()?;
            let entries = entries.into_iter().map(|(key, raw)| Some((key, value(raw, depth)?)));
            entries.collect::<Option<Map<_, _>>>().map(Value::Object)
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items.into_iter().map(|raw| value(raw, depth)).collect::<Option<_>>().map(Value::Array)
        }
        b'-' | b'0'..=b'9' => number(text),
        _ => serde_json::from_str(text).ok(),
    }
}

fn number(text: &str) -> Option<Value> {
    if let Ok(integer) = text.parse::<i64>() {
        // Of -0 the sign is nothing.
        return Some(integer.into());
    }
    let float: f64 = text.parse().ok()?;
    Some(Number::from_f64(float).map_or_else(|| Value::String(String::new()), Value::Number))
}

/// The entries of an object whose keys are all different.
struct Entries<'de>(Vec<(String, &'de RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Unequal).map(Self)
    }
}

struct Unequal;

impl<'de> Visitor<'de> for Unequal {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let (mut found, mut keys) = (Vec::new(), std::collections::HashSet::new());
        while let Some((key, raw)) = entries.next_entry::<String, &RawValue>()? {
            if !keys.insert(key.clone()) {
                return Err(A::Error::custom("equal keys"));
            }
            found.push((key, raw));
        }
        Ok(found)
    }
}
