//! What the file tools know of one session.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use attache_conversation::{ConversationError, View};
use attache_workdir_fs::{FileError, Target, Version, WriteIntent};

use crate::driver::ModelInfo;
use crate::tools::policy::{Observation, Observations};
use crate::tools::saved;

/// What the file tools know of one session: what it has seen, and which model it last asked.
///
/// A session belongs to one conversation. [`AgentLoop`](crate::AgentLoop) saves what it sees in the same write as the results by which the
/// model saw it, and [`load`](Self::load) goes on from there.
#[derive(Debug, Default)]
pub struct FileSession(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    seen: Observations,
    /// The files of which something was seen that is not saved.
    unsaved: BTreeSet<String>,
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
        Self(Mutex::new(State { seen, ..State::default() }))
    }

    /// The session that goes on where this conversation was left. What was saved in another way than it should be is passed
    /// over, with a line in the trace.
    ///
    /// # Errors
    /// `Io`.
    pub async fn load(conversation: &View) -> Result<Self, ConversationError> {
        Ok(Self::resume(saved::load(conversation).await?))
    }

    /// What it has seen since this was last asked, to be saved; see [`Observations::to_aside`].
    #[must_use]
    pub fn take_unsaved(&self) -> Observations {
        let mut state = self.state();
        let keys = std::mem::take(&mut state.unsaved);
        state.seen.only(&keys)
    }

    /// Takes back what could not be saved, to be saved another time.
    pub fn put_back(&self, unsaved: &Observations) {
        self.state().unsaved.extend(unsaved.keys().map(str::to_owned));
    }

    /// All that it has seen.
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
        let mut state = self.state();
        state.seen.observe(key, observation);
        state.unsaved.insert(key.to_owned());
    }

    pub(crate) fn write_intent(&self, key: &str) -> WriteIntent {
        self.state().seen.write_intent(key)
    }

    pub(crate) fn edit_guard(&self, target: &Target) -> Result<Version, FileError> {
        self.state().seen.edit_guard(target)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Every change is an assignment or an insertion; a file too few among the unsaved ones is read again after a resume.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
