//! Writing a bundle: copies, then the manifest, then the pointer to it.
//!
//! ```text
//! WORKDIR/
//!   images/001-slide1.png …    durable and checked before the manifest names them
//!   manifest.json              published whole, and never in place of another
//!   .agent/latest-read.json    the manifest's hash, only where it is complete
//!   view.html                  last and only where it is asked for: the same for people
//! ```

mod copy;

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::image::Warning;
use crate::manifest::{AGENT, MANIFEST, Manifest, ManifestImage, POINTER, Stage, Status, VIEW, content_trust, to_text};
use crate::parallel::{cores, in_order};
use crate::place::Place;
use crate::probe::Looked;
use crate::view::{self, Shrink};
use crate::{ErrorKind, EvidenceError, Options};

use copy::Copier;
pub(crate) use copy::copy_name;

/// What is asked for besides the input.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RunOptions {
    /// Where the bundle goes: a folder that is empty or not there yet. A new temporary one unless given.
    pub workdir: Option<PathBuf>,
    /// Leave out absolute paths and the time, so that equal inputs give equal bundles.
    pub reproducible: bool,
}

/// A run that did not get to its end.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunFailure {
    /// Why.
    pub error: EvidenceError,
    /// Where.
    pub failed_stage: Stage,
    /// What was done before.
    pub stages_completed: Vec<Stage>,
    /// Whether there is a `manifest.json`, complete or partial.
    pub manifest_written: bool,
    /// What can be used of it.
    pub data: Option<Manifest>,
    /// The page of what can be used, where one was asked for and made.
    pub view: Option<PathBuf>,
    /// What a reader should know.
    pub warnings: Vec<Warning>,
}

/// A bundle that has a page.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Viewed {
    /// What the bundle holds.
    pub manifest: Manifest,
    /// The page, `view.html` beside the manifest.
    pub view: PathBuf,
}

/// Looks at `input` as [`probe`](crate::probe()) does and makes a bundle of it.
///
/// Nothing is made before the whole input has been accepted. Every copy is hashed and measured again after it was written, and is
/// on disk before the manifest names it.
///
/// # Errors
/// [`RunFailure`] says at which stage it ended and what can be used. The originals are never touched.
pub fn run(input: &Path, asked: &RunOptions, options: &Options<'_>) -> Result<Manifest, Box<RunFailure>> {
    run_with(input, asked, options, None, &|_| Ok(())).map(|(manifest, _)| manifest)
}

/// Does what [`run()`] does, then makes a page of the bundle for people: one HTML file that holds small pictures of the images and says
/// what was measured, what is only claimed and what is missing. It runs no script, loads nothing and names no absolute path.
///
/// A partial bundle gets one too, which says that it is partial. The page is no part of the evidence.
///
/// # Errors
/// Those of [`run()`]. If only the page fails, the stage is [`Stage::View`] and the bundle is complete.
pub fn run_with_view(
    input: &Path,
    asked: &RunOptions,
    options: &Options<'_>,
    shrink: Shrink<'_>,
) -> Result<Viewed, Box<RunFailure>> {
    let (manifest, view) = run_with(input, asked, options, Some(shrink), &|_| Ok(()))?;
    Ok(Viewed { manifest, view: view.expect("one was asked for, and its failure is an error") })
}

/// A point at which tests let something go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Before the image of this number is copied.
    Copy(usize),
    /// Before its copy is checked.
    Check(usize),
    /// Before the manifest is written.
    Manifest,
    /// Before a partial manifest is written.
    PartialManifest,
    /// Before the pointer is written.
    Recovery,
    /// Before the page is written.
    View,
}

pub(crate) type Fault<'a> = &'a (dyn Fn(Step) -> std::io::Result<()> + Sync);

pub(crate) fn run_with(
    input: &Path,
    asked: &RunOptions,
    options: &Options<'_>,
    shrink: Option<Shrink<'_>>,
    fault: Fault<'_>,
) -> Result<(Manifest, Option<PathBuf>), Box<RunFailure>> {
    let looked = Looked::at(input, options).map_err(|error| bare(Stage::Probe, error))?;
    let looked = looked.within_limit().map_err(|error| bare(Stage::Validate, error))?;
    if asked.reproducible && asked.workdir.is_none() {
        let text = "a reproducible bundle does not say where it is: name its workdir";
        return Err(bare(Stage::Workdir, EvidenceError::input(text)));
    }
    let place = Place::make(asked.workdir.as_deref()).map_err(|error| bare(Stage::Workdir, error))?;
    Writer { looked, place, reproducible: asked.reproducible, shrink, fault }.write()
}

/// A failure that leaves nothing to use.
fn bare(stage: Stage, error: EvidenceError) -> Box<RunFailure> {
    Box::new(RunFailure {
        error,
        failed_stage: stage,
        stages_completed: stage.before(),
        manifest_written: false,
        data: None,
        view: None,
        warnings: Vec::new(),
    })
}

struct Writer<'a> {
    looked: Looked,
    place: Place,
    reproducible: bool,
    shrink: Option<Shrink<'a>>,
    fault: Fault<'a>,
}

