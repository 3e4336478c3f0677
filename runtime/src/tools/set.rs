//! The file tools together: which are there, and how calls are run.

use std::sync::{Arc, PoisonError, RwLock, Weak};

use attache_blobstore::BlobStore;
use attache_workdir_fs::{Cancel, FileErrorKind, FileSystem};
use futures_util::future::{Either, select};
use serde_json::Value;

use crate::driver::ToolCall;
use crate::tool::{ToolOutput, ToolSpec};
use crate::tools::error::{ToolError, shown};
use crate::tools::options::FileToolOptions;
use crate::tools::schedule::{groups, run_group};
use crate::tools::session::FileSession;
use crate::tools::spec::{FileTool, Scheduling};
use crate::tools::{Env, change, image, read};

/// The tools `read`, `write` and `edit` over one file system, and `read_image` while a blob store is mounted.
///
/// Whoever offers them to a model holds a [`FileTools`], and finds none once the set is dropped.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let folder = tempfile::tempdir()?;
/// use std::sync::Arc;
///
/// use attache_runtime::workdir_fs::LocalFs;
/// use attache_runtime::{CallContext, Cancel, FileSession, FileToolOptions, MemoryStore, ToolSet, WorkDir};
/// use serde_json::json;
///
/// let files = LocalFs::new(WorkDir::open(folder.path())?);
/// let set = ToolSet::new(Arc::new(files), FileToolOptions::default());
/// set.mount(Arc::new(MemoryStore::new()));
/// let tools = set.tools();
/// assert_eq!(tools.specs().len(), 4);
///
/// let (session, cancel) = (FileSession::new(), Cancel::new());
/// let context = CallContext::new(&session, &cancel);
/// let written = tools.call("write", &json!({"file_path": "a.txt", "content": "one\n"}), context).await;
/// assert!(written.text.contains("Created file"));
/// let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
/// assert_eq!(tools.call("edit", &edit, context).await.text, "The file a.txt has been updated successfully.");
///
/// set.unmount();
/// let gone = tools.call("read_image", &json!({"file_path": "a.png"}), context).await;
/// assert_eq!(gone.text, "Error: unknown tool \"read_image\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ToolSet(Arc<Inner>);

/// The tools of a [`ToolSet`], as long as it lives. Clones are the same tools.
#[derive(Clone, Debug)]
pub struct FileTools(Weak<Inner>);

/// On whose behalf a call is run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallContext<'a> {
    /// The session. Without one nothing counts as seen.
    pub session: Option<&'a FileSession>,
    /// Where relative paths start; at the root unless set.
    pub cwd: Option<&'a str>,
    /// Asks the call to stop.
    pub cancel: &'a Cancel,
}

#[derive(Debug)]
struct Inner {
    files: Arc<dyn FileSystem>,
    options: FileToolOptions,
    store: RwLock<Option<Arc<dyn BlobStore>>>,
}

impl<'a> CallContext<'a> {
    /// A call of a session.
    #[must_use]
    pub fn new(session: &'a FileSession, cancel: &'a Cancel) -> Self {
        Self { session: Some(session), cwd: None, cancel }
    }

    /// A call of no session.
    #[must_use]
    pub fn without_session(cancel: &'a Cancel) -> Self {
        Self { session: None, cwd: None, cancel }
    }

    /// Sets [`cwd`](Self::cwd).
    #[must_use]
    pub fn with_cwd(mut self, cwd: &'a str) -> Self {
        self.cwd = Some(cwd);
        self
    }
}

impl ToolSet {
    /// The tools over `files`; no blob store is mounted yet.
    #[must_use]
    pub fn new(files: Arc<dyn FileSystem>, options: FileToolOptions) -> Self {
        Self(Arc::new(Inner { files, options, store: RwLock::new(None) }))
    }

    /// Mounts the store that images go to, instead of any other, and brings `read_image`.
    pub fn mount(&self, store: Arc<dyn BlobStore>) {
        *self.0.store.write().unwrap_or_else(PoisonError::into_inner) = Some(store);
    }

