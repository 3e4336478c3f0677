//! Is a bundle still what its manifest says?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use attache_media::sniff;
use attache_workdir_fs::{FsErrorKind, WorkDir};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::image::{self, MAX_IMAGE_BYTES, Memory, Read};
use crate::manifest::{AGENT, IMAGES, MANIFEST, Manifest, ManifestImage, POINTER, Status};
use crate::parallel::{cores, in_order};
use crate::run::copy_name;
use crate::{EvidenceError, Options};

/// The largest manifest that is read, in bytes. A hundred images with sidecars and ten thousand skipped names stay below.
const MAX_MANIFEST: u64 = 64 << 20;

/// A bundle, opened for reading.
#[derive(Debug)]
pub struct Bundle {
    folder: WorkDir,
    manifest: Manifest,
    manifest_sha256: String,
}

/// Something that is not as the manifest says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Difference {
    /// The file, relative to the bundle.
    pub path: String,
    /// What is different, in words.
    pub problem: String,
}

/// What became of a check. It serialises as the result of `verify`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// Whether nothing differs.
    pub ok: bool,
    /// The bundle's folder.
    pub workdir: String,
    /// Whether the bundle holds all of its input.
    pub status: Status,
    /// How many images the manifest lists.
    pub item_count: usize,
    /// What differs, in the order of the images.
    pub differences: Vec<Difference>,
}

impl Bundle {
    /// Opens the bundle in `workdir` and reads its manifest; the images are not looked at.
    ///
    /// # Errors
    /// If there is no bundle, or its manifest is not one.
    pub fn open(workdir: &Path) -> Result<Self, EvidenceError> {
        let shown = workdir.display();
        let folder = WorkDir::open(workdir)
            .map_err(|error| EvidenceError::input(format!("cannot open bundle {shown}: {error}")))?;
        let text = image::read(&folder, MANIFEST, MAX_MANIFEST, None)
            .map_err(|error| EvidenceError::input(format!("no manifest in {shown}: {error}")))?
            .bytes;
        let manifest = serde_json::from_slice(&text)
            .map_err(|error| EvidenceError::input(format!("the manifest in {shown} is damaged: {error}")))?;
        Ok(Self { folder, manifest, manifest_sha256: hex::encode(Sha256::digest(&text)) })
    }

    /// What the manifest says.
    #[must_use]
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The bytes of an image, which are those that the manifest names.
    ///
    /// # Errors
    /// If they are not, or cannot be read.
    pub fn image(&self, image: &ManifestImage) -> Result<Vec<u8>, EvidenceError> {
        read_copy(&self.folder, image, None)
            .map_err(|problem| EvidenceError::input(format!("{}: {problem}", image.path)))
    }

    /// Hashes and decodes every image again, and compares everything that the bundle says of itself. A page beside the manifest is no
    /// part of the evidence and is not looked at.
    #[must_use]
    pub fn verify(&self, options: &Options<'_>) -> Verified {
        let manifest = &self.manifest;
        let mut differences = self.check_list();
        let memory = Memory::new();
        let total = manifest.images.iter().map(|image| image.bytes).fold(0, u64::saturating_add);
        let done = AtomicU64::new(0);
        let checks = in_order(manifest.images.len(), cores(), |at| {
            let image = &manifest.images[at];
            let problem = self.check_image(image, options.max_pixels, &memory).err();
            let done = done.fetch_add(image.bytes, Ordering::Relaxed) + image.bytes;
            options.report(done, total);
            Ok::<_, ()>(problem.map(|problem| Difference { path: image.path.clone(), problem }))
        });
        differences.extend(checks.done.into_iter().flatten());
        differences.extend(self.check_files());
        differences.extend(match manifest.status {
            Status::Complete => self.check_pointer(),
            Status::Partial => self.check_no_pointer(),
        });
        Verified {
            ok: differences.is_empty(),
            workdir: self.folder.path().to_string_lossy().into_owned(),
            status: manifest.status,
            item_count: manifest.item_count,
            differences,
        }
    }

    fn check_image(&self, image: &ManifestImage, max_pixels: u64, memory: &Memory) -> Result<(), String> {
        let bytes = read_copy(&self.folder, image, Some(memory))?;
        let media_type = sniff(&bytes).ok_or("it is no image")?;
        let _held = memory.for_pixels(&bytes, media_type, max_pixels);
        let (width, height) =
            image::measure(&bytes, &image.source_name, media_type, max_pixels).map_err(|error| error.to_string())?;
        if (width, height) != (image.width, image.height) {
            let (claimed, by) = (image.width, image.height);
            return Err(format!("it is {width}x{height} pixels, and the manifest says {claimed}x{by}"));
        }
        let expect = json!({"sha256": image.sha256, "pixel_width": width, "pixel_height": height});
        if image.provenance.get("importer_verified") != Some(&expect) {
            return Err("its provenance was measured on something else".to_owned());
        }
        Ok(())
    }

