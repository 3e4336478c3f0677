//! The log file itself: whole lines, one write each, durable before the call returns.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attache_blobstore::Durability;
use rustix::fs::OFlags;

use crate::error::ConversationError;

/// Neither a link nor a FIFO at the log's name is followed or waited for.
const GUARDED: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// The log, open for appending. Its owner holds the writer's lock.
#[derive(Debug)]
pub(crate) struct LogFile {
    file: Arc<File>,
    path: PathBuf,
    /// Where the next line goes: the end of the last acknowledged one.
    end: u64,
    durability: Durability,
    /// Set when the end of the file is no longer known; every later append is refused.
    poisoned: bool,
}

impl LogFile {
    /// Opens the log at `path`, creating it (0600) if need be.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Self, ConversationError> {
        let file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .custom_flags(GUARDED.bits() as i32)
            .open(path)
            .map_err(|error| ConversationError::io("open", path, error))?;
        let end = regular_len(&file, path)?;
        if end == 0 && durability == Durability::Full {
            // The log, or the directory it is in, may have been made a moment ago by a process that had no time to
            // flush their names. Once there is a line, somebody did.
            sync_dir(parent_of(path))?;
            sync_if_allowed(parent_of(parent_of(path)))?;
        }
        Ok(Self { file: Arc::new(file), path: path.to_owned(), end, durability, poisoned: false })
    }

    pub(crate) fn reader(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Takes `end` as the log's end, after a recovery cut the file.
    pub(crate) fn cut_to(&mut self, end: u64) -> Result<(), ConversationError> {
        self.file.set_len(end).map_err(|error| ConversationError::io("cut the torn tail of", &self.path, error))?;
        self.sync().map_err(|error| ConversationError::io("sync", &self.path, error))?;
        self.end = end;
        Ok(())
    }

    /// Appends `lines`, which end in a newline, in one write, and returns where they begin. When this returns an
    /// error, the log is as it was.
    pub(crate) fn append(&mut self, lines: &[u8]) -> Result<u64, ConversationError> {
        self.refuse_if_stale()?;
        let begin = self.end;
        if let Err(error) = self.write_once(lines) {
            self.cut_back();
            return Err(ConversationError::io("append to", &self.path, error));
        }
        if let Err(error) = self.sync() {
            // The kernel marks pages clean after a failed sync, so that a second try could succeed without having
            // written anything. The line is taken back, and a fresh open decides what the disk really holds.
            self.cut_back();
            self.poisoned = true;
            return Err(ConversationError::io("sync", &self.path, error));
        }
        self.end = begin + lines.len() as u64;
        Ok(begin)
    }

    fn refuse_if_stale(&self) -> Result<(), ConversationError> {
        let path = self.path.display();
        if self.poisoned {
            let text = format!("\"{path}\" is not written to after an earlier failure: open the conversation again");
            return Err(ConversationError::stale(text));
        }
        let found = regular_len(&self.file, &self.path)?;
        if found != self.end {
            let text = format!(
                "\"{path}\" has {found} bytes where {} were expected: somebody changed it without the writer's lock",
                self.end
            );
            return Err(ConversationError::stale(text));
        }
        Ok(())
    }

    /// One write(2): a line that is written in pieces can be torn by a crash between them.
    fn write_once(&self, lines: &[u8]) -> io::Result<()> {
        let mut file: &File = &self.file;
        let written = loop {
            match file.write(lines) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        if written == lines.len() {
            return Ok(());
        }
        let text =
            format!("only {written} of {} bytes were written: the disk is full or a quota is used up", lines.len());
        Err(io::Error::new(io::ErrorKind::StorageFull, text))
    }

    fn cut_back(&mut self) {
        if let Err(error) = self.file.set_len(self.end) {
            tracing::error!(%error, "a failed append could not be cut back");
            self.poisoned = true;
        }
    }

    fn sync(&self) -> io::Result<()> {
        match self.durability {
            Durability::Full => self.file.sync_data(),
            _ => Ok(()),
        }
    }
}

/// Opens the log for reading; `None` if there is none.
pub(crate) fn open_for_reading(path: &Path) -> Result<Option<(File, u64)>, ConversationError> {
    match File::options().read(true).custom_flags(GUARDED.bits() as i32).open(path) {
        Ok(file) => {
            let len = regular_len(&file, path)?;
            Ok(Some((file, len)))
        }
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(ConversationError::io("open", path, error)),
    }
}

fn regular_len(file: &File, path: &Path) -> Result<u64, ConversationError> {
    let metadata = file.metadata().map_err(|error| ConversationError::io("look at", path, error))?;
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let error = io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    Err(ConversationError::io("open", path, error))
}

/// The directory that the last name of `path` is in.
pub(crate) fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    }
}

/// Makes names made or removed in `dir` durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), ConversationError> {
    open_and_sync(dir).map_err(|error| ConversationError::io("sync", dir, error))
}

/// Like [`sync_dir`], for a directory that is not ours and that we may not be allowed to read.
fn sync_if_allowed(dir: &Path) -> Result<(), ConversationError> {
    match open_and_sync(dir) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other.map_err(|error| ConversationError::io("sync", dir, error)),
    }
}

fn open_and_sync(dir: &Path) -> io::Result<()> {
    match File::open(dir)?.sync_all() {
        // Some file systems know no such thing, and say so.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ConversationErrorKind;

    #[test]
    fn a_log_changed_behind_the_writers_back_is_not_appended_to() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut log = LogFile::open(&path, Durability::Full).unwrap();
        assert_eq!(log.append(b"one\n").unwrap(), 0);
        std::fs::write(&path, b"one\ntw").unwrap();
        let error = log.append(b"three\n").unwrap_err();
        assert_eq!(error.kind(), ConversationErrorKind::Stale);
        assert_eq!(std::fs::read(&path).unwrap(), b"one\ntw");
    }

    #[test]
    fn links_and_fifos_at_the_logs_name_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (link, fifo) = (dir.path().join("link"), dir.path().join("fifo"));
        std::os::unix::fs::symlink("/dev/null", &link).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for path in [link, fifo] {
            assert!(LogFile::open(&path, Durability::Os).is_err(), "{path:?}");
            assert!(open_for_reading(&path).is_err(), "{path:?}");
        }
    }
}
