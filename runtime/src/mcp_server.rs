//! The file tools as a server of the Model Context Protocol.

mod gallery;
mod schema;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use attache_blobstore::MemoryStore;
use attache_conversation::{Conversation, ConversationError, OpenOptions, text_block};
use attache_workdir_fs::{Cancel, FileSystem};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceContents, ServerCapabilities, ServerConfig, Tool as McpTool,
};
use rmcp::service::{MaybeSendFuture, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::RwLock;

use self::gallery::Gallery;
use self::schema::{annotations, output_schema};
use crate::accepted::Accepted;
use crate::driver::{Modality, ModelInfo};
use crate::message::tool_message_with_status;
use crate::protocol::mcp;
use crate::settings::Settings;
use crate::tool::{ReadyImage, ToolOutput, ToolSpec};
use crate::tools::error::ToolError;
use crate::tools::{CallContext, FileSession, FileToolOptions, FileTools, Scheduling, ToolSet};

/// The most bytes of images that are kept in memory where there is no conversation, the oldest going first.
const MAX_KEPT_BYTES: u64 = 64 << 20;
/// How the client's model is called in a refusal.
const CLIENT_MODEL: &str = "mcp-client";
/// How many resources one page lists.
const PAGE: usize = 200;

const INSTRUCTIONS: &str = "Files of one work folder: paths are relative to it, and nothing outside is read or written. \
    Read a file before writing or editing it. read_image shows a PNG, JPEG, WebP or GIF file.";

/// How an [`McpServer`] behaves.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct McpOptions {
    /// Leaves out `write` and `edit`.
    pub read_only: bool,
    /// The client's model takes no images: `read_image` refuses, and says why.
    pub no_images: bool,
    /// The context directory of the conversation that images are stored with and recorded in; in memory unless set.
    pub conversation: Option<PathBuf>,
    /// How long to wait for another writer of that conversation.
    pub lock_wait: Duration,
    /// How images are checked.
    pub settings: Settings,
}

/// The tools `read`, `read_image`, `write` and `edit` over one file system, and the images that were read as resources.
///
/// Clones are the same server. It is one session whatever connections it has: what was read over one counts as read over the
/// other, and a file that changed since then is not written over.
///
/// Calls that change something run alone, the others beside each other, in the order in which they are begun. `rmcp` begins each on a
/// task of its own, and only a runtime of one thread (`new_current_thread`) begins tasks in the order of their messages: use one if
/// clients send calls without waiting. The work itself is done on the runtime's threads for blocking work.
#[derive(Clone, Debug)]
pub struct McpServer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    // The tools live as long as their set.
    _set: ToolSet,
    tools: FileTools,
    session: FileSession,
    gallery: Gallery,
    options: McpOptions,
    /// Held alone by calls that change something, shared by the others.
    turn: RwLock<()>,
}

impl McpServer {
    /// A server over `files`.
    #[must_use]
    pub fn new(files: Arc<dyn FileSystem>, options: McpOptions) -> Self {
        let modalities = if options.no_images { vec![Modality::Text] } else { vec![Modality::Text, Modality::Image] };
        let model = ModelInfo { id: CLIENT_MODEL.to_owned(), input_modalities: Some(modalities) };
        let gallery = match &options.conversation {
            Some(dir) => Gallery::of_conversation(dir.clone()),
            None => Gallery::in_memory(MemoryStore::new(), MAX_KEPT_BYTES),
        };
        let tool_options = FileToolOptions::default().with_settings(options.settings.clone()).with_model(model);
        let set = ToolSet::new(files, tool_options);
        set.mount(gallery.store());
        Self(Arc::new(Inner {
            tools: set.tools(),
            _set: set,
            session: FileSession::new(),
            gallery,
            options,
            turn: RwLock::new(()),
        }))
    }

    /// What a client is told of the tools.
    fn tools(&self) -> Vec<McpTool> {
        let specs = self.0.tools.specs().into_iter().filter(|spec| self.offers(&spec.name));
        specs.map(described).collect()
    }

    fn offers(&self, name: &str) -> bool {
        !(self.0.options.read_only && matches!(name, "write" | "edit"))
    }

    async fn call(&self, name: &str, arguments: &Value, call_id: &str, cancel: &Cancel) -> CallToolResult {
        let inner = &*self.0;
        let output = if self.offers(name) {
            let context = CallContext::new(&inner.session, cancel);
            match inner.tools.scheduling(name) {
                Some(Scheduling::Parallel) => {
                    let _beside_others = inner.turn.read().await;
                    inner.tools.call(name, arguments, context).await
                }
                _ => {
                    let _alone = inner.turn.write().await;
                    inner.tools.call(name, arguments, context).await
                }
            }
        } else {
            ToolError::unknown_tool(name).into_output()
        };
        let output = match self.keep(name, call_id, &output).await {
            Ok(()) => output,
            Err(error) => {
                ToolError::new(error.code(), format!("the image could not be recorded: {error}")).into_output()
            }
        };
        self.answer(output).await
    }

