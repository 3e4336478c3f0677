//! Profiles as TOML.

use toml::{Table, Value};

use super::merge::merge;
use super::{Profile, ProfileError, Profiles};

/// Profiles that are built on others are at most this deep.
const MOST_BASES: usize = 8;

impl Profile {
    /// Reads a profile of its own, or one over a built-in one.
    ///
    /// `extends = "anthropic"` names the built-in profile that gives whatever is not said here; without an `id` the new profile has the
    /// built-in one's. Tables are merged key by key, lists and single values are replaced. Where a `kind` of counting is named, nothing
    /// is left of the other kind. What is said about a number's source goes with the number: a value that is replaced without a word
    /// about its source has the source `set`.
    ///
    /// # Errors
    /// Text that is no TOML, a profile to extend that is not built in, a missing or unknown key, a value that is not what it should be.
    pub fn from_toml(text: &str) -> Result<Self, ProfileError> {
        read(text, |id| super::builtin::text_of(id).ok_or_else(|| unknown_base(id)))
    }
}

fn unknown_base(id: &str) -> ProfileError {
    let known: Vec<&str> = Profiles::builtin().iter().map(|profile| &*profile.id).collect();
    ProfileError::new("extends", format!("there is no built-in profile {id:?}, only {}", known.join(", ")))
}

/// Reads a profile whose bases `find` gives.
pub(super) fn read(
    text: &str,
    find: impl Fn(&str) -> Result<&'static str, ProfileError>,
) -> Result<Profile, ProfileError> {
    let mut table = parse(text)?;
    let stands_alone = !table.contains_key("extends");
    for _ in 0..MOST_BASES {
        let Some(base) = table.remove("extends") else {
            break;
        };
        let Value::String(base) = base else {
            return Err(ProfileError::new("extends", format!("{base:?} is no profile's id")));
        };
        table = merge(parse(find(&base)?)?, table);
    }
    let profile: Profile = serde_path_to_error::deserialize(table).map_err(|error| {
        let path = error.path().to_string();
        let key = if path == "." { String::new() } else { path };
        let message = error.inner().message();
        let is_partial = stands_alone && message.starts_with("missing field");
        let hint = if is_partial { "; extends = \"ID\" takes what is missing from a built-in profile" } else { "" };
        ProfileError::new(key, format!("{message}{hint}"))
    })?;
    profile.check()?;
    Ok(profile)
}

fn parse(text: &str) -> Result<Table, ProfileError> {
    text.parse().map_err(|error: toml::de::Error| ProfileError::new("", error.to_string().trim_end()))
}
