//! One writer at a time: an advisory lock on a file beside the log, which also says who holds it.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::error::ConversationError;
use crate::log::LOCK_NAME;

/// How often a waiting writer asks again. Writers hold the lock for milliseconds (a command) or for hours (an embedded
/// conversation), so that a fair queue would gain nothing.
const POLL: Duration = Duration::from_millis(20);

/// The exclusive right to write to one conversation, until it is dropped.
///
/// The kernel gives the lock back when the process ends, however it ends; the text in the file is only for people.
#[derive(Debug)]
pub(crate) struct WriterLock {
    file: File,
}

impl WriterLock {
    /// Waits up to `wait` for the lock. `who` is what a second writer is told, for example a command's name.
    ///
    /// # Errors
    /// `Locked`, naming the holder, when another writer had it all the while; `Io` otherwise.
    pub(crate) fn acquire(dir: &Path, who: &str, wait: Duration) -> Result<Self, ConversationError> {
        let path = dir.join(LOCK_NAME);
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(&path)
            .map_err(|error| ConversationError::io("open the lock", &path, error))?;
        // A wait beyond what clocks can tell has no end.
        let deadline = Instant::now().checked_add(wait);
        let in_time = || deadline.is_none_or(|deadline| Instant::now() < deadline);
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if in_time() => std::thread::sleep(POLL),
                Err(TryLockError::WouldBlock) => return Err(ConversationError::locked(dir, &holder(&file), wait)),
                Err(TryLockError::Error(error)) => return Err(ConversationError::io("lock", &path, error)),
            }
        }
        if let Err(error) = sign(&file, who) {
            // The lock is held all the same, and whoever wants to free a full disk needs it.
            tracing::debug!(%error, "the lock could not be signed");
        }
        Ok(Self { file })
    }
}

impl Drop for WriterLock {
    fn drop(&mut self) {
        // The file stays: removing it would let two writers lock two different files of one name.
        let _ = self.file.set_len(0);
        let _ = self.file.unlock();
    }
}

fn sign(mut file: &File, who: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("process {} ({who})\n", std::process::id()).as_bytes())
}

/// What the holder wrote. It may be a moment too early or too late, hence the fallback.
fn holder(mut file: &File) -> String {
    let mut text = String::new();
    let read = file.seek(SeekFrom::Start(0)).and_then(|_| file.take(300).read_to_string(&mut text));
    match read {
        Ok(1..) => text.trim().to_owned(),
        _ => "another process".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ConversationErrorKind;

    #[test]
    fn a_second_writer_is_told_who_the_first_one_is() {
        let dir = tempfile::tempdir().unwrap();
        let first = WriterLock::acquire(dir.path(), "first test", Duration::ZERO).unwrap();
        let error = WriterLock::acquire(dir.path(), "second", Duration::from_millis(30)).unwrap_err();
        assert_eq!(error.kind(), ConversationErrorKind::Locked);
        let text = error.to_string();
        assert!(text.contains(&format!("process {} (first test)", std::process::id())), "{text}");
        drop(first);
        WriterLock::acquire(dir.path(), "second", Duration::ZERO).unwrap();
        WriterLock::acquire(dir.path(), "patient", Duration::MAX).unwrap();
    }
}
