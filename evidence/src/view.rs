//! A page of a bundle for people: small pictures, what was measured, what is only claimed, what is missing.
//!
//! The page is made of the manifest and of the copies that it names, and of nothing else: no clock, no absolute path. It is no evidence
//! itself.

mod escape;
mod frame;
mod page;

use attache_media::{Dimensions, MediaType, dimensions, sniff};
use attache_workdir_fs::WorkDir;
use sha2::{Digest as _, Sha256};

use crate::EvidenceError;
use crate::image::Memory;
use crate::manifest::{Manifest, ManifestImage};
use crate::parallel::{cores, in_order};
use crate::verify::read_copy;

pub use escape::html_text;
pub use frame::html_head;

/// Makes a small picture of an image: from the bytes of a PNG, JPEG or WebP to those of another, or the reason why there is none, which
/// then stands in its place. It is called from several threads, and only with images that are within the budget of pixels.
pub type Shrink<'a> = &'a (dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Sync);

/// What the page shows of an image besides what the manifest says.
#[derive(Debug)]
struct Picture {
    /// What its bytes are.
    format: &'static str,
    small: Result<Small, String>,
}

#[derive(Debug)]
struct Small {
    bytes: Vec<u8>,
    media_type: MediaType,
    size: Dimensions,
}

/// The page of a bundle whose manifest reads `text`.
pub(crate) fn page(
    bundle: &WorkDir,
    manifest: &Manifest,
    text: &[u8],
    shrink: Shrink<'_>,
) -> Result<String, EvidenceError> {
    let memory = Memory::new();
    let pictures = in_order(manifest.images.len(), cores(), |at| {
        let image = &manifest.images[at];
        picture(bundle, image, &memory, shrink)
            .map_err(|problem| EvidenceError::input(format!("view failed: {}: {problem}", image.path)))
    });
    match pictures.failure {
        Some(error) => Err(error),
        None => Ok(page::page(manifest, &hex::encode(Sha256::digest(text)), &pictures.done)),
    }
}

fn picture(bundle: &WorkDir, image: &ManifestImage, memory: &Memory, shrink: Shrink<'_>) -> Result<Picture, String> {
    // The bytes are those that were measured, so that their pixels are within the budget.
    let bytes = read_copy(bundle, image, Some(memory))?;
    let format = sniff(&bytes).map_or("unknown", name);
    let _held = memory.for_picture(u64::from(image.width) * u64::from(image.height));
    let small = shrink(&bytes).and_then(|bytes| {
        let media_type = sniff(&bytes).ok_or("the small picture is no image")?;
        let size = dimensions(&bytes, media_type).map_err(|error| error.to_string())?;
        Ok(Small { bytes, media_type, size })
    });
    Ok(Picture { format, small })
}

fn name(media_type: MediaType) -> &'static str {
    match media_type {
        MediaType::Png => "PNG",
        MediaType::Jpeg => "JPEG",
        MediaType::Gif => "GIF",
        MediaType::Webp => "WebP",
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
