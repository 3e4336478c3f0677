//! One image: read once, through one descriptor, and everything that is said of it said of those bytes.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use attache_media::{MediaType, Motion, Verify, describe, dimensions, motion, sniff, verify};
use attache_workdir_fs::{FileVersion, FsError, FsErrorKind, WorkDir};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::EvidenceError;
use crate::gate::{Gate, Held};
use crate::input::extension;
use crate::sidecar::{Measured, Provenance, SIDECAR_MAX_BYTES, SIDECAR_SUFFIX, SidecarError, validate};

/// The largest file that is read, in bytes: 512 MiB, more than 64 million uncompressed pixels of 8 bytes need.
pub(crate) const MAX_IMAGE_BYTES: u64 = 512 << 20;

/// The longest name a file can have, in bytes.
pub(crate) const MAX_NAME: usize = 255;

/// Something that did not keep an input from being read, and that a reader of the evidence should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable code, for example `extension_mismatch`.
    pub code: String,
    /// What it is about, in words.
    pub message: String,
}

impl Warning {
    pub(crate) fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// Memory that all workers share.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes: Gate,
    pixels: Gate,
}

impl Memory {
    pub(crate) fn new() -> Self {
        // Files as they are, and what decoders hold besides: together less than half a gigabyte, unless a
        // single image needs more.
        Self { bytes: Gate::new(96 << 20), pixels: Gate::new(384 << 20) }
    }

    pub(crate) fn for_file(&self, claimed: u64) -> Held<'_> {
        self.bytes.enter(claimed)
    }

    /// Room for decoding: a PNG is decoded row by row, a JPEG takes up to 12 bytes a pixel and a WebP up to 16.
    pub(crate) fn for_pixels(&self, bytes: &[u8], media_type: MediaType, max_pixels: u64) -> Held<'_> {
        let pixels = dimensions(bytes, media_type).map_or(0, |size| size.pixels());
        let each = match media_type {
            MediaType::Png => 0,
            MediaType::Jpeg => 12,
            MediaType::Gif | MediaType::Webp => 16,
        };
        // What is over the budget is not decoded at all.
        self.pixels.enter(if pixels > max_pixels { 0 } else { pixels.saturating_mul(each) })
    }

    /// Room for all pixels of a picture at once, in the form that takes the most.
    pub(crate) fn for_picture(&self, pixels: u64) -> Held<'_> {
        self.pixels.enter(pixels.saturating_mul(16))
    }
}

/// What one look at an image found out.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) sha256: String,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) bytes: u64,
    pub(crate) provenance: Value,
    pub(crate) warning: Option<Warning>,
    /// The states of the files that this was found in: the image's, and its sidecar's.
    pub(crate) versions: Vec<(String, FileVersion)>,
}

/// Reads, decodes and hashes the image `name`, and checks the claims of its sidecar.
pub(crate) fn look(
    folder: &WorkDir,
    name: &str,
    expect_sidecar: bool,
    max_pixels: u64,
    memory: &Memory,
) -> Result<Seen, EvidenceError> {
    let read_whole = || {
        read(folder, name, MAX_IMAGE_BYTES, Some(memory)).map_err(|error| {
            EvidenceError::input(format!("cannot read {}: {error}", folder.path().join(name).display()))
        })
    };
    let Read { bytes, version, metadata, held } = read_whole()?;
    let media_type = static_image(&bytes, name)?;
    let size = {
        let _held = memory.for_pixels(&bytes, media_type, max_pixels);
        measure(&bytes, name, media_type, max_pixels)?
    };
    let sha256 = hex::encode(Sha256::digest(&bytes));
    let len = bytes.len() as u64;
    drop((bytes, held));
    if is_unsettled(&metadata) && hex::encode(Sha256::digest(&read_whole()?.bytes)) != sha256 {
        let folder = folder.path().display();
        return Err(EvidenceError::input(format!(
            "{folder} changed while it was read: {name} is not what it was; try again"
        )));
    }

    let measured = Measured { sha256: sha256.clone(), width: size.0, height: size.1 };
    let mut versions = vec![(name.to_owned(), version)];
    let provenance = if expect_sidecar { sidecar(folder, name, &measured, &mut versions)? } else { None };
    let provenance = provenance.unwrap_or_else(|| Provenance::missing(&measured));
    Ok(Seen {
        name: name.to_owned(),
        width: size.0,
        height: size.1,
        bytes: len,
        provenance: serde_json::to_value(&provenance)
            .map_err(|error| EvidenceError::new(crate::ErrorKind::Unexpected, format!("{name}: {error}")))?,
        warning: mismatch(name, media_type),
        sha256,
        versions,
    })
}

/// A file that was changed this recently is read once more before it is believed.
const YOUNG: Duration = Duration::from_secs(2);
/// A long one is first given this long since it was changed, more than a writer is kept waiting for a processor.
const SETTLING: Duration = Duration::from_millis(100);
/// What is written at once in no time, in bytes.
const SHORT: u64 = 256 << 10;

/// Whether a write may have been under way: it sets the file's time once, when it begins, so that the times before and after a read
/// in the middle of it are equal. Waits until the write should be over.
fn is_unsettled(metadata: &Metadata) -> bool {
    let part = |number: i64| u64::try_from(number).unwrap_or_default();
    let since = Duration::from_secs(part(metadata.ctime())) + Duration::from_nanos(part(metadata.ctime_nsec()));
    // A clock that runs ahead, as that of a file server may, tells nothing.
    let age = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + since).unwrap_or_default();
    if metadata.len() > SHORT {
        std::thread::sleep(SETTLING.saturating_sub(age));
    }
    age <= YOUNG
}

