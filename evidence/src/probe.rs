//! Which images there are, in order, and what is known of each.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use attache_workdir_fs::{Entry, FileVersion, WorkDir};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::image::{self, Memory, Seen, Warning};
use crate::input::{self, Input, extension, is_supported, words};
use crate::parallel::{cores, in_order};
use crate::select::{Selected, Skipped, select};
use crate::{EvidenceError, Options};

/// The most images of one input that can be estimated and copied.
pub const MAX_ITEMS: usize = 100;

/// Whether the input was a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One file.
    Image,
    /// A folder, even of one image.
    Carousel,
}

/// What a look at an input found. It serialises as the result of `probe`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probe {
    /// Always `local`: nothing is fetched.
    pub source: &'static str,
    /// The file or folder, absolute.
    pub input: String,
    /// Which of the two it is.
    pub kind: Kind,
    /// How many images there are.
    pub item_count: usize,
    /// Whether there are at most [`MAX_ITEMS`].
    pub within_limit: bool,
    /// The images, in natural order.
    pub images: Vec<Image>,
    /// What else is in the folder.
    pub skipped: Vec<Skipped>,
    /// What a reader should know; left out where there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// An image of an input.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Image {
    /// Its place in the order, from 1. Citations use this number.
    pub index: usize,
    /// The file, absolute.
    pub source: String,
    /// The file's name.
    pub source_name: String,
    /// Stored width in pixels, before any rotation.
    pub width: u32,
    /// Stored height in pixels.
    pub height: u32,
    /// Size in bytes.
    pub bytes: u64,
    /// Where it claims to come from, and what was measured.
    pub provenance: Value,
}

/// Looks at `input`, a file or a folder: reads, decodes and hashes every image, and checks every sidecar that belongs to one.
///
/// # Errors
/// If there is nothing to read, or any image or sidecar is not acceptable; of several, the first in natural order decides.
/// If the folder changes while it is read, that is the error.
pub fn probe(input: &Path, options: &Options<'_>) -> Result<Probe, EvidenceError> {
    Ok(Looked::at(input, options)?.probe)
}

/// A probe, and what it takes to go on from there.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) probe: Probe,
    pub(crate) folder: WorkDir,
    pub(crate) seen: Vec<Seen>,
}

impl Looked {
    pub(crate) fn at(input: &Path, options: &Options<'_>) -> Result<Self, EvidenceError> {
        let found = input::resolve(input, options.inbox)?;
        let before = Before::of(&found)?;
        let seen = look_at_all(&found.folder, &before.images, options);
        // Whatever went wrong may have gone wrong because somebody is at work in there.
        before.is_still_so(&found, seen.as_deref().unwrap_or_default())?;
        let seen = seen?;
        Ok(Self { probe: payload(&found, before.skipped, &seen), folder: found.folder, seen })
    }

    /// More images than can be cited are an error from here on.
    pub(crate) fn within_limit(self) -> Result<Self, EvidenceError> {
        if self.probe.within_limit {
            return Ok(self);
        }
        let count = self.probe.item_count;
        Err(EvidenceError::input(format!("image input has more than {MAX_ITEMS} items: {count}")))
    }
}

/// What was there when the look began.
struct Before {
    images: Vec<Selected>,
    skipped: Vec<Skipped>,
    entries: Option<Vec<Entry>>,
}

impl Before {
    fn of(found: &Input) -> Result<Self, EvidenceError> {
        let Some(name) = &found.file else {
            let entries = entries(found)?;
            let selection = select(&entries);
            if selection.images.is_empty() {
                return Err(EvidenceError::input(format!("no supported images in folder: {}", found.path.display())));
            }
            return Ok(Self { images: selection.images, skipped: selection.skipped, entries: Some(entries) });
        };
        let Some(name) = name.to_str() else {
            return Err(EvidenceError::input(format!("name is not UTF-8: {}", found.path.display())));
        };
        if !is_supported(name) {
            let extension = match extension(name) {
                "" => "(none)".to_owned(),
                extension => extension.to_lowercase(),
            };
            return Err(EvidenceError::input(format!("unsupported image format: {extension}")));
        }
        let bytes = std::fs::symlink_metadata(&found.path).map_or(0, |metadata| metadata.len());
        let image = Selected { name: name.to_owned(), has_sidecar: true, bytes };
        Ok(Self { images: vec![image], skipped: Vec::new(), entries: None })
    }

