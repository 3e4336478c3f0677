//! One copy: written, made durable, read back and compared.

use std::fs::{File, FileTimes, Permissions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use attache_media::{dimensions, sniff};
use attache_workdir_fs::WorkDir;
use sha2::{Digest as _, Sha256};

use super::{Fault, Step};
use crate::EvidenceError;
use crate::image::{self, MAX_IMAGE_BYTES, MAX_NAME, Memory, Seen};
use crate::input::{extension, words};
use crate::manifest::{IMAGES, ManifestImage};
use crate::place::Place;

pub(super) struct Copier<'a> {
    source: &'a WorkDir,
    images: Place,
    memory: Memory,
    fault: Fault<'a>,
}

impl<'a> Copier<'a> {
    pub(super) fn new(source: &'a WorkDir, bundle: &Place, fault: Fault<'a>) -> io::Result<Self> {
        Ok(Self { source, images: bundle.make_folder(IMAGES)?, memory: Memory::new(), fault })
    }

    /// Copies the image of a number, and reads the copy back.
    pub(super) fn copy(&self, index: usize, seen: &Seen) -> Result<ManifestImage, EvidenceError> {
        let Seen { name, .. } = seen;
        let failed_with = |cause: &io::Error| failed(name, cause);
        (self.fault)(Step::Copy(index)).map_err(|cause| failed_with(&cause))?;
        let mut original = image::read(self.source, name, MAX_IMAGE_BYTES, Some(&self.memory))
            .map_err(|error| EvidenceError::operation(format!("image copy failed: {name}: {error}")))?;
        if hex::encode(Sha256::digest(&original.bytes)) != seen.sha256 {
            return Err(changed(name));
        }
        let copy_name = copy_name(index, name);
        let mut copy = self.write(&copy_name, &original).map_err(|cause| failed_with(&cause))?;
        // The room for them is kept: they are read once more.
        drop(std::mem::take(&mut original.bytes));
        (self.fault)(Step::Check(index)).map_err(|cause| failed_with(&cause))?;
        check(&mut copy, seen)?;
        Ok(ManifestImage {
            index,
            file: None,
            path: format!("{IMAGES}/{copy_name}"),
            source_name: name.clone(),
            width: seen.width,
            height: seen.height,
            bytes: seen.bytes,
            sha256: seen.sha256.clone(),
            provenance: seen.provenance.clone(),
        })
    }

    /// Writes the bytes with the original's mode and time of change.
    fn write(&self, copy_name: &str, original: &image::Read<'_>) -> io::Result<File> {
        let mut copy = self.images.create(copy_name)?;
        copy.write_all(&original.bytes)?;
        copy.set_permissions(Permissions::from_mode(original.metadata.permissions().mode() & 0o777))?;
        copy.set_times(FileTimes::new().set_modified(original.metadata.modified()?))?;
        copy.sync_all()?;
        Ok(copy)
    }

    /// Removes the copies from a number on, as far as they were made.
    pub(super) fn remove_from(&self, first: usize, seen: &[Seen]) {
        for (at, seen) in seen.iter().enumerate().skip(first - 1) {
            let _ = self.images.remove(&copy_name(at + 1, &seen.name));
        }
    }

    /// Makes the names durable; the bytes are.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.images.dir.sync_all()
    }
}

/// What the copy really holds, against what was seen of the original.
fn check(copy: &mut File, seen: &Seen) -> Result<(), EvidenceError> {
    let Seen { name, .. } = seen;
    let mut bytes = Vec::new();
    copy.rewind()
        .and_then(|()| copy.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|cause| failed(name, &cause))?;
    if hex::encode(Sha256::digest(&bytes)) != seen.sha256 {
        return Err(changed(name));
    }
    let size = sniff(&bytes).and_then(|media_type| dimensions(&bytes, media_type).ok());
    if size.map(|size| (size.width, size.height)) != Some((seen.width, seen.height)) {
        return Err(EvidenceError::input(format!("copied image dimensions changed; run again: {name}")));
    }
    Ok(())
}

fn changed(name: &str) -> EvidenceError {
    EvidenceError::input(format!("image changed after inspection; run again: {name}"))
}

pub(super) fn failed(what: &str, cause: &io::Error) -> EvidenceError {
    EvidenceError::operation(format!("image copy failed: {what}: {}", words(cause)))
}

/// `001-name.png`, cut before the extension where that is longer than a name may be.
pub(crate) fn copy_name(index: usize, name: &str) -> String {
    let (stem, extension) = name.split_at(name.len() - extension(name).len());
    let prefix = format!("{index:03}-");
    let room = MAX_NAME.saturating_sub(prefix.len() + extension.len());
    format!("{prefix}{}{extension}", &stem[..stem.floor_char_boundary(room)])
}
