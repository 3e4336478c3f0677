//! Listing, deleting and moving aside.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use rustix::fs::{Dir, Stat};
use rustix::io::Errno;

use super::Store;
use super::identity::{Identity, why_foreign};
use super::publish::{TEMP_PREFIX, unique};
use super::steps::{self, Step};
use crate::store::{BlobInfo, Foreign, ForeignReason, Inventory, Verdict};
use crate::{BlobError, BlobErrorKind, BlobId};

/// What comes between the name of a damaged blob that was moved aside and what makes the new name unique.
const ASIDE: &str = ".damaged-";

impl Store {
    pub(super) fn inventory(&self) -> Result<Inventory, BlobError> {
        let mut inventory = Inventory::default();
        self.each_entry("list", |_, name, stat| {
            let modified = Identity::of(stat).modified();
            match why_listed_as_foreign(name, stat) {
                Err(reason) => {
                    let path = self.folder.path().join(name).display().to_string();
                    inventory.foreign.push(Foreign { path, reason, modified: Some(modified) });
                }
                Ok(id) => {
                    let len = Identity::of(stat).len;
                    inventory.blobs.push(BlobInfo { id, len, modified, leased: self.leases.is_held(id) });
                }
            }
            Ok(())
        })?;
        inventory.blobs.sort_by_key(|blob| blob.id);
        inventory.foreign.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(inventory)
    }

    pub(super) fn remove_if_older(&self, id: BlobId, cutoff: SystemTime) -> Result<bool, BlobError> {
        let failed = |errno: Errno| self.io_error("delete", id, errno);
        self.steps.before(Step::Remove).map_err(failed)?;
        let remove = || {
            let Some(identity) = self.look("delete", id)? else { return Ok(false) };
            let Some(dir) = self.folder.existing().map_err(failed)? else { return Ok(false) };
            if identity.modified() >= cutoff {
                return Ok(false);
            }
            match id.with_hex(|name| steps::unlink(&dir, name)) {
                Ok(()) => Ok(true),
                Err(Errno::NOENT) => Ok(false),
                Err(errno) => Err(failed(errno)),
            }
        };
        let removed = self.leases.unless_held(id, remove).unwrap_or(Ok(false));
        if matches!(removed, Ok(true)) {
            self.known.forget(id);
        }
        removed
    }

    pub(super) fn remove_stale_temps(&self, cutoff: SystemTime) -> Result<Vec<String>, BlobError> {
        let mut removed = Vec::new();
        self.each_entry("sweep", |dir, name, stat| {
            let temp = why_listed_as_foreign(name, stat) == Err(ForeignReason::Temp);
            if temp && Identity::of(stat).modified() < cutoff {
                match rustix::fs::unlinkat(dir, name, rustix::fs::AtFlags::empty()) {
                    Ok(()) => removed.push(self.folder.path().join(name).display().to_string()),
                    Err(Errno::NOENT) => {}
                    Err(errno) => return Err(errno),
                }
            }
            Ok(())
        })?;
        removed.sort();
        Ok(removed)
    }

    pub(super) fn quarantine(&self, id: BlobId) -> Result<String, BlobError> {
        let error = |kind| self.error("move aside", id, kind);
        let failed = |errno: Errno| self.io_error("move aside", id, errno);
        let Some(opened) = self.open_blob("move aside", id)? else { return Err(error(BlobErrorKind::Missing)) };
        match self.verify(id)? {
            Verdict::Good { .. } => return Err(error(BlobErrorKind::NotDamaged)),
            Verdict::Missing => return Err(error(BlobErrorKind::Missing)),
            Verdict::NotABlob(_) => return Err(error(BlobErrorKind::NotABlob)),
            Verdict::Damaged { .. } => {}
        }
        let Some(dir) = self.folder.existing().map_err(failed)? else { return Err(error(BlobErrorKind::Missing)) };
        let name = id.to_string();
        let aside = unique(&format!("{name}{ASIDE}"));
        self.rename_aside(&dir, &name, &aside).map_err(failed)?;
        self.known.forget(id);
        let moved = Identity::of(&steps::stat(&dir, &aside).map_err(failed)?);
        if !moved.same_content(&opened.identity) {
            // A writer healed the blob after it was judged, and the whole one was moved: back with it, unless yet
            // another has come.
            match self.rename_aside(&dir, &aside, &name) {
                Ok(()) | Err(Errno::EXIST) => return Err(error(BlobErrorKind::NotDamaged)),
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(self.folder.path().join(&aside).display().to_string())
    }

    /// A rename onto a name that nobody else uses, with or without the system's guarantee.
    fn rename_aside(&self, dir: &File, from: &str, to: &str) -> Result<(), Errno> {
        match steps::rename_new(&*self.steps, dir, from, to) {
            Err(errno) if steps::is_unsupported(errno) || errno == Errno::PERM => match steps::stat(dir, to) {
                Err(Errno::NOENT) => steps::rename(&*self.steps, dir, from, to),
                Ok(_) => Err(Errno::EXIST),
                Err(errno) => Err(errno),
            },
            outcome => outcome,
        }
    }

    /// Calls `found` with each entry; one that vanishes meanwhile is left out.
    fn each_entry(
        &self,
        operation: &'static str,
        mut found: impl FnMut(&File, &OsStr, &Stat) -> Result<(), Errno>,
    ) -> Result<(), BlobError> {
        let failed = |errno: Errno| BlobError::io(operation, self.folder.path().display().to_string(), errno);
        let Some(dir) = self.folder.current().map_err(failed)? else { return Ok(()) };
        for entry in Dir::read_from(&*dir).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            match rustix::fs::statat(&*dir, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => found(&dir, name, &stat).map_err(failed)?,
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(failed(errno)),
            }
        }
        Ok(())
    }
}

/// The blob of an entry, or why it is none.
fn why_listed_as_foreign(name: &OsStr, stat: &Stat) -> Result<BlobId, ForeignReason> {
    if let Some(reason) = why_foreign(stat) {
        return Err(reason);
    }
    let name = name.to_str().unwrap_or("");
    if let Some(id) = BlobId::parse(name) {
        return Ok(id);
    }
    let aside = name.split_once(ASIDE).is_some_and(|(id, _)| BlobId::parse(id).is_some());
    Err(match name {
        _ if name.starts_with(TEMP_PREFIX) => ForeignReason::Temp,
        _ if aside => ForeignReason::Quarantined,
        _ => ForeignReason::WrongName,
    })
}
