//! A driver that answers from a script, for tests and replays.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use attache_workdir_fs::Cancel;
use serde_json::Value;

use crate::driver::{Driver, DriverError, ModelInfo, Reply, Request};

/// A driver that answers from a script, entry by entry. A script that runs out is an error, and so is one that is not
/// used up when it is [finished](Self::finish).
#[derive(Debug)]
pub struct ScriptedDriver {
    info: ModelInfo,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    left: VecDeque<ScriptEntry>,
    requests: Vec<Vec<Value>>,
}

/// What the script does at one request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ScriptEntry {
    /// Answers.
    Reply(Reply),
    /// Fails.
    Fail(DriverError),
    /// Answers nothing until it is cancelled.
    Hang,
}

impl ScriptedDriver {
    /// The code of a request after the script's end.
    pub const RAN_OUT: &str = "script_ran_out";
    /// The code of a script that was not used up.
    pub const NOT_USED_UP: &str = "script_not_used_up";

    /// A model that was not said to take anything in particular.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = ScriptEntry>) -> Self {
        Self::with_info(ModelInfo { id: "scripted".to_owned(), input_modalities: None }, entries)
    }

    /// A model of which `info` is known.
    #[must_use]
    pub fn with_info(info: ModelInfo, entries: impl IntoIterator<Item = ScriptEntry>) -> Self {
        let state = State { left: entries.into_iter().collect(), requests: Vec::new() };
        Self { info, state: Mutex::new(state) }
    }

    /// The messages of each request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<Value>> {
        self.state().requests.clone()
    }

    /// Ends the script.
    ///
    /// # Errors
    /// [`NOT_USED_UP`](Self::NOT_USED_UP) if entries are left.
    pub fn finish(&self) -> Result<(), DriverError> {
        match self.state().left.len() {
            0 => Ok(()),
            left => Err(DriverError::new(Self::NOT_USED_UP, format!("{left} entries of the script were not used"))),
        }
    }

    fn next(&self, messages: &[Value]) -> Result<ScriptEntry, DriverError> {
        let mut state = self.state();
        state.requests.push(messages.to_vec());
        let count = state.requests.len();
        let ran_out = || DriverError::new(Self::RAN_OUT, format!("the script has no entry for request {count}"));
        state.left.pop_front().ok_or_else(ran_out)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A push and a pop leave nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ScriptedDriver {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::error!(%error, "a scripted driver was dropped");
        }
    }
}

impl From<Reply> for ScriptEntry {
    fn from(reply: Reply) -> Self {
        Self::Reply(reply)
    }
}

#[async_trait]
impl Driver for ScriptedDriver {
    fn info(&self) -> ModelInfo {
        self.info.clone()
    }

    async fn complete(&self, request: Request<'_>, cancel: &Cancel) -> Result<Reply, DriverError> {
        if cancel.is_cancelled() {
            return Err(DriverError::cancelled());
        }
        match self.next(request.messages)? {
            ScriptEntry::Reply(reply) => Ok(reply),
            ScriptEntry::Fail(error) => Err(error),
            ScriptEntry::Hang => {
                cancel.cancelled().await;
                Err(DriverError::cancelled())
            }
        }
    }
}
