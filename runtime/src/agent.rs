//! A small agent loop that shows where everything goes.
//!
//! ```text
//! ask ──▶ append the question
//!          ▼
//!    ┌▶ render ──▶ driver ──▶ append the answer ──▶ no calls? return its text
//!    │                            ▼
//!    │                     one turn for the answer
//!    │                            ▼
//!    └── append the result ◀── accept ◀── run a call   (for each call, whatever becomes of it)
//! ```

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use attache_conversation::{Conversation, ConversationError, RenderOptions, clean};
use attache_workdir_fs::{Cancel, WorkDir};
use futures_util::FutureExt;
use futures_util::future::{Either, select};
use serde_json::json;

use crate::driver::{Driver, DriverError, Request, ToolCall};
use crate::message::tool_message_with_status;
use crate::settings::Settings;
use crate::tool::{Tool, ToolOutput, ToolSpec};
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
    max_rounds: usize,
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
        Self { driver, work, settings, tools: Vec::new(), max_rounds: DEFAULT_MAX_ROUNDS }
    }

    /// Adds a tool.
    #[must_use]
    pub fn with_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Sets how often the model is asked at most within one question; 50 unless set.
    #[must_use]
    pub fn with_max_rounds(mut self, max_rounds: usize) -> Self {
        self.max_rounds = max_rounds;
        self
    }

    /// Asks one question and returns the model's last text.
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
        conversation.append(&json!({"role": "user", "content": question})).await?;
        let tools: Vec<ToolSpec> = self.tools.iter().map(|tool| tool.spec()).collect();
        for _ in 0..self.max_rounds {
            let messages = conversation.render(self.render_options()).await?;
            let reply = self.driver.complete(Request { messages: &messages, tools: &tools }, cancel).await?;
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

    /// One turn: every call gets its result.
    async fn answer_calls(
        &self,
        conversation: &mut Conversation,
        calls: &[ToolCall],
        cancel: &Cancel,
    ) -> Result<(), AgentError> {
        let mut turn = Turn::new(&self.settings);
        for call in calls {
            let output = self.run(call, cancel).await;
            let accepted = turn.accept(&self.work, conversation.store().as_ref(), &output.attachments).await;
            let ToolOutput { text, is_error, .. } = output;
            let message = tool_message_with_status(&call.id, &call.name, &text, is_error, &accepted, &self.settings);
            conversation.append(&message).await?;
            // Only now is there a record of the blobs, and a sweep may come.
            drop(accepted);
        }
        Ok(())
    }

    /// Runs a call. That the tool is unknown, panics or is cancelled is a result like any other.
    async fn run(&self, call: &ToolCall, cancel: &Cancel) -> ToolOutput {
        let Some(tool) = self.tools.iter().find(|tool| tool.spec().name == call.name) else {
            return ToolOutput::error(format!("there is no tool \"{}\"", clean(&call.name)));
        };
        if cancel.is_cancelled() {
            return ToolOutput::error("the call was cancelled before it began");
        }
        let work = AssertUnwindSafe(tool.call(&call.input)).catch_unwind();
        match select(Box::pin(work), Box::pin(cancel.cancelled())).await {
            Either::Left((Ok(output), _)) => output,
            Either::Left((Err(_), _)) => ToolOutput::error("the tool broke down"),
            Either::Right(_) => ToolOutput::error("the call was cancelled"),
        }
    }

    /// To a model that takes no images, each image is a line.
    fn render_options(&self) -> RenderOptions {
        let keep = if self.driver.info().takes_images() { self.settings.limits.keep() } else { 0 };
        RenderOptions::newest(keep)
    }
}