impl Writer<'_> {
    fn write(&self) -> Result<(Manifest, Option<PathBuf>), Box<RunFailure>> {
        let (images, failure) = self.copy();
        if let Some(error) = failure {
            return Err(self.partial(Stage::Copy, images, error));
        }
        let manifest = self.manifest(Status::Complete, Stage::Recovery.before(), images);
        let text = match self.publish(Step::Manifest, &manifest) {
            Ok(text) => text,
            Err(error) => return Err(self.partial(Stage::Manifest, manifest.images, error)),
        };
        if let Err(cause) = self.point(&manifest, &text) {
            let message = format!("recovery pointer failed: {}", crate::input::words(&cause));
            let mut failure = bare(Stage::Recovery, EvidenceError::new(ErrorKind::Unexpected, message));
            failure.manifest_written = true;
            failure.warnings = [manifest.warnings.clone(), vec![incomplete(Stage::Recovery)]].concat();
            failure.data = Some(manifest);
            return Err(failure);
        }
        match self.view(&manifest, &text) {
            Ok(view) => Ok((manifest, view)),
            Err(error) => {
                let mut failure = bare(Stage::View, error);
                failure.manifest_written = true;
                failure.warnings = manifest.warnings.clone();
                failure.data = Some(manifest);
                Err(failure)
            }
        }
    }

    /// The page, if it is asked for.
    fn view(&self, manifest: &Manifest, text: &[u8]) -> Result<Option<PathBuf>, EvidenceError> {
        let Some(shrink) = self.shrink else { return Ok(None) };
        let failed = |cause: std::io::Error| {
            EvidenceError::operation(format!("view write failed: {}", crate::input::words(&cause)))
        };
        let page = view::page(&self.place.reader().map_err(failed)?, manifest, text, shrink)?;
        (self.fault)(Step::View).and_then(|()| self.place.publish(VIEW, page.as_bytes())).map_err(failed)?;
        Ok(Some(self.place.path.join(VIEW)))
    }

    /// The images that are in the bundle, up to the first that failed.
    fn copy(&self) -> (Vec<ManifestImage>, Option<EvidenceError>) {
        let copier = match Copier::new(&self.looked.folder, &self.place, self.fault) {
            Ok(copier) => copier,
            Err(cause) => return (Vec::new(), Some(copy::failed("images", &cause))),
        };
        let seen = &self.looked.seen;
        let outcome = in_order(seen.len(), cores(), |at| copier.copy(at + 1, &seen[at]));
        if outcome.failure.is_some() {
            // Later images may have been copied before this one failed. The one that failed stays, to be looked at.
            copier.remove_from(outcome.done.len() + 2, seen);
        }
        let mut images = outcome.done;
        let mut failure = outcome.failure;
        if let Err(cause) = copier.sync() {
            images.clear();
            failure = failure.or_else(|| Some(copy::failed("images", &cause)));
        }
        if !self.reproducible {
            for image in &mut images {
                image.file = Some(self.place.path.join(&image.path).to_string_lossy().into_owned());
            }
        }
        (images, failure)
    }

    fn manifest(&self, status: Status, stages_completed: Vec<Stage>, images: Vec<ManifestImage>) -> Manifest {
        let probe = &self.looked.probe;
        let path = |text: String| (!self.reproducible).then_some(text);
        Manifest {
            workdir: path(self.place.path.to_string_lossy().into_owned()),
            kind: probe.kind,
            source: probe.source.to_owned(),
            input: path(probe.input.clone()),
            item_count: images.len(),
            images,
            skipped: probe.skipped.clone(),
            content_trust: content_trust(),
            status,
            stages_completed,
            warnings: probe.warnings.clone(),
            failed_stage: None,
        }
    }

    /// What is left when a stage failed: the images that are whole, listed in a manifest that says that they are not all.
    fn partial(&self, stage: Stage, images: Vec<ManifestImage>, error: EvidenceError) -> Box<RunFailure> {
        let mut failure = bare(stage, error);
        if images.is_empty() {
            return failure;
        }
        let mut manifest = self.manifest(Status::Partial, stage.before(), images);
        manifest.failed_stage = Some(stage);
        manifest.warnings.push(incomplete(stage));
        match self.publish(Step::PartialManifest, &manifest) {
            Ok(text) => {
                failure.manifest_written = true;
                match self.view(&manifest, &text) {
                    Ok(view) => failure.view = view,
                    // What ended the read matters more.
                    Err(error) => manifest.warnings.push(Warning::new("view_unavailable", error.to_string())),
                }
            }
            Err(error) => manifest.warnings.push(Warning::new("partial_manifest_unavailable", error.to_string())),
        }
        failure.warnings = manifest.warnings.clone();
        failure.data = Some(manifest);
        failure
    }

    fn publish(&self, step: Step, manifest: &Manifest) -> Result<Vec<u8>, EvidenceError> {
        let failed = |cause: std::io::Error| {
            EvidenceError::operation(format!("manifest write failed: {}", crate::input::words(&cause)))
        };
        let text = to_text(manifest).map_err(|error| failed(error.into()))?;
        (self.fault)(step).and_then(|()| self.place.publish(MANIFEST, &text)).map_err(failed)?;
        Ok(text)
    }

    fn point(&self, manifest: &Manifest, text: &[u8]) -> std::io::Result<()> {
        (self.fault)(Step::Recovery)?;
        let mut evidence: Vec<&str> = manifest.images.iter().map(|image| &*image.path).collect();
        evidence.sort_unstable();
        let mut pointer = json!({
            "schema_version": 1,
            "status": "success",
            "manifest": MANIFEST,
            "manifest_sha256": hex::encode(Sha256::digest(text)),
            "evidence": evidence,
        });
        if !self.reproducible {
            pointer["completed_at"] = utc(SystemTime::now()).into();
        }
        let agent = self.place.make_folder(AGENT)?;
        agent.publish(POINTER, &to_text(&pointer)?)
    }
}

fn incomplete(stage: Stage) -> Warning {
    let stage =
        serde_json::to_value(stage).ok().and_then(|stage| stage.as_str().map(str::to_owned)).unwrap_or_default();
    Warning::new(
        "read_incomplete",
        format!("the read ended at the stage {stage}; only what the manifest lists is evidence"),
    )
}

/// `YYYY-MM-DDTHH:MM:SSZ`.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March, so that a leap day is a year's last; 719 468 days lie between March of year 0 and 1970.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
