//! Reading: open without following, judge the descriptor, hash, compare.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use bytes::Bytes;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::identity::{Identity, why_foreign};
use super::{Store, steps};
use crate::store::{ForeignReason, MAX_BLOB_BYTES, Verdict};
use crate::{BlobError, BlobErrorKind, BlobId};

/// Read and hashed at a time: small enough to be hashed while it is still in the processor's cache.
const CHUNK: usize = 256 * 1024;

/// How often a file that changes while it is read is read again. A name changes at most once in a healthy store, when
/// a damaged blob is healed.
const ATTEMPTS: usize = 3;

/// Below this many bytes in all, another thread costs more than it hashes.
const PARALLEL_FROM: u64 = 512 * 1024;

/// A regular file at a blob's name.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) identity: Identity,
    pub(super) mode: Mode,
}

impl Store {
    /// The verified bytes. In the common case, a blob that was read before and did not change, this is one `stat`.
    pub(super) fn get(&self, id: BlobId, expected_len: Option<u64>) -> Result<Bytes, BlobError> {
        let mut damaged = self.error("read", id, BlobErrorKind::Missing);
        for _ in 0..ATTEMPTS {
            if let Some(bytes) = self.remembered(id, expected_len)? {
                return Ok(bytes);
            }
            let began = SystemTime::now();
            let Some(opened) = self.open_blob("read", id)? else {
                return Err(self.error("read", id, BlobErrorKind::Missing));
            };
            self.judge_len(id, opened.identity.len, expected_len)?;
            match self.read_verified(id, &opened, began) {
                Ok(Ok(bytes)) => return Ok(bytes),
                Ok(Err(found)) => damaged = self.error("read", id, BlobErrorKind::Damaged { expected: id, found }),
                Err(error) => return Err(self.io_error("read", id, error)),
            }
            if self.is_still(id, &opened) {
                self.known.forget(id);
                break;
            }
        }
        Err(damaged)
    }

    /// All of them, if every one is in memory and its file is the one that was verified.
    pub(super) fn all_remembered(&self, wanted: &[(BlobId, Option<u64>)]) -> Option<Vec<Result<Bytes, BlobError>>> {
        wanted.iter().map(|&(id, len)| self.remembered(id, len).ok().flatten().map(Ok)).collect()
    }

    /// Many blobs: those in memory at once, the others on all cores if they are large enough to pay for it.
    pub(super) fn get_many(&self, wanted: &[(BlobId, Option<u64>)]) -> Vec<Result<Bytes, BlobError>> {
        let mut found: Vec<_> = wanted.iter().map(|&(id, len)| self.remembered(id, len).transpose()).collect();
        let todo: Vec<usize> = (0..wanted.len()).filter(|&index| found[index].is_none()).collect();
        let bytes: u64 = todo.iter().map(|&index| self.stored_len(wanted[index])).sum();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = if bytes < PARALLEL_FROM { 1 } else { cores.min(todo.len()) };

        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::with_capacity(todo.len()));
        let work = || {
            while let Some(&index) = todo.get(next.fetch_add(1, Ordering::Relaxed)) {
                let (id, expected_len) = wanted[index];
                let outcome = self.get(id, expected_len);
                done.lock().unwrap_or_else(PoisonError::into_inner).push((index, outcome));
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // A thread that cannot be had leaves more for the others.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        for (index, outcome) in done.into_inner().unwrap_or_else(PoisonError::into_inner) {
            found[index] = Some(outcome);
        }
        found.into_iter().zip(wanted).map(|(found, &(id, len))| found.unwrap_or_else(|| self.get(id, len))).collect()
    }

    /// The stored length, by the name alone.
    pub(super) fn contains(&self, id: BlobId) -> Result<Option<u64>, BlobError> {
        Ok(self.look("look at", id)?.map(|identity| identity.len))
    }

    /// Hashes the file, whatever is remembered about it.
    pub(super) fn verify(&self, id: BlobId) -> Result<Verdict, BlobError> {
        let mut verdict = Verdict::Missing;
        for _ in 0..ATTEMPTS {
            let opened = match self.open_blob("verify", id) {
                Ok(Some(opened)) => opened,
                Ok(None) => return Ok(Verdict::Missing),
                Err(error) if error.kind() == BlobErrorKind::NotABlob => {
                    return Ok(Verdict::NotABlob(self.why_foreign(id)));
                }
                Err(error) => return Err(error),
            };
            let (found_len, found_digest) = hash(&opened.file).map_err(|error| self.io_error("verify", id, error))?;
            if found_digest == id {
                return Ok(Verdict::Good { len: found_len });
            }
            self.known.forget(id);
            verdict = Verdict::Damaged { found_len, found_digest };
            if self.is_still(id, &opened) {
                break;
            }
        }
        Ok(verdict)
    }

    /// What stands at a blob's name, `None` if nothing does.
    pub(super) fn look(&self, operation: &'static str, id: BlobId) -> Result<Option<Identity>, BlobError> {
        match id.with_hex(|name| self.folder.look(name)) {
            Ok(None) => Ok(None),
            Ok(Some((_, stat))) if why_foreign(&stat).is_some() => {
                Err(self.error(operation, id, BlobErrorKind::NotABlob))
            }
            Ok(Some((_, stat))) => Ok(Some(Identity::of(&stat))),
            Err(errno) => Err(self.io_error(operation, id, errno)),
        }
    }

