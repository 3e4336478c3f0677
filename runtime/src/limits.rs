//! How many images, and how large: the `context.images` object of a host's configuration.

use attache_conversation::{DEFAULT_MAX_BYTES, clean_to};
use serde::Deserialize;
use serde_json::Value;

/// The limits on images, each within its range.
///
/// | field | meaning | default | range |
/// |---|---|---|---|
/// | `keep` | newest images that a request shows as bytes | 5 | 0–1000 |
/// | `max_bytes` | largest accepted image in bytes, inclusive | 3 932 160 | 1–67 108 864 |
/// | `max_per_turn` | images accepted in one model turn | 5 | 0–1000 |
///
/// The default of `max_bytes` is what becomes 5 242 880 characters of base64, the strictest limit on one image that
/// a model service is known to apply.
///
/// ```
/// use attache_runtime::Limits;
///
/// let limits = Limits::builder().keep(2).build()?;
/// assert_eq!((limits.keep(), limits.max_bytes(), limits.max_per_turn()), (2, 3_932_160, 5));
///
/// let error = Limits::builder().max_bytes(0).build().unwrap_err();
/// assert_eq!(error.to_string(), "context.images.max_bytes is 0, and must be a whole number from 1 to 67108864");
/// # Ok::<(), attache_runtime::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Given")]
pub struct Limits {
    keep: usize,
    max_bytes: u64,
    max_per_turn: usize,
}

/// Gathers [`Limits`]; what is not set has its default.
#[derive(Clone, Copy, Debug, Default)]
pub struct LimitsBuilder {
    keep: Option<u64>,
    max_bytes: Option<u64>,
    max_per_turn: Option<u64>,
}

/// A limit that is out of its range: the field, the value and the range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}, and must be a whole number from {min} to {max}")]
pub struct LimitError {
    field: &'static str,
    value: String,
    min: u64,
    max: u64,
}

/// Name, smallest and largest value of a field.
type Field = (&'static str, u64, u64);

const KEEP: Field = ("context.images.keep", 0, 1000);
const MAX_BYTES: Field = ("context.images.max_bytes", 1, 67_108_864);
const MAX_PER_TURN: Field = ("context.images.max_per_turn", 0, 1000);

const DEFAULT_KEEP: u64 = 5;
const DEFAULT_MAX_PER_TURN: u64 = 5;

impl Default for Limits {
    fn default() -> Self {
        Self::builder().build().expect("every default lies in its range")
    }
}

impl Limits {
    /// Starts from the defaults.
    #[must_use]
    pub fn builder() -> LimitsBuilder {
        LimitsBuilder::default()
    }

    /// All three at once.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn new(keep: u64, max_bytes: u64, max_per_turn: u64) -> Result<Self, LimitError> {
        let (keep, max_bytes, max_per_turn) =
            (within(KEEP, keep)?, within(MAX_BYTES, max_bytes)?, within(MAX_PER_TURN, max_per_turn)?);
        Ok(Self { keep: keep as usize, max_bytes, max_per_turn: max_per_turn as usize })
    }

    /// How many of the newest images a request shows as bytes.
    #[must_use]
    pub fn keep(&self) -> usize {
        self.keep
    }

    /// The largest accepted image in bytes, inclusive.
    #[must_use]
    pub fn max_bytes(&self) -> u64 {
        self.max_bytes
    }

    /// How many images one model turn may bring.
    #[must_use]
    pub fn max_per_turn(&self) -> usize {
        self.max_per_turn
    }
}

impl LimitsBuilder {
    /// Sets [`Limits::keep`].
    #[must_use]
    pub fn keep(mut self, keep: u64) -> Self {
        self.keep = Some(keep);
        self
    }

    /// Sets [`Limits::max_bytes`].
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// Sets [`Limits::max_per_turn`].
    #[must_use]
    pub fn max_per_turn(mut self, max_per_turn: u64) -> Self {
        self.max_per_turn = Some(max_per_turn);
        self
    }

