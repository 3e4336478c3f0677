//! What a session has seen of which file, and what it may therefore change.

use std::collections::{BTreeMap, BTreeSet};

use attache_workdir_fs::{FileError, FileErrorKind, Target, Version, WriteIntent};
use serde::{Deserialize, Serialize};

/// What a session has seen of the files of one [`FileSystem`](attache_workdir_fs::FileSystem): the last observation of each wins.
///
/// It does no I/O, so what it says may be out of date; the file system compares versions before it changes anything. It is
/// saved with the conversation, see [`FileSession`](crate::FileSession). After a resume a version that no longer matches is stale, and nothing worse.
///
/// | seen | a write | an edit |
/// |---|---|---|
/// | nothing | creates | is refused |
/// | no file | creates | is refused |
/// | a text | replaces that version | changes that version |
/// | a picture | creates | is refused |
///
/// Having seen a picture does not permit to write text over it.
///
/// ```
/// use attache_runtime::{Observation, Observations};
///
/// let mut seen = Observations::default();
/// seen.observe("notes.txt", Observation::Absent);
/// let saved = serde_json::to_string(&seen)?;
/// assert_eq!(saved, r#"{"notes.txt":{"state":"absent"}}"#);
/// assert_eq!(serde_json::from_str::<Observations>(&saved)?, seen);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Observations(BTreeMap<String, Observation>);

/// What was last seen of a file. A file without one is unseen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Observation {
    /// It was not there.
    Absent,
    /// Its text, or a part of it.
    Present {
        /// In which state.
        version: Version,
    },
    /// It was looked at as a picture.
    Picture {
        /// In which state.
        version: Version,
    },
}

impl Observations {
    /// Remembers what was seen of the file with this [key](Target::key).
    pub fn observe(&mut self, key: impl Into<String>, observation: Observation) {
        self.0.insert(key.into(), observation);
    }

    /// What was last seen of a file; `None` if it is unseen.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Observation> {
        self.0.get(key)
    }

    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The observations of these files alone.
    pub(crate) fn only(&self, keys: &BTreeSet<String>) -> Self {
        let seen = keys.iter().filter_map(|key| self.0.get_key_value(key));
        Self(seen.map(|(key, seen)| (key.clone(), seen.clone())).collect())
    }

    /// On what condition a file may be written.
    #[must_use]
    pub fn write_intent(&self, key: &str) -> WriteIntent {
        match self.get(key) {
            Some(Observation::Present { version }) => WriteIntent::ReplaceIfVersion(version.clone()),
            Some(Observation::Absent | Observation::Picture { .. }) | None => WriteIntent::CreateIfAbsent,
        }
    }

    /// The version that an edit must find.
    ///
    /// # Errors
    ///
    /// `FS_NOT_OBSERVED` `edit requires reading "p" first`; `FS_NOT_FOUND` `cannot edit "p": not found` where it was seen to be absent.
    pub fn edit_guard(&self, target: &Target) -> Result<Version, FileError> {
        let path = target.display();
        match self.get(target.key()) {
            Some(Observation::Present { version }) => Ok(version.clone()),
            Some(Observation::Absent) => {
                Err(FileError::new(FileErrorKind::NotFound, format!("cannot edit \"{path}\": not found")))
            }
            Some(Observation::Picture { .. }) | None => {
                let message = format!("edit requires reading \"{path}\" first");
                Err(FileError::new(FileErrorKind::NotObserved, message))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::new(text)
    }

    #[test]
    fn every_state_says_what_may_be_written_and_edited() {
        let target = Target::new("k", "a.txt");
        let not_observed = (FileErrorKind::NotObserved, "edit requires reading \"a.txt\" first".to_owned());
        let not_found = (FileErrorKind::NotFound, "cannot edit \"a.txt\": not found".to_owned());
        for (seen, intent, guard) in [
            (None, WriteIntent::CreateIfAbsent, Err(not_observed.clone())),
            (Some(Observation::Absent), WriteIntent::CreateIfAbsent, Err(not_found)),
            (
                Some(Observation::Present { version: version("1") }),
                WriteIntent::ReplaceIfVersion(version("1")),
                Ok(version("1")),
            ),
            (Some(Observation::Picture { version: version("1") }), WriteIntent::CreateIfAbsent, Err(not_observed)),
        ] {
            let mut observations = Observations::default();
            if let Some(seen) = &seen {
                observations.observe("k", seen.clone());
            }
            assert_eq!(observations.write_intent("k"), intent, "{seen:?}");
            let found = observations.edit_guard(&target).map_err(|error| (error.kind(), error.to_string()));
            assert_eq!(found, guard, "{seen:?}");
            assert_eq!(observations.write_intent("other"), WriteIntent::CreateIfAbsent);
        }
    }

    #[test]
    fn the_last_observation_wins() {
        let mut observations = Observations::default();
        let present = |text| Observation::Present { version: version(text) };
        for seen in [present("1"), Observation::Absent, present("2"), present("3")] {
            observations.observe("k", seen.clone());
            assert_eq!(observations.get("k"), Some(&seen));
        }
    }

    #[test]
    fn what_was_saved_is_loaded() {
        let mut observations = Observations::default();
        observations.observe("a", Observation::Absent);
        observations.observe("b", Observation::Present { version: version("1:2") });
        observations.observe("c", Observation::Picture { version: version("3") });
        let saved = serde_json::to_value(&observations).unwrap();
        let expected = serde_json::json!({
            "a": {"state": "absent"},
            "b": {"state": "present", "version": "1:2"},
            "c": {"state": "picture", "version": "3"},
        });
        assert_eq!(saved, expected);
        assert_eq!(serde_json::from_value::<Observations>(saved).unwrap(), observations);
    }
}