/// One state of one file.
pub(crate) struct Read<'a> {
    pub(crate) bytes: Vec<u8>,
    pub(crate) version: FileVersion,
    /// Of the file that was read, whatever has its name by now.
    pub(crate) metadata: Metadata,
    /// Room for the bytes; to be let go of with them.
    pub(crate) held: Option<Held<'a>>,
}

/// Reads a file by its exact name.
pub(crate) fn read<'a>(
    folder: &WorkDir,
    name: &str,
    max_bytes: u64,
    memory: Option<&'a Memory>,
) -> Result<Read<'a>, ReadError> {
    let lowered = folder.lower(name)?;
    let file = folder.open_file(&lowered)?;
    // A work folder forgives another spelling of a name. Evidence does not.
    if file.name().as_str() != lowered.as_str() {
        return Err(ReadError::Gone);
    }
    let held = memory.map(|memory| memory.for_file(file.len().min(max_bytes)));
    let mut bytes = Vec::new();
    let version = file.read_snapshot(max_bytes, &mut bytes)?.version;
    Ok(Read { bytes, version, metadata: file.metadata()?, held })
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("it is gone")]
    Gone,
    #[error("{0}")]
    Fs(#[from] FsError),
}

impl ReadError {
    pub(crate) fn kind(&self) -> FsErrorKind {
        match self {
            ReadError::Gone => FsErrorKind::NotFound,
            ReadError::Fs(error) => error.kind(),
        }
    }
}

/// The bytes decide what it is; anything but one still picture of three formats is refused.
fn static_image(bytes: &[u8], name: &str) -> Result<MediaType, EvidenceError> {
    let media_type = match sniff(bytes) {
        Some(MediaType::Gif) | None => {
            let what = match describe(bytes) {
                "empty" => "it is empty".to_owned(),
                what => format!("it is {what}"),
            };
            let damaged = if what.contains("a damaged ") { "damaged image: " } else { "" };
            return Err(EvidenceError::input(format!("{damaged}{name} is not a PNG, JPEG or WebP image: {what}")));
        }
        Some(media_type) => media_type,
    };
    let Motion::Animated { frames } = motion(bytes) else {
        return Ok(media_type);
    };
    // A damaged file's count of frames says nothing, so that is told first.
    if let Err(error) = verify(bytes, media_type, Verify::Structure, u64::MAX) {
        return Err(EvidenceError::input(format!("damaged image: {name} is {error}")));
    }
    let found = match frames {
        Some(1) => "an animation of one".to_owned(),
        Some(frames) => format!("{frames} in an animated image"),
        None => "more".to_owned(),
    };
    Err(EvidenceError::input(format!("animated image: {name}: expected exactly one frame, found {found}")))
}

/// Decodes every pixel and returns width and height.
pub(crate) fn measure(
    bytes: &[u8],
    name: &str,
    media_type: MediaType,
    max_pixels: u64,
) -> Result<(u32, u32), EvidenceError> {
    match verify(bytes, media_type, Verify::Decode, max_pixels) {
        Ok(size) => Ok(size.map_or((0, 0), |size| (size.width, size.height))),
        Err(error) if error.code() == "too_many_pixels" => {
            Err(EvidenceError::input(format!("image too large: {name}: {error}")))
        }
        Err(error) => Err(EvidenceError::input(format!("damaged image: {name} is {error}"))),
    }
}

fn mismatch(name: &str, media_type: MediaType) -> Option<Warning> {
    let extension = extension(name);
    let fits = match media_type {
        MediaType::Jpeg => [".jpg", ".jpeg"].iter().any(|known| extension.eq_ignore_ascii_case(known)),
        _ => extension[1.min(extension.len())..].eq_ignore_ascii_case(media_type.extension()),
    };
    (!fits).then(|| Warning::new("extension_mismatch", format!("{name} holds {media_type}")))
}

/// The sidecar's claims about an image; `None` where it has no sidecar.
fn sidecar(
    folder: &WorkDir,
    name: &str,
    measured: &Measured,
    versions: &mut Vec<(String, FileVersion)>,
) -> Result<Option<Provenance>, EvidenceError> {
    let sidecar = format!("{name}{SIDECAR_SUFFIX}");
    if sidecar.len() > MAX_NAME {
        return Ok(None);
    }
    let rejected = |error: SidecarError| EvidenceError::input(format!("{error}: {name}"));
    let (bytes, version) = match read(folder, &sidecar, SIDECAR_MAX_BYTES as u64, None) {
        Ok(Read { bytes, version, .. }) => (bytes, version),
        Err(error) => {
            return match error.kind() {
                FsErrorKind::NotFound => Ok(None),
                FsErrorKind::SymlinkRefused => Err(rejected(SidecarError::Symlink)),
                FsErrorKind::NotARegularFile => Err(rejected(SidecarError::NotAFile)),
                FsErrorKind::TooLarge => Err(rejected(SidecarError::TooLarge)),
                _ => Err(EvidenceError::input(format!(
                    "cannot read {}: {error}",
                    folder.path().join(&sidecar).display()
                ))),
            };
        }
    };
    let claims = validate(&bytes, measured).map_err(rejected)?;
    versions.push((sidecar, version));
    Ok(Some(Provenance::validated(measured, claims)))
}