    /// Remembers the images of a result; with a conversation they are recorded in it.
    async fn keep(&self, name: &str, call_id: &str, output: &ToolOutput) -> Result<(), ConversationError> {
        if output.images.is_empty() {
            return Ok(());
        }
        let Some(dir) = &self.0.options.conversation else {
            for image in &output.images {
                self.0.gallery.remember(image.block()).await;
            }
            return Ok(());
        };
        let mut accepted = Accepted::default();
        for (block, lease) in output.images.iter().cloned().map(ReadyImage::into_parts) {
            accepted.blocks.push(block);
            accepted.leases.push(lease);
        }
        let settings = &self.0.options.settings;
        let message = tool_message_with_status(call_id, name, &output.text, output.is_error, &accepted, settings);
        let options = OpenOptions::default().with_lock_wait(self.0.options.lock_wait).with_writer("attache mcp");
        // Opened for this one message, so that other commands can write between two of them.
        let mut conversation = Conversation::open(dir, options).await?;
        conversation.append(&message).await?;
        Ok(())
    }

    async fn answer(&self, output: ToolOutput) -> CallToolResult {
        let mut blocks = vec![text_block(&output.text)];
        blocks.extend(output.images.iter().map(|image| image.block().clone()));
        let content = mcp::to_content(&blocks, self.0.gallery.store().as_ref()).await;
        let block = |block| {
            serde_json::from_value::<ContentBlock>(block).expect("what is made for the protocol is of its form")
        };
        let content: Vec<_> = content.into_iter().map(block).collect();
        let is_error = output.is_error == Some(true);
        let mut result = if is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        result.structured_content = output.structured;
        result
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_resources().build())
            .with_server_info(Implementation::new("attache", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + MaybeSendFuture + '_ {
        std::future::ready(Ok(ListToolsResult::with_all_items(self.tools())))
    }

    fn get_tool(&self, name: &str) -> Option<McpTool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let (cancel, call_id) = (Cancel::new(), format!("mcp_{}", context.id));
        let call = self.call(&request.name, &arguments, &call_id, &cancel);
        tokio::pin!(call);
        let result = tokio::select! {
            result = &mut call => result,
            () = context.ct.cancelled() => {
                // It ends by itself once asked, having undone what it had begun.
                cancel.cancel();
                call.await
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let from = match &cursor {
            None => 0,
            Some(cursor) => {
                let known = cursor.parse::<usize>();
                known.map_err(|_| ErrorData::invalid_params(Cow::from(format!("unknown cursor \"{cursor}\"")), None))?
            }
        };
        let all = self.0.gallery.list().await.map_err(|error| internal(&error))?;
        let mut result = ListResourcesResult::with_all_items(
            all.iter().skip(from).take(PAGE).map(gallery::Listed::to_resource).collect(),
        );
        result.next_cursor = (all.len() > from.saturating_add(PAGE)).then(|| (from + PAGE).to_string());
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let found = self.0.gallery.find(&request.uri).await.map_err(|error| internal(&error))?;
        let unknown =
            || ErrorData::resource_not_found(Cow::from(format!("there is no resource \"{}\"", request.uri)), None);
        let listed = found.ok_or_else(unknown)?;
        let content = mcp::to_content(&[listed.block()], self.0.gallery.store().as_ref()).await;
        let data = content.first().and_then(|block| block["data"].as_str());
        let gone = || ErrorData::internal_error("the image is missing from the store, or damaged", None);
        let contents = ResourceContents::blob(data.ok_or_else(gone)?, request.uri);
        let contents = contents.with_mime_type(listed.media_type.as_str());
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn internal(error: &ConversationError) -> ErrorData {
    tracing::warn!(%error, "the conversation cannot be read");
    ErrorData::internal_error(Cow::from(format!("the conversation cannot be read ({})", error.code())), None)
}

fn described(spec: ToolSpec) -> McpTool {
    let object = |schema: Value| match schema {
        Value::Object(fields) => Arc::new(fields),
        _ => Arc::default(),
    };
    let mut tool = McpTool::new(spec.name.clone(), spec.description, object(spec.input_schema));
    tool.output_schema = Some(object(output_schema(&spec.name)));
    tool.annotations = Some(annotations(&spec.name));
    tool
}