    /// Checks the values.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn build(self) -> Result<Limits, LimitError> {
        Limits::new(
            self.keep.unwrap_or(DEFAULT_KEEP),
            self.max_bytes.unwrap_or(DEFAULT_MAX_BYTES),
            self.max_per_turn.unwrap_or(DEFAULT_MAX_PER_TURN),
        )
    }
}

impl LimitError {
    /// The field's full name, for example `context.images.keep`.
    #[must_use]
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// The value as it was given, as text.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The smallest and the largest value allowed.
    #[must_use]
    pub fn range(&self) -> (u64, u64) {
        (self.min, self.max)
    }

    fn new((field, min, max): Field, value: String) -> Self {
        Self { field, value, min, max }
    }
}

fn within(field: Field, value: u64) -> Result<u64, LimitError> {
    let (_, min, max) = field;
    if (min..=max).contains(&value) { Ok(value) } else { Err(LimitError::new(field, value.to_string())) }
}

/// The object as somebody wrote it. Any value is read first, so that a wrong one is refused by name and range.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    keep: Option<Value>,
    max_bytes: Option<Value>,
    max_per_turn: Option<Value>,
}

impl TryFrom<Given> for Limits {
    type Error = LimitError;

    fn try_from(given: Given) -> Result<Self, LimitError> {
        let builder = LimitsBuilder {
            keep: whole(KEEP, given.keep)?,
            max_bytes: whole(MAX_BYTES, given.max_bytes)?,
            max_per_turn: whole(MAX_PER_TURN, given.max_per_turn)?,
        };
        builder.build()
    }
}

fn whole(field: Field, value: Option<Value>) -> Result<Option<u64>, LimitError> {
    // Long enough for every number, short enough for a message.
    const MAX_SHOWN: usize = 40;

    let Some(value) = value else { return Ok(None) };
    match value.as_u64() {
        Some(number) => Ok(Some(number)),
        None => Err(LimitError::new(field, clean_to(&value.to_string(), MAX_SHOWN))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        let limits = Limits::default();
        assert_eq!((limits.keep(), limits.max_bytes(), limits.max_per_turn()), (5, 3_932_160, 5));
        assert_eq!(serde_json::from_str::<Limits>("{}").unwrap(), limits);
    }

    #[test]
    fn the_edges_of_every_range() {
        for (keep, max_bytes, max_per_turn, wrong) in [
            (0, 1, 0, None),
            (1000, 67_108_864, 1000, None),
            (1001, 1, 0, Some(("context.images.keep", "1001", (0, 1000)))),
            (0, 0, 0, Some(("context.images.max_bytes", "0", (1, 67_108_864)))),
            (0, 67_108_865, 0, Some(("context.images.max_bytes", "67108865", (1, 67_108_864)))),
            (0, 1, 1001, Some(("context.images.max_per_turn", "1001", (0, 1000)))),
        ] {
            let result = Limits::new(keep, max_bytes, max_per_turn);
            let found = result.as_ref().err().map(|error| (error.field(), error.value(), error.range()));
            assert_eq!(found, wrong, "{keep} {max_bytes} {max_per_turn}");
        }
    }

    #[test]
    fn configuration_is_checked_like_code() {
        let ok: Limits = serde_json::from_str(r#"{"keep": 0, "max_bytes": 1024}"#).unwrap();
        assert_eq!(ok, Limits::new(0, 1024, 5).unwrap());
        for (text, expected) in [
            (r#"{"keep": 1001}"#, "context.images.keep is 1001, and must be a whole number from 0 to 1000"),
            (r#"{"keep": -1}"#, "context.images.keep is -1, and"),
            (r#"{"max_bytes": 2.5}"#, "context.images.max_bytes is 2.5, and"),
            (r#"{"max_per_turn": "5"}"#, "context.images.max_per_turn is \"5\", and"),
            (r#"{"max_per_turn": 1e30}"#, "context.images.max_per_turn is 1e"),
            (r#"{"kept": 3}"#, "unknown field `kept`"),
        ] {
            let error = serde_json::from_str::<Limits>(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