    /// Opens what stands at a blob's name if it is a regular file.
    pub(super) fn open_blob(&self, operation: &'static str, id: BlobId) -> Result<Option<Opened>, BlobError> {
        let not_a_blob = || self.error(operation, id, BlobErrorKind::NotABlob);
        let failed = |errno: Errno| self.io_error(operation, id, errno);
        // Looking first finds a directory that was made anew, and spares a device the opening.
        if self.look(operation, id)?.is_none() {
            return Ok(None);
        }
        let Some(dir) = self.folder.existing().map_err(failed)? else { return Ok(None) };
        match id.with_hex(|name| steps::open(&dir, name, OFlags::RDONLY)) {
            Ok(file) => {
                let stat = rustix::fs::fstat(&file).map_err(failed)?;
                if why_foreign(&stat).is_some() {
                    return Err(not_a_blob());
                }
                Ok(Some(Opened { file, identity: Identity::of(&stat), mode: Mode::from_raw_mode(stat.st_mode) }))
            }
            Err(Errno::NOENT) => Ok(None),
            // A link, or a socket: swapped in since the look.
            Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => Err(not_a_blob()),
            Err(errno) => Err(failed(errno)),
        }
    }

    /// The bytes without opening the file, if they are in memory and the file is the one that was verified.
    fn remembered(&self, id: BlobId, expected_len: Option<u64>) -> Result<Option<Bytes>, BlobError> {
        let Some(identity) = self.look("read", id)? else {
            return Err(self.error("read", id, BlobErrorKind::Missing));
        };
        self.judge_len(id, identity.len, expected_len)?;
        Ok(if self.known.is_verified(id, &identity) { self.known.bytes(id) } else { None })
    }

    /// The bytes, or what they hash to instead.
    fn read_verified(&self, id: BlobId, opened: &Opened, began: SystemTime) -> io::Result<Result<Bytes, BlobId>> {
        let Opened { file, identity, .. } = opened;
        let bytes = match self.known.bytes(id) {
            // Comparing with bytes that are known to be right is several times faster than hashing.
            Some(held) if holds(file, &held)? => held,
            _ if self.known.is_verified(id, identity) => {
                let bytes = read(file, identity.len)?;
                if bytes.len() as u64 != identity.len || now(file)? != *identity {
                    // It changed under our hands: the next attempt will hash.
                    let found = BlobId::of(&bytes);
                    return Ok(if found == id { Ok(bytes.into()) } else { Err(found) });
                }
                bytes.into()
            }
            _ => match read_hashed(file, identity.len)? {
                (bytes, found) if found == id => Bytes::from(bytes),
                (_, found) => return Ok(Err(found)),
            },
        };
        if now(file)? == *identity {
            self.known.record(id, *identity, false, began);
        }
        self.known.keep(id, bytes.clone());
        Ok(Ok(bytes))
    }

    fn judge_len(&self, id: BlobId, found: u64, expected_len: Option<u64>) -> Result<(), BlobError> {
        match expected_len {
            Some(expected) if expected != found => {
                Err(self.error("read", id, BlobErrorKind::WrongLength { expected, found }))
            }
            _ if found > MAX_BLOB_BYTES => {
                Err(self.error("read", id, BlobErrorKind::TooLarge { len: found, limit: MAX_BLOB_BYTES }))
            }
            _ => Ok(()),
        }
    }

    /// Whether the name still leads to what was opened, unchanged.
    fn is_still(&self, id: BlobId, opened: &Opened) -> bool {
        self.look("read", id).is_ok_and(|identity| identity == Some(opened.identity))
    }

    fn stored_len(&self, (id, expected_len): (BlobId, Option<u64>)) -> u64 {
        expected_len.or_else(|| self.contains(id).ok().flatten()).unwrap_or(0)
    }

    fn why_foreign(&self, id: BlobId) -> ForeignReason {
        let found = id.with_hex(|name| self.folder.look(name)).ok().flatten();
        found.and_then(|(_, stat)| why_foreign(&stat)).unwrap_or(ForeignReason::Special)
    }
}

/// Whether the file holds exactly these bytes.
pub(super) fn holds(file: &File, bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; CHUNK.min(bytes.len() + 1)];
    let mut at = 0;
    loop {
        let read = match file.read_at(&mut buffer, at as u64) {
            Ok(0) => return Ok(at == bytes.len()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match bytes.get(at..at + read) {
            Some(part) if part == &buffer[..read] => at += read,
            _ => return Ok(false),
        }
    }
}

fn now(file: &File) -> io::Result<Identity> {
    Ok(Identity::of(&rustix::fs::fstat(file)?))
}

/// At most `len` bytes from the start, which the caller has capped. The system hands out memory as bytes come.
fn read(file: &File, len: u64) -> io::Result<Vec<u8>> {
    read_parts(file, len, usize::MAX, |_| ())
}

/// As [`read`], hashing each part while it is at hand.
fn read_hashed(file: &File, len: u64) -> io::Result<(Vec<u8>, BlobId)> {
    let mut hasher = Sha256::new();
    let bytes = read_parts(file, len, CHUNK, |part| hasher.update(part))?;
    Ok((bytes, BlobId::from_digest(hasher.finalize().into())))
}

fn read_parts(file: &File, len: u64, chunk: usize, mut each: impl FnMut(&[u8])) -> io::Result<Vec<u8>> {
    let len = usize::try_from(len).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut bytes = vec![0; len];
    let mut at = 0;
    while at < len {
        let end = len.min(at.saturating_add(chunk));
        match file.read_at(&mut bytes[at..end], at as u64) {
            Ok(0) => break,
            Ok(read) => {
                each(&bytes[at..at + read]);
                at += read;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(at);
    Ok(bytes)
}

/// Length and digest of a whole file, through one buffer.
fn hash(mut file: &File) -> io::Result<(u64, BlobId)> {
    let mut buffer = vec![0; CHUNK];
    let mut hasher = Sha256::new();
    let mut len = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((len, BlobId::from_digest(hasher.finalize().into()))),
            Ok(read) => {
                hasher.update(&buffer[..read]);
                len += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