    /// Unmounts the store and withdraws `read_image`. A call that is past its look at the store still ends well.
    pub fn unmount(&self) {
        *self.0.store.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The tools, to be offered and called.
    #[must_use]
    pub fn tools(&self) -> FileTools {
        FileTools(Arc::downgrade(&self.0))
    }
}

impl FileTools {
    /// What a model is told of the tools that are there now. No part of it depends on the model.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        let Some(inner) = self.0.upgrade() else { return Vec::new() };
        let there = FileTool::ALL.into_iter().filter(|tool| inner.has(*tool));
        there.map(|tool| tool.spec(inner.options.read.max_lines)).collect()
    }

    /// Whether calls of a tool may run beside others; `None` for a tool that is not there.
    #[must_use]
    pub fn scheduling(&self, name: &str) -> Option<Scheduling> {
        let inner = self.0.upgrade()?;
        FileTool::named(name).filter(|tool| inner.has(*tool)).map(FileTool::scheduling)
    }

    /// Runs a call. Whatever goes wrong is a result: its text is `Error: ` and the message, its code stands beside it, and a
    /// line in the log has both.
    ///
    /// Once `cancel` is asked the call ends with `FS_ABORTED`; a change that has begun then may or may not take place.
    pub async fn call(&self, name: &str, input: &Value, context: CallContext<'_>) -> ToolOutput {
        match self.run(name, input, context).await {
            Ok(output) => output,
            Err(error) => {
                let (tool, code, message) = (shown(name), error.code, &*error.message);
                tracing::info!(target: "attache::tool", tool, code, message, "tool call failed");
                error.into_output()
            }
        }
    }

    /// Runs the calls of one answer, as if one after the other, and gives their results in order: calls that may run beside
    /// each other do where they follow one another, and all others run alone.
    pub async fn call_all(&self, calls: &[ToolCall], context: CallContext<'_>) -> Vec<ToolOutput> {
        let Some(inner) = self.0.upgrade() else {
            return calls.iter().map(|call| ToolError::unknown_tool(&call.name).into_output()).collect();
        };
        let concurrency = inner.options.settings.concurrency().get();
        let mut outputs = Vec::with_capacity(calls.len());
        for group in groups(calls, |call| self.scheduling(&call.name)) {
            let running = group.iter().map(|call| self.call(&call.name, &call.input, context));
            outputs.append(&mut run_group(running, concurrency).await);
        }
        outputs
    }

    async fn run(&self, name: &str, input: &Value, context: CallContext<'_>) -> Result<ToolOutput, ToolError> {
        let inner = self.0.upgrade().ok_or_else(|| ToolError::unknown_tool(name))?;
        let tool = FileTool::named(name).filter(|tool| inner.has(*tool));
        let tool = tool.ok_or_else(|| ToolError::unknown_tool(name))?;
        if context.cancel.is_cancelled() {
            return Err(cancelled(tool, input, ""));
        }
        let work = Box::pin(inner.run(tool, input, context));
        match select(work, Box::pin(context.cancel.cancelled())).await {
            Either::Left((outcome, _)) => outcome,
            Either::Right(_) => Err(cancelled(
                tool,
                input,
                match tool.scheduling() {
                    Scheduling::Parallel => "",
                    Scheduling::Exclusive => " while it ran; the file may have changed",
                },
            )),
        }
    }
}

impl Inner {
    fn has(&self, tool: FileTool) -> bool {
        tool != FileTool::ReadImage || self.store().is_some()
    }

    fn store(&self) -> Option<Arc<dyn BlobStore>> {
        self.store.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn run(&self, tool: FileTool, input: &Value, context: CallContext<'_>) -> Result<ToolOutput, ToolError> {
        let CallContext { session, cwd, cancel } = context;
        let env = Env { files: self.files.as_ref(), options: &self.options, session, cwd, cancel };
        match tool {
            FileTool::Read => read::call(&env, input).await,
            FileTool::ReadImage => image::call(&env, self.store(), input).await,
            FileTool::Write => change::write(&env, input).await,
            FileTool::Edit => change::edit(&env, input).await,
        }
    }
}

/// Without a path there is nothing to name.
fn cancelled(tool: FileTool, input: &Value, while_it_ran: &str) -> ToolError {
    let path = input.get("file_path").and_then(Value::as_str).unwrap_or_default();
    let message = format!("cannot {} \"{}\": cancelled{while_it_ran}", tool.verb(), shown(path));
    ToolError::new(FileErrorKind::Aborted.code(), message)
}

#[cfg(test)]
#[path = "set_tests.rs"]
mod tests;
