//! The driver that goes by a script.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use attache_conversation::clean;
use attache_workdir_fs::Cancel;
use serde_json::{Value, json};

use crate::driver::{Driver, DriverError, Hear, ModelInfo, Reply, Request};
use crate::replay::{Script, ScriptEntry};
use crate::tool::ToolSpec;

/// A driver that answers from a [`Script`], entry by entry; each session has a place of its own in it. A script that runs out
/// is an error, and so is one that is not used up when it is [finished](Self::finish).
#[derive(Debug)]
pub struct ScriptedDriver {
    script: Script,
    state: Mutex<State>,
}

/// A request as a scripted driver was made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Which session it is of.
    pub session: String,
    /// The model that was asked.
    pub model: String,
    /// The rendered messages.
    pub messages: Vec<Value>,
    /// The tools that were offered.
    pub tools: Vec<ToolSpec>,
}

#[derive(Debug, Default)]
struct State {
    /// How many entries each session has used.
    used: BTreeMap<String, usize>,
    recorded: Vec<Recorded>,
}

impl ScriptedDriver {
    /// The code of a request after the script's end.
    pub const RAN_OUT: &str = "script_ran_out";
    /// The code of a script that was not used up.
    pub const NOT_USED_UP: &str = "script_not_used_up";
    /// The code of a quote of which there is nothing in the request.
    pub const NO_MATCH: &str = "script_no_match";
    /// The code of a request to a model that the script does not have.
    pub const UNKNOWN_MODEL: &str = "script_unknown_model";

    /// A model that was not said to take anything in particular.
    #[must_use]
    pub fn new(entries: impl IntoIterator<Item = ScriptEntry>) -> Self {
        Self::from_script(Script::new(entries))
    }

    /// A model of which `info` is known.
    #[must_use]
    pub fn with_info(info: ModelInfo, entries: impl IntoIterator<Item = ScriptEntry>) -> Self {
        Self::from_script(Script::new(entries).with_model(info))
    }

    /// The models of a script.
    #[must_use]
    pub fn from_script(script: Script) -> Self {
        Self { script, state: Mutex::default() }
    }

    /// The messages of each request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Vec<Value>> {
        self.state().recorded.iter().map(|request| request.messages.clone()).collect()
    }

    /// Each request so far.
    #[must_use]
    pub fn recorded(&self) -> Vec<Recorded> {
        self.state().recorded.clone()
    }

    /// Ends the script.
    ///
    /// # Errors
    /// [`NOT_USED_UP`](Self::NOT_USED_UP) if entries are left: of a session that began, of one that has entries of its own, or of
    /// a script that no session began.
    pub fn finish(&self) -> Result<(), DriverError> {
        let left = self.left();
        if left.is_empty() {
            return Ok(());
        }
        let count: usize = left.iter().map(|(_, count)| count).sum();
        let of = left.iter().filter(|(session, _)| !session.is_empty());
        let of: Vec<_> = of.map(|(session, count)| format!("{count} of session \"{}\"", clean(session))).collect();
        let of = if of.is_empty() { String::new() } else { format!(": {}", of.join(", ")) };
        Err(DriverError::new(Self::NOT_USED_UP, format!("{count} entries of the script were not used{of}")))
    }

    fn left(&self) -> Vec<(String, usize)> {
        let state = self.state();
        let mut used: BTreeMap<&str, usize> = state.used.iter().map(|(name, used)| (name.as_str(), *used)).collect();
        for name in self.script.sessions.keys() {
            used.entry(name).or_default();
        }
        if used.keys().all(|name| self.script.sessions.contains_key(*name)) {
            used.entry("").or_default();
        }
        let left =
            used.into_iter().map(|(name, used)| (name.to_owned(), self.entries(name).len().saturating_sub(used)));
        left.filter(|(_, left)| *left > 0).collect()
    }

    fn entries(&self, session: &str) -> &[ScriptEntry] {
        self.script.sessions.get(session).unwrap_or(&self.script.entries)
    }

    /// The next entry of the session, with the quotes filled in.
    fn next(&self, request: &Request<'_>) -> Result<ScriptEntry, DriverError> {
        let model = match request.model {
            Some(id) => self.model(id).ok_or_else(|| {
                DriverError::new(Self::UNKNOWN_MODEL, format!("the script has no model \"{}\"", clean(id)))
            })?,
            None => self.info(),
        };
        let recorded = Recorded {
            session: request.session.to_owned(),
            model: model.id.clone(),
            messages: request.messages.to_vec(),
            tools: request.tools.to_vec(),
        };
        let at = {
            let mut state = self.state();
            state.recorded.push(recorded);
            let used = state.used.entry(request.session.to_owned()).or_default();
            *used += 1;
            *used - 1
        };
        let entry = self.entries(request.session).get(at).ok_or_else(|| {
            let of = if request.session.is_empty() {
                String::new()
            } else {
                format!(" of session \"{}\"", clean(request.session))
            };
            DriverError::new(Self::RAN_OUT, format!("the script has no entry for request {}{of}", at + 1))
        })?;
        if self.script.quotes.is_empty() {
            return Ok(entry.clone());
        }
        let text = searched(&model.id, request);
        entry.map_strings(&mut |string| self.script.quotes.fill(string, &text))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A push and a count leave nothing half done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The request as the quotes see it; the messages are last, so that the last match is the newest.
fn searched(model: &str, request: &Request<'_>) -> String {
    let tool = |tool: &ToolSpec| json!({"name": tool.name, "description": tool.description, "input_schema": tool.input_schema});
    let tools: Vec<_> = request.tools.iter().map(tool).collect();
    json!({"model": model, "tools": tools, "messages": request.messages}).to_string()
}

impl Drop for ScriptedDriver {
    fn drop(&mut self) {
        if let Err(error) = self.finish() {
            tracing::error!(%error, "a scripted driver was dropped");
        }
    }
}

#[async_trait]
impl Driver for ScriptedDriver {
    fn info(&self) -> ModelInfo {
        self.script.models.first().cloned().unwrap_or_default()
    }

    fn model(&self, id: &str) -> Option<ModelInfo> {
        self.script.models.iter().find(|model| model.id == id).cloned()
    }

    async fn complete(&self, request: Request<'_>, cancel: &Cancel) -> Result<Reply, DriverError> {
        self.stream(request, &mut |_| {}, cancel).await
    }

    async fn stream(&self, request: Request<'_>, hear: &mut Hear<'_>, cancel: &Cancel) -> Result<Reply, DriverError> {
        if cancel.is_cancelled() {
            return Err(DriverError::cancelled());
        }
        match self.next(&request)? {
            ScriptEntry::Chunks(chunks) => {
                chunks.iter().for_each(&mut *hear);
                Ok(Reply::from_chunks(chunks))
            }
            ScriptEntry::Throw { chunks, error } => {
                chunks.iter().for_each(&mut *hear);
                Err(error)
            }
            ScriptEntry::Hang => {
                cancel.cancelled().await;
                Err(DriverError::cancelled())
            }
        }
    }
}