    /// Every file that was read was read in a state that it still is in, and no name has come or gone: so there was a moment,
    /// after the last was read, at which all of it was so.
    fn is_still_so(&self, found: &Input, seen: &[Seen]) -> Result<(), EvidenceError> {
        let changed = |name: &OsString, how: &str| {
            let (path, name) = (found.path.display(), name.to_string_lossy());
            Err(EvidenceError::input(format!("{path} changed while it was read: {name} {how}; try again")))
        };
        let Some(before) = &self.entries else {
            for (name, version) in seen.iter().flat_map(|seen| &seen.versions) {
                let now = found.folder.lower(name).and_then(|path| found.folder.open_file(&path));
                if now.map(|file| file.version()).ok().as_ref() != Some(version) {
                    return changed(&name.into(), "is not what it was");
                }
            }
            return Ok(());
        };
        let now = entries(found)?;
        let read: HashMap<&str, FileVersion> =
            seen.iter().flat_map(|seen| &seen.versions).map(|(name, version)| (&**name, *version)).collect();
        let by_name: HashMap<&OsString, &Entry> = before.iter().map(|entry| (&entry.name, entry)).collect();
        let of_images: HashSet<&str> = self.images.iter().map(|image| &*image.name).collect();
        for entry in &now {
            match by_name.get(&entry.name) {
                None => return changed(&entry.name, "is new"),
                Some(was) if was.kind != entry.kind => return changed(&entry.name, "is something else"),
                _ => {}
            }
            let name = entry.name.to_str();
            // An image that failed was read in no state; what it was when the folder was listed has to do.
            let listed =
                || name.filter(|name| of_images.contains(name)).and(by_name.get(&entry.name)).map(|was| &was.version);
            let version = name.and_then(|name| read.get(name)).or_else(listed);
            if version.is_some_and(|version| *version != entry.version) {
                return changed(&entry.name, "is not what it was");
            }
        }
        if now.len() < before.len() {
            let left: HashSet<_> = now.iter().map(|entry| &entry.name).collect();
            if let Some(gone) = before.iter().find(|entry| !left.contains(&entry.name)) {
                return changed(&gone.name, "is gone");
            }
        }
        Ok(())
    }
}

fn entries(found: &Input) -> Result<Vec<Entry>, EvidenceError> {
    let failed = |cause| EvidenceError::input(format!("cannot read {}: {}", found.path.display(), words(&cause)));
    found.folder.entries().map_err(failed)
}

fn look_at_all(folder: &WorkDir, images: &[Selected], options: &Options<'_>) -> Result<Vec<Seen>, EvidenceError> {
    let memory = Memory::new();
    let total: u64 = images.iter().map(|image| image.bytes).sum();
    let done = AtomicU64::new(0);
    let outcome = in_order(images.len(), cores(), |at| {
        let Selected { name, has_sidecar, bytes } = &images[at];
        let seen = image::look(folder, name, *has_sidecar, options.max_pixels, &memory)?;
        let done = done.fetch_add(*bytes, Ordering::Relaxed) + bytes;
        options.report(done, total);
        Ok(seen)
    });
    match outcome.failure {
        Some(error) => Err(error),
        None => Ok(outcome.done),
    }
}

fn payload(found: &Input, skipped: Vec<Skipped>, seen: &[Seen]) -> Probe {
    let folder: PathBuf = found.folder.path().to_owned();
    let image = |(at, seen): (usize, &Seen)| Image {
        index: at + 1,
        source: folder.join(&seen.name).to_string_lossy().into_owned(),
        source_name: seen.name.clone(),
        width: seen.width,
        height: seen.height,
        bytes: seen.bytes,
        provenance: seen.provenance.clone(),
    };
    Probe {
        source: "local",
        input: found.path.to_string_lossy().into_owned(),
        kind: if found.file.is_some() { Kind::Image } else { Kind::Carousel },
        item_count: seen.len(),
        within_limit: seen.len() <= MAX_ITEMS,
        images: seen.iter().enumerate().map(image).collect(),
        skipped,
        warnings: seen.iter().filter_map(|seen| seen.warning.clone()).collect(),
    }
}

#[cfg(test)]
#[path = "probe_tests.rs"]
mod tests;
