//! Files in memory that count what is asked of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use attache_blobstore::{BlobStore, MemoryStore};
use attache_workdir_fs::{
    Cancel, DirEntry, Edit, FileError, FileErrorKind, FileKind, FileSystem, Info, Operation, Target, TextStream,
    Version, WriteIntent, Written,
};
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use serde_json::Value;

use crate::driver::{Modality, ModelInfo};
use crate::tool::ToolOutput;
use crate::tools::{CallContext, FileSession, FileToolOptions, FileTools, ToolSet};

/// Files in memory. Every call is written down; a file may claim another size than it has.
#[derive(Debug, Default)]
pub(crate) struct SpyFs(Mutex<Spy>);

#[derive(Debug, Default)]
struct Spy {
    files: BTreeMap<String, File>,
    calls: Vec<&'static str>,
    writes: u64,
    hangs: Option<&'static str>,
}

#[derive(Clone, Debug)]
struct File {
    bytes: Vec<u8>,
    version: u64,
    kind: FileKind,
    claims: Option<u64>,
}

impl SpyFs {
    fn spy(&self) -> MutexGuard<'_, Spy> {
        self.0.lock().unwrap()
    }

    fn put_as(&self, path: &str, bytes: &[u8], kind: FileKind, claims: Option<u64>) {
        let mut spy = self.spy();
        spy.writes += 1;
        let file = File { bytes: bytes.to_vec(), version: spy.writes, kind, claims };
        spy.files.insert(path.to_owned(), file);
    }

    /// Somebody else writes a file.
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> &Self {
        self.put_as(path, bytes.as_ref(), FileKind::File, Some(bytes.as_ref().len() as u64));
        self
    }

    /// A file whose size is claimed to be `size`, or not told.
    pub(crate) fn put_claiming(&self, path: &str, bytes: impl AsRef<[u8]>, size: Option<u64>) -> &Self {
        self.put_as(path, bytes.as_ref(), FileKind::File, size);
        self
    }

    pub(crate) fn put_dir(&self, path: &str) -> &Self {
        self.put_as(path, b"", FileKind::Directory, None);
        self
    }

    /// Somebody else deletes a file.
    pub(crate) fn delete(&self, path: &str) {
        self.spy().files.remove(path);
    }

    /// Every later call of this operation does not end.
    pub(crate) fn hang_in(&self, operation: &'static str) -> &Self {
        self.spy().hangs = Some(operation);
        self
    }

    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.spy().files.get(path).map(|file| String::from_utf8(file.bytes.clone()).unwrap())
    }

    /// The operations since the last look.
    pub(crate) fn calls(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.spy().calls)
    }

    async fn enter(&self, operation: &'static str) {
        let hangs = {
            let mut spy = self.spy();
            spy.calls.push(operation);
            spy.hangs == Some(operation)
        };
        if hangs {
            std::future::pending::<()>().await;
        }
        tokio::task::yield_now().await;
    }

    fn find(&self, target: &Target) -> Result<File, FileError> {
        let found = self.spy().files.get(target.key()).cloned();
        found.ok_or_else(|| error(FileErrorKind::NotFound, format!("cannot read \"{target}\": not found")))
    }

    fn replace(&self, target: &Target, before: Option<String>, after: String) -> Written {
        self.put(target.key(), &after);
        let operation = if before.is_some() { Operation::Update } else { Operation::Create };
        let version = version(self.spy().writes);
        Written { operation, version, before, after }
    }
}

/// What may not be looked at.
pub(crate) const DENIED: &str = "denied.png";

fn error(kind: FileErrorKind, message: String) -> FileError {
    FileError::new(kind, message)
}

fn version(number: u64) -> Version {
    Version::new(format!("v{number}"))
}

#[async_trait]
impl FileSystem for SpyFs {
    async fn resolve(&self, path: &str, cwd: Option<&str>) -> Result<Target, FileError> {
        self.enter("resolve").await;
        let path = path.trim_start_matches("./");
        Ok(Target::new(cwd.map_or_else(|| path.to_owned(), |cwd| format!("{cwd}/{path}")), path))
    }

    async fn stat(&self, target: &Target) -> Result<Info, FileError> {
        self.enter("stat").await;
        if target.key() == DENIED {
            let message = format!("cannot read \"{target}\": Permission denied");
            return Err(error(FileErrorKind::PermissionDenied, message));
        }
        let file = self.find(target)?;
        Ok(Info { version: version(file.version), kind: file.kind, size: file.claims })
    }

    async fn lstat(&self, target: &Target) -> Result<Info, FileError> {
        self.stat(target).await
    }

    async fn read_bytes(&self, target: &Target, max_bytes: u64, cancel: &Cancel) -> Result<Vec<u8>, FileError> {
        self.enter("read_bytes").await;
        if cancel.is_cancelled() {
            return Err(error(FileErrorKind::Aborted, format!("cannot read \"{target}\": cancelled")));
        }
        let file = self.find(target)?;
        let size = file.bytes.len() as u64;
        if size > max_bytes {
            let message = format!("cannot read \"{target}\": {size} bytes exceeds the {max_bytes}-byte limit");
            return Err(error(FileErrorKind::TooLarge, message));
        }
        Ok(file.bytes)
    }

