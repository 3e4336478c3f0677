//! One profile's text over another's.

use toml::{Table, Value};

/// What says where a number is from, and goes with it.
const PROVENANCE: [&str; 5] = ["src", "as_of", "alt", "conflict", "note"];

/// `over` on top of `base`: see [`Profile::from_toml`](super::Profile::from_toml).
pub(super) fn merge(mut base: Table, over: Table) -> Table {
    let is_value = |(key, value): (&String, &Value)| !value.is_table() && !PROVENANCE.contains(&&**key);
    if base.contains_key("src") && over.iter().any(is_value) {
        base.retain(|key, _| !PROVENANCE.contains(&key));
    }
    if over.contains_key("kind") {
        base.clear();
    }
    for (key, value) in over {
        let merged = match (base.remove(&key), value) {
            (Some(Value::Table(base)), Value::Table(over)) => Value::Table(merge(base, over)),
            (_, value) => value,
        };
        base.insert(key, merged);
    }
    base
}
