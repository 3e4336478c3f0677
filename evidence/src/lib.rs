//! One image, or one folder of images, as ordered, byte-exact evidence that an agent can cite, with the claims of its capture checked.
//!
//! ```
//! use std::path::Path;
//! use attache_evidence::{Options, RunOptions, probe, run, verify};
//!
//! # let place = tempfile::tempdir()?;
//! # let folder = place.path().join("slides");
//! # std::fs::create_dir(&folder)?;
//! # for name in ["slide10.png", "slide2.png"] {
//! #     std::fs::write(folder.join(name), attache_media::fixtures::png(4, 4, 1))?;
//! # }
//! let found = probe(&folder, &Options::default())?;
//! let names: Vec<_> = found.images.iter().map(|image| &*image.source_name).collect();
//! assert_eq!(names, ["slide2.png", "slide10.png"]);
//!
//! let mut asked = RunOptions::default();
//! asked.workdir = Some(place.path().join("bundle"));
//! let manifest = run(&folder, &asked, &Options::default()).map_err(|failure| failure.error)?;
//! assert_eq!(manifest.images[1].path, "images/002-slide10.png");
//! assert!(verify(&place.path().join("bundle"), &Options::default())?.ok);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every image is read once, through one descriptor that follows no link, decoded whole, and hashed: hash, dimensions and the
//! claims of a sidecar speak of the same bytes. No process is started and nothing is fetched. Whatever an image, a name or a
//! sidecar says stays untrusted.

mod error;
mod estimate;
mod gate;
mod image;
mod input;
mod manifest;
mod options;
mod order;
mod parallel;
mod place;
mod probe;
mod redact;
mod run;
mod select;
mod sidecar;
mod verify;
mod view;

pub use attache_media::DEFAULT_MAX_PIXELS;
pub use error::{ErrorKind, EvidenceError};
pub use estimate::{Cost, Estimate, EstimateOptions, EstimatedImage, NativeTokens, Pricing, Tokens, estimate};
pub use image::Warning;
pub use input::is_image_input;
pub use manifest::{Manifest, ManifestImage, Stage, Status};
pub use options::Options;
pub use order::{OrderKey, natural_cmp};
pub use probe::{Image, Kind, MAX_ITEMS, Probe, probe};
pub use redact::redact;
pub use run::{RunFailure, RunOptions, Viewed, run, run_with_view};
pub use select::Skipped;
pub use sidecar::{
    Claims, Measured, Provenance, SIDECAR_MAX_BYTES, SIDECAR_SUFFIX, SidecarError, validate as validate_sidecar,
};
pub use verify::{Bundle, Difference, Verified, verify};
pub use view::{Shrink, html_head, html_text};
