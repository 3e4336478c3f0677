//! Puts the end of a log right after an interrupted append: what is torn is kept beside the log, then cut off.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::ConversationError;
use crate::log::{Index, LogFile, parent_of, sync_dir};

/// The rest of an interrupted append: bytes after the last newline that are no JSON object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// Where it begins in the log.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
    /// Where it was moved to; `None` while it still stands in the log, as a reader finds it.
    pub kept_as: Option<PathBuf>,
}

/// Moves a torn tail aside, or ends a last line that lacks nothing but its newline.
///
/// The copy is durable before the log is cut, so that a crash in between leaves both.
pub(crate) fn recover(log: &mut LogFile, index: &mut Index, path: &Path) -> Result<(), ConversationError> {
    if let Some(torn) = &mut index.report.torn {
        let kept_as = keep(&log.reader(), torn.offset, torn.bytes, path)?;
        log.cut_to(torn.offset)?;
        tracing::warn!(bytes = torn.bytes, kept_as = %kept_as.display(), "the torn tail of the log was moved aside");
        torn.kept_as = Some(kept_as);
    } else if index.unterminated {
        log.append(b"\n")?;
        index.report.bytes += 1;
        index.unterminated = false;
    }
    Ok(())
}

fn keep(log: &File, offset: u64, bytes: u64, path: &Path) -> Result<PathBuf, ConversationError> {
    for n in 1..=u32::MAX {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".torn-{n}"));
        let copy_path = PathBuf::from(name);
        let fail = |error| ConversationError::io("keep the torn tail as", &copy_path, error);
        match File::options().write(true).create_new(true).mode(0o600).open(&copy_path) {
            Ok(mut copy) => {
                if let Err(error) = copy_range(log, offset, bytes, &mut copy).and_then(|()| copy.sync_all()) {
                    // The tail still stands in the log; a part of it beside it would only mislead.
                    let _ = std::fs::remove_file(&copy_path);
                    return Err(fail(error));
                }
                sync_dir(parent_of(path))?;
                return Ok(copy_path);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Err(ConversationError::io("keep the torn tail of", path, io::Error::other("every name is taken")))
}

fn copy_range(from: &File, mut offset: u64, bytes: u64, to: &mut File) -> io::Result<()> {
    let end = offset + bytes;
    let mut buffer = vec![0; 256 << 10];
    while offset < end {
        let wanted = buffer.len().min(usize::try_from(end - offset).unwrap_or(usize::MAX));
        from.read_exact_at(&mut buffer[..wanted], offset)?;
        to.write_all(&buffer[..wanted])?;
        offset += wanted as u64;
    }
    Ok(())
}
