//! Reads: one look, then at most one request for the content.

use bytes::Bytes;
use futures_util::future::{Either, select};
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt as _};

use super::entry::Entry;
use super::failure::Failure;
use super::sandbox::Sandbox;
use crate::cancel::Cancel;
use crate::file_error::{Doing, FileError};
use crate::target::{FileKind, Target};

/// How much is streamed of a file that claims to be empty, as files of special file systems do: 10 MiB.
const MAX_UNCLAIMED: u64 = 10 << 20;

/// Waits for `work` no longer than until `cancel` is asked; then it is dropped, and with it the connection.
pub(super) async fn unless_cancelled<T>(
    cancel: &Cancel,
    target: &Target,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, FileError> {
    if cancel.is_cancelled() {
        return Err(FileError::aborted(target));
    }
    let work = std::pin::pin!(work);
    match select(std::pin::pin!(cancel.cancelled()), work).await {
        Either::Left(_) => Err(FileError::aborted(target)),
        Either::Right((outcome, _)) => outcome.map_err(|failure| failure.into_error(Doing::Read, target, None)),
    }
}

/// The whole content, if it is no longer than `max_bytes`.
pub(super) async fn read_bytes(sandbox: &Sandbox, target: &Target, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    let (key, found) = regular(sandbox, target).await?;
    if found.size > max_bytes {
        return Err(FileError::too_large(Doing::Read, target, found.size, max_bytes).into());
    }
    content(sandbox, target, &key, max_bytes).await
}

/// The content of a file that was looked at. The first piece that passes the limit is the last that is taken.
pub(super) async fn content(sandbox: &Sandbox, target: &Target, key: &str, max_bytes: u64) -> Result<Vec<u8>, Failure> {
    let mut pieces = sandbox.wire.content(&sandbox.at(key)).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece?;
        if (bytes.len() + piece.len()) as u64 > max_bytes {
            return Err(FileError::yields_too_much(target, max_bytes).into());
        }
        bytes.try_reserve(piece.len()).map_err(|_| Failure::other("out of memory"))?;
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

/// The content as it arrives, up to the size that the file had when it was looked at.
pub(super) async fn pieces(
    sandbox: &Sandbox,
    target: &Target,
    cancel: &Cancel,
) -> Result<BoxStream<'static, Result<Bytes, FileError>>, Failure> {
    let (key, found) = regular(sandbox, target).await?;
    let pieces = sandbox.wire.content(&sandbox.at(&key)).await?;
    Ok(bounded(pieces, found.size, target.clone(), cancel.clone()).boxed())
}

fn bounded(
    pieces: BoxStream<'static, Result<Bytes, Failure>>,
    size: u64,
    target: Target,
    cancel: Cancel,
) -> impl Stream<Item = Result<Bytes, FileError>> + Send {
    let left = if size > 0 { size } else { MAX_UNCLAIMED };
    stream::unfold(Some((pieces, left)), move |state| {
        let (target, cancel) = (target.clone(), cancel.clone());
        async move {
            let (mut pieces, left) = state.filter(|(_, left)| *left > 0 || size == 0)?;
            let next = async { pieces.next().await.transpose() };
            let piece = match unless_cancelled(&cancel, &target, next).await {
                Ok(piece) => piece?,
                Err(error) => return Some((Err(error), None)),
            };
            let taken = piece.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            if taken < piece.len() && size == 0 {
                return Some((Err(FileError::yields_too_much(&target, MAX_UNCLAIMED)), None));
            }
            Some((Ok(piece.slice(..taken)), Some((pieces, left - taken as u64))))
        }
    })
}

async fn regular(sandbox: &Sandbox, target: &Target) -> Result<(String, Entry), Failure> {
    let (key, found) = sandbox.find(target).await?;
    if found.kind() != FileKind::File {
        return Err(FileError::not_regular(Doing::Read, target).into());
    }
    Ok((key, found))
}