    /// What the manifest says about itself.
    fn check_list(&self) -> Vec<Difference> {
        let Manifest { images, item_count, .. } = &self.manifest;
        let mut differences = Vec::new();
        let mut wrong = |problem: String| differences.push(Difference { path: MANIFEST.to_owned(), problem });
        if *item_count != images.len() {
            wrong(format!("it counts {item_count} images and lists {}", images.len()));
        }
        if let Some((at, image)) = images.iter().enumerate().find(|(at, image)| image.index != at + 1) {
            wrong(format!("image {} is numbered {}", at + 1, image.index));
        }
        if images.iter().map(|image| &image.path).collect::<BTreeSet<_>>().len() != images.len() {
            wrong("it lists a file twice".to_owned());
        }
        if (self.manifest.status == Status::Partial) != self.manifest.failed_stage.is_some() {
            wrong("its status does not go with where it says that it ended".to_owned());
        }
        differences
    }

    /// Files that the manifest does not list. A partial bundle may hold the copy that failed, which is the next one.
    fn check_files(&self) -> Vec<Difference> {
        let difference = |path: String, problem: &str| Difference { path, problem: problem.to_owned() };
        let failed = format!("{IMAGES}/{}", copy_name(self.manifest.images.len() + 1, ""));
        let may_stand = |path: &str| self.manifest.status == Status::Partial && path.starts_with(&failed);
        let listing = WorkDir::open(self.folder.path().join(IMAGES)).map_err(|error| error.to_string());
        let listing = listing.and_then(|folder| folder.entries().map_err(|error| error.to_string()));
        let listed: BTreeSet<&str> = self.manifest.images.iter().map(|image| &*image.path).collect();
        match listing {
            Err(problem) => vec![difference(IMAGES.to_owned(), &problem)],
            Ok(entries) => entries
                .iter()
                .map(|entry| format!("{IMAGES}/{}", entry.name.to_string_lossy()))
                .filter(|path| !listed.contains(&**path) && !may_stand(path))
                .map(|path| difference(path, "the manifest does not list it"))
                .collect(),
        }
    }

    fn check_pointer(&self) -> Option<Difference> {
        let path = format!("{AGENT}/{POINTER}");
        let problem = match image::read(&self.folder, &path, MAX_MANIFEST, None) {
            Err(error) => Some(error.to_string()),
            Ok(Read { bytes: text, .. }) => {
                let pointer: Value = serde_json::from_slice(&text).unwrap_or_default();
                let mut evidence: Vec<&str> = self.manifest.images.iter().map(|image| &*image.path).collect();
                evidence.sort_unstable();
                let expect = BTreeMap::from([
                    ("schema_version", json!(1)),
                    ("status", json!("success")),
                    ("manifest", json!(MANIFEST)),
                    ("manifest_sha256", json!(self.manifest_sha256)),
                    ("evidence", json!(evidence)),
                ]);
                let wrong = expect.iter().find(|(key, value)| pointer.get(**key) != Some(*value));
                wrong.map(|(key, _)| format!("its \"{key}\" is not that of the manifest"))
            }
        };
        problem.map(|problem| Difference { path, problem })
    }

    /// Only what is complete is pointed at, so that no complete bundle can pass for a partial one.
    fn check_no_pointer(&self) -> Option<Difference> {
        let path = format!("{AGENT}/{POINTER}");
        match image::read(&self.folder, &path, MAX_MANIFEST, None) {
            Err(error) if error.kind() == FsErrorKind::NotFound => None,
            _ => Some(Difference { path, problem: "it points at a bundle that says that it is partial".to_owned() }),
        }
    }
}

/// The bytes of a copy, if they are those that the manifest names.
pub(crate) fn read_copy(folder: &WorkDir, image: &ManifestImage, memory: Option<&Memory>) -> Result<Vec<u8>, String> {
    let beneath = image.path.strip_prefix(IMAGES).and_then(|rest| rest.strip_prefix('/'));
    if beneath.is_none_or(|name| name.is_empty() || name.contains('/') || name == "..") {
        return Err(format!("it is not in {IMAGES}/"));
    }
    let Read { bytes, held: _held, .. } =
        image::read(folder, &image.path, MAX_IMAGE_BYTES, memory).map_err(|error| error.to_string())?;
    if bytes.len() as u64 != image.bytes {
        return Err(format!("it has {} bytes, and the manifest says {}", bytes.len(), image.bytes));
    }
    let sha256 = hex::encode(Sha256::digest(&bytes));
    if sha256 != image.sha256 {
        return Err(format!("its sha256 is {sha256}, and the manifest says {}", image.sha256));
    }
    Ok(bytes)
}

/// Opens the bundle in `workdir` and checks it: [`Bundle::open`], then [`Bundle::verify`].
///
/// # Errors
/// Those of [`Bundle::open`]. What differs is no error but in the result.
pub fn verify(workdir: &Path, options: &Options<'_>) -> Result<Verified, EvidenceError> {
    Ok(Bundle::open(workdir)?.verify(options))
}
