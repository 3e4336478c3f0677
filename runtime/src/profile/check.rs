//! What a profile must be besides well-formed.

use super::Profile;
use super::limits::{Cap, EdgeLimit, Unit};

/// A profile that cannot be used: where, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct ProfileError {
    key: String,
    message: String,
}

impl ProfileError {
    pub(super) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }

    /// Always `invalid_profile`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        "invalid_profile"
    }

    /// The key, such as `limits.per_image.max`; empty where the text as a whole is wrong.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl Profile {
    /// Looks for what contradicts itself. Profiles that are read from TOML have been looked at.
    ///
    /// # Errors
    /// The first thing found, and its key.
    pub fn check(&self) -> Result<(), ProfileError> {
        let named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if self.id.is_empty() || !self.id.chars().all(named) {
            return Err(ProfileError::new(
                "id",
                format!("{:?} is not made of lower-case letters, digits and -", self.id),
            ));
        }
        self.check_units()?;
        self.check_edges()
    }

    fn check_units(&self) -> Result<(), ProfileError> {
        let limits = &self.limits;
        for (key, limit, allowed) in [
            ("per_image", &limits.per_image, &[Unit::B64Chars, Unit::DataUrlChars, Unit::RawBytes][..]),
            ("pixels", &limits.pixels, &[Unit::Pixels]),
            ("request_bytes", &limits.request_bytes, &[Unit::HttpBody, Unit::B64Chars]),
        ] {
            if !allowed.contains(&limit.unit) {
                let message = format!("{} are not what it counts", limit.unit.words());
                return Err(ProfileError::new(format!("limits.{key}.unit"), message));
            }
            if limit.max == Cap::At(0) {
                return Err(ProfileError::new(format!("limits.{key}.max"), "0 lets nothing through"));
            }
        }
        Ok(())
    }

    fn check_edges(&self) -> Result<(), ProfileError> {
        const KEY: &str = "limits.edge_by_count";
        let edges = &self.limits.edge_by_count;
        let Some((last, others)) = edges.split_last() else {
            return Err(ProfileError::new(KEY, "is empty; an edge that is not known is max_edge = \"unknown\""));
        };
        let counts: Option<Vec<u32>> = others.iter().map(|limit| limit.when_images_lte).collect();
        let ascending = counts.is_some_and(|counts| counts.is_sorted_by(|a, b| a < b));
        if !ascending || last.when_images_lte.is_some() {
            return Err(ProfileError::new(KEY, "when_images_lte must rise, and only the last one is without it"));
        }
        match edges.iter().position(|EdgeLimit { max_edge, .. }| *max_edge == Cap::At(0)) {
            Some(at) => Err(ProfileError::new(format!("{KEY}[{at}].max_edge"), "0 lets nothing through")),
            None => Ok(()),
        }
    }
}
