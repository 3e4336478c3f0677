//! What the file tools know of one session.

use std::sync::{Mutex, MutexGuard, PoisonError};

use attache_workdir_fs::{FileError, Target, Version, WriteIntent};

use crate::driver::ModelInfo;
use crate::tools::policy::{Observation, Observations};

/// What the file tools know of one session: what it has seen, and which model it last asked.
#[derive(Debug, Default)]
pub struct FileSession(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    seen: Observations,
    latest: Latest,
}

/// The model of the latest request.
#[derive(Clone, Debug, Default)]
enum Latest {
    /// No request was made yet.
    #[default]
    None,
    /// It is not known which one it was.
    Unresolved,
    Model(ModelInfo),
}

impl FileSession {
    /// A session that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A session that goes on with what it had seen.
    #[must_use]
    pub fn resume(seen: Observations) -> Self {
        Self(Mutex::new(State { seen, latest: Latest::None }))
    }

    /// What it has seen, to be saved.
    #[must_use]
    pub fn observations(&self) -> Observations {
        self.state().seen.clone()
    }

    /// Tells the model of a request that is about to be made; `None` if it could not be found out.
    pub fn note_request(&self, model: Option<ModelInfo>) {
        self.state().latest = model.map_or(Latest::Unresolved, Latest::Model);
    }

    /// The model of the latest request, or `fallback` where there was none.
    pub(crate) fn model(&self, fallback: Option<&ModelInfo>) -> Option<ModelInfo> {
        match &self.state().latest {
            Latest::None => fallback.cloned(),
            Latest::Unresolved => None,
            Latest::Model(model) => Some(model.clone()),
        }
    }

    pub(crate) fn observe(&self, key: &str, observation: Observation) {
        self.state().seen.observe(key, observation);
    }

    pub(crate) fn write_intent(&self, key: &str) -> WriteIntent {
        self.state().seen.write_intent(key)
    }

    pub(crate) fn edit_guard(&self, target: &Target) -> Result<Version, FileError> {
        self.state().seen.edit_guard(target)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is one assignment or one insertion.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
