//! A small agent loop that shows where everything goes.
//!
//! ```text
//! ask ──▶ append the question
//!          ▼
//!    ┌▶ render ──▶ driver ──▶ append the answer ──▶ no calls? return its text
//!    │                            ▼
//!    │                     one turn for the answer
//!    │                            ▼
//!    └── append the results ◀── accept ◀── run a group   (each call has its result, whatever becomes of it)
//! ```

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use attache_conversation::{Conversation, ConversationError, Item, RenderOptions, clean};
use attache_workdir_fs::{Cancel, WorkDir};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use serde_json::{Value, json};

use crate::accepted::Accepted;
use crate::driver::{Driver, DriverError, Hear, ModelInfo, Request, ToolCall};
use crate::message::tool_message_with_status;
use crate::settings::Settings;
use crate::tool::{ReadyImage, Tool, ToolOutput, ToolSpec};
use crate::tools::{CallContext, FileSession, FileTools, Scheduling, call_meta, groups, run_group};
use crate::turn::Turn;

/// How often a model is asked within one question before the loop gives up: a guess at "it goes in circles".
const DEFAULT_MAX_ROUNDS: usize = 50;

/// Asks a model, runs its tool calls, and goes on until it answers without one.
#[derive(Clone, Debug)]
pub struct AgentLoop {
    driver: Arc<dyn Driver>,
    work: WorkDir,
    settings: Settings,
    tools: Vec<Arc<dyn Tool>>,
    file_tools: Option<(FileTools, Arc<FileSession>)>,
    max_rounds: usize,
    model: Option<String>,
    session: String,
}

/// The loop ended without an answer. The conversation is whole: every call in it has its result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The conversation could not be read or written.
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// The model did not answer.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// The model went on calling tools.
    #[error("the model was asked {0} times and still calls tools")]
    TooManyRounds(usize),
}

impl AgentLoop {
    /// A loop without tools. `work` is the folder that tools write to.
    #[must_use]
    pub fn new(driver: Arc<dyn Driver>, work: WorkDir, settings: Settings) -> Self {
        Self {
            driver,
            work,
            settings,
            tools: Vec::new(),
            file_tools: None,
            max_rounds: DEFAULT_MAX_ROUNDS,
            model: None,
            session: String::new(),
        }
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds the file tools, for a session. A tool of the same name that was added by itself goes first. What the set mounts and
    /// unmounts is seen from the next request on. Its store should be the conversation's own, where records are looked up.
    ///
    /// What the session sees is saved with the results by which the model saw it; [`FileSession::load`] goes on from there. What
    /// the tools keep for whoever presents a result is saved behind it, see [`call_metas`](crate::call_metas).
    #[must_use]
    pub fn with_file_tools(mut self, tools: FileTools, session: Arc<FileSession>) -> Self {
        self.file_tools = Some((tools, session));
        self
    }

    /// Sets how often the model is asked at most within one question; 50 unless set.
    #[must_use]
    pub fn with_max_rounds(mut self, max_rounds: usize) -> Self {
        self.max_rounds = max_rounds;
        self
    }

    /// Sets which of the driver's models is asked; that of [`Driver::info`] unless set.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the [session](Request::session) that the driver is told; it has no name unless set.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.session = session.into();
        self
    }

    /// Asks one question and returns the model's last text.
    ///
    /// Calls of an answer that may run beside each other do where they follow one another, and all others run alone; results,
    /// limits and log are as if each had run after the other.
    ///
    /// To stop it use `cancel`, which still gives every call its result. Dropping the future midway may leave a call
    /// without one at the end of the conversation.
    ///
    /// # Errors
    /// See [`AgentError`].
    pub async fn ask(
        &self,
        conversation: &mut Conversation,
        question: &str,
        cancel: &Cancel,
    ) -> Result<String, AgentError> {
        self.ask_streaming(conversation, question, &mut |_| {}, cancel).await
    }