    async fn stream_text(&self, target: &Target, _: &Cancel) -> Result<TextStream, FileError> {
        self.enter("stream_text").await;
        let bytes = self.find(target)?.bytes;
        let pieces: Vec<_> = bytes.chunks(3).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        Ok(TextStream::new(target, stream::iter(pieces).boxed()))
    }

    async fn list_dir(&self, _: &Target) -> Result<Vec<DirEntry>, FileError> {
        self.enter("list_dir").await;
        Ok(Vec::new())
    }

    async fn write_text(&self, target: &Target, content: &str, intent: &WriteIntent) -> Result<Written, FileError> {
        self.enter("write_text").await;
        let found = self.find(target).ok();
        match (intent, &found) {
            (WriteIntent::CreateIfAbsent, Some(_)) => {
                let message = format!("cannot overwrite existing \"{target}\" without reading it first");
                return Err(error(FileErrorKind::NotObserved, message));
            }
            (WriteIntent::ReplaceIfVersion(known), found)
                if found.as_ref().is_none_or(|found| version(found.version) != *known) =>
            {
                let message = format!("cannot write \"{target}\": file changed since it was read");
                return Err(error(FileErrorKind::StaleVersion, message));
            }
            _ => {}
        }
        let before = found.map(|found| String::from_utf8_lossy(&found.bytes).into_owned());
        Ok(self.replace(target, before, content.to_owned()))
    }

    async fn edit_text(&self, target: &Target, edit: &Edit, guard: Option<&Version>) -> Result<Written, FileError> {
        self.enter("edit_text").await;
        let stale = || {
            let message = format!("cannot edit \"{target}\": file changed since it was read");
            error(FileErrorKind::StaleVersion, message)
        };
        let found = self.find(target).map_err(|_| stale())?;
        if guard.is_some_and(|guard| *guard != version(found.version)) {
            return Err(stale());
        }
        let before = String::from_utf8(found.bytes).unwrap();
        let (message, kind) = match before.matches(&edit.old).count() {
            0 => (format!("old_string was not found in \"{target}\""), FileErrorKind::EditNotFound),
            matches if matches > 1 && !edit.replace_all => (
                format!(
                    "old_string matched {matches} times in \"{target}\"; provide a more specific old_string or set \
                     replace_all to true"
                ),
                FileErrorKind::AmbiguousEdit,
            ),
            _ => {
                let after = before.replace(&edit.old, &edit.new);
                return Ok(self.replace(target, Some(before), after));
            }
        };
        Err(error(kind, message))
    }
}

/// A set over a [`SpyFs`], with a store in memory and one session.
pub(crate) struct Stage {
    pub(crate) files: Arc<SpyFs>,
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) set: ToolSet,
    pub(crate) tools: FileTools,
    pub(crate) session: FileSession,
    pub(crate) cancel: Cancel,
}

impl Stage {
    pub(crate) fn new(options: FileToolOptions) -> Self {
        let (files, store) = (Arc::new(SpyFs::default()), Arc::new(MemoryStore::new()));
        let set = ToolSet::new(files.clone(), options);
        set.mount(store.clone());
        let tools = set.tools();
        Self { files, store, set, tools, session: FileSession::new(), cancel: Cancel::new() }
    }

    pub(crate) fn context(&self) -> CallContext<'_> {
        CallContext::new(&self.session, &self.cancel)
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> ToolOutput {
        self.tools.call(name, &input, self.context()).await
    }

    /// A call that fails: its code and its text.
    pub(crate) async fn fail(&self, name: &str, input: Value) -> (String, String) {
        failure(self.call(name, input).await)
    }

    pub(crate) fn blobs(&self) -> usize {
        self.store.inventory().now_or_never().unwrap().unwrap().blobs.len()
    }
}

/// What every failed call has in common is checked here.
pub(crate) fn failure(output: ToolOutput) -> (String, String) {
    let ToolOutput { text, attachments, images, is_error, code, structured } = output;
    assert_eq!((is_error, attachments.len(), images.len()), (Some(true), 0, 0), "{text}");
    let message = text.strip_prefix("Error: ").unwrap_or_else(|| panic!("{text}"));
    let code = code.unwrap();
    assert_eq!(structured, Some(serde_json::json!({"error": {"code": code, "message": message}})));
    (code, message.to_owned())
}

pub(crate) fn model(id: &str, modalities: Option<&[Modality]>) -> ModelInfo {
    ModelInfo { id: id.to_owned(), input_modalities: modalities.map(<[_]>::to_vec) }
}

/// Options with a model that sees.
pub(crate) fn seeing() -> FileToolOptions {
    FileToolOptions::default().with_model(model("seer", Some(&[Modality::Text, Modality::Image])))
}