    /// Like [`ask`](Self::ask), and tells each piece of the model's answers as it comes.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub async fn ask_streaming(
        &self,
        conversation: &mut Conversation,
        question: &str,
        hear: &mut Hear<'_>,
        cancel: &Cancel,
    ) -> Result<String, AgentError> {
        conversation.append(&json!({"role": "user", "content": question})).await?;
        for _ in 0..self.max_rounds {
            let tools = self.offer();
            let messages = conversation.render(self.render_options()).await?;
            let (model, session) = (self.model.as_deref(), self.session.as_str());
            let request = Request { messages: &messages, tools: &tools, model, session };
            let reply = self.driver.stream(request, hear, cancel).await?;
            if let Some(message) = reply.to_message() {
                conversation.append(&message).await?;
            }
            if reply.tool_calls.is_empty() {
                return Ok(reply.text);
            }
            self.answer_calls(conversation, &reply.tool_calls, cancel).await?;
        }
        Err(AgentError::TooManyRounds(self.max_rounds))
    }

    /// What the next request tells of the tools; the file tools are told which model it goes to.
    fn offer(&self) -> Vec<ToolSpec> {
        let mut specs: Vec<ToolSpec> = self.tools.iter().map(|tool| tool.spec()).collect();
        if let Some((tools, session)) = &self.file_tools {
            session.note_request(self.model());
            specs.extend(tools.specs().into_iter().filter(|spec| self.tool(&spec.name).is_none()));
        }
        specs
    }

    /// `None` for a model that the driver does not know.
    fn model(&self) -> Option<ModelInfo> {
        match &self.model {
            Some(id) => self.driver.model(id),
            None => Some(self.driver.info()),
        }
    }

    fn scheduling(&self, call: &ToolCall) -> Option<Scheduling> {
        match self.tool(&call.name) {
            Some(tool) => Some(tool.scheduling()),
            None => self.file_tools.as_ref()?.0.scheduling(&call.name),
        }
    }

    fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name)
    }

    /// One turn: every call gets its result.
    async fn answer_calls(
        &self,
        conversation: &mut Conversation,
        calls: &[ToolCall],
        cancel: &Cancel,
    ) -> Result<(), AgentError> {
        let mut turn = Turn::new(&self.settings);
        for group in groups(calls, |call| self.scheduling(call)) {
            let running = group.iter().map(|call| self.run(call, cancel));
            let outputs = run_group(running, self.settings.concurrency().get()).await;
            self.append_results(conversation, &mut turn, group, outputs).await?;
        }
        Ok(())
    }

    /// Appends the results of a group, what was kept of each behind it, and what was seen, in one write.
    async fn append_results(
        &self,
        conversation: &mut Conversation,
        turn: &mut Turn,
        calls: &[ToolCall],
        outputs: Vec<ToolOutput>,
    ) -> Result<(), AgentError> {
        let mut results = Vec::with_capacity(calls.len());
        for (call, output) in calls.iter().zip(outputs) {
            let mut accepted = turn.accept(&self.work, conversation.store().as_ref(), &output.attachments).await;
            let meta = output.structured.as_ref().filter(|_| self.is_for_file_tools(call));
            let meta = meta.and_then(|meta| call_meta(call, meta));
            let message = self.message(call, output, &mut accepted).to_string();
            results.push((message, meta, accepted));
        }
        let unsaved = self.file_tools.as_ref().map(|(_, session)| (session, session.take_unsaved()));
        let seen = unsaved.as_ref().and_then(|(_, seen)| seen.to_aside());
        let items = results.iter().flat_map(|(message, meta, _)| {
            [Some(Item::Message(message)), meta.clone().map(Item::Aside)].into_iter().flatten()
        });
        let appended = conversation.append_items(items.chain(seen.map(Item::Aside))).await;
        if let (Err(_), Some((session, seen))) = (&appended, &unsaved) {
            session.put_back(seen);
        }
        appended?;
        // Only now is there a record of the blobs, and a sweep may come.
        drop(results);
        Ok(())
    }

    /// What other tools say beside their text may hold anything, bytes of images too, and is not kept.
    fn is_for_file_tools(&self, call: &ToolCall) -> bool {
        self.file_tools.is_some() && self.tool(&call.name).is_none()
    }

    fn message(&self, call: &ToolCall, output: ToolOutput, accepted: &mut Accepted) -> Value {
        let ToolOutput { text, is_error, images, .. } = output;
        for (block, lease) in images.into_iter().map(ReadyImage::into_parts) {
            accepted.blocks.push(block);
            accepted.leases.push(lease);
        }
        tool_message_with_status(&call.id, &call.name, &text, is_error, accepted, &self.settings)
    }

    /// Runs a call. That the tool is unknown, panics or is cancelled is a result like any other.
    async fn run(&self, call: &ToolCall, cancel: &Cancel) -> ToolOutput {
        if cancel.is_cancelled() {
            return ToolOutput::error("the call was cancelled before it began");
        }
        let work = async {
            match (self.tool(&call.name), &self.file_tools) {
                (Some(tool), _) => tool.call(&call.input).await,
                (None, Some((tools, session))) => {
                    tools.call(&call.name, &call.input, CallContext::new(session, cancel)).await
                }
                (None, None) => ToolOutput::error(format!("there is no tool \"{}\"", clean(&call.name))),
            }
        };
        let work = AssertUnwindSafe(work).catch_unwind();
        match select(Box::pin(work), Box::pin(cancel.cancelled())).await {
            Either::Left((Ok(output), _)) => output,
            Either::Left((Err(_), _)) => ToolOutput::error("the tool broke down"),
            Either::Right(_) => ToolOutput::error("the call was cancelled"),
        }
    }

    /// To a model that takes no images, each image is a line.
    fn render_options(&self) -> RenderOptions {
        let keep = if self.model().is_none_or(|model| model.takes_images()) { self.settings.limits.keep() } else { 0 };
        RenderOptions::newest(keep)
    }
}
