//! `read_image`: an image file, for the model to see from the next request on.
//!
//! The gates in order; the first that fails is the error, and a failed call leaves no blob and no block.
//!
//! | gate | what it touches |
//! |---|---|
//! | 1. there is a path | nothing |
//! | 2. it ends like one of an image | nothing |
//! | 3. a blob store is mounted | nothing |
//! | 4. the host takes the type | nothing |
//! | 5. the model is known, and declares that it takes images | nothing |
//! | 6. a regular file is there | one stat |
//! | 7. it is not too large | content |
//! | 8. the bytes are a sound image of that type, and durably stored | blob |
//! | 9. it counts as seen | nothing |

use std::path::Path;
use std::sync::Arc;

use attache_blobstore::BlobStore;
use attache_conversation::{OnMismatch, Refusal, RefusalCode, blocking, record_block};
use attache_media::{Dimensions, MediaType, dimensions};
use attache_workdir_fs::Target;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::accepted::{Taken, TraceEntry};
use crate::check::Sound;
use crate::driver::{Modality, ModelInfo};
use crate::keep::{self, Kept};
use crate::settings::Settings;
use crate::tool::{ReadyImage, ToolOutput};
use crate::tools::error::{ToolError, shown};
use crate::tools::{Env, Observation, args, image_text, read};

/// The extensions that are taken, and what they declare.
const EXTENSIONS: [(&str, MediaType); 5] = [
    ("png", MediaType::Png),
    ("jpg", MediaType::Jpeg),
    ("jpeg", MediaType::Jpeg),
    ("webp", MediaType::Webp),
    ("gif", MediaType::Gif),
];

/// What a path declares by its extension.
#[derive(Clone, Copy, Debug)]
struct Declared {
    extension: &'static str,
    media_type: MediaType,
}

/// Runs a call. `store` is what is mounted.
pub(crate) async fn call(
    env: &Env<'_>,
    store: Option<Arc<dyn BlobStore>>,
    input: &Value,
) -> Result<ToolOutput, ToolError> {
    let (path, declared, store) = gates(env, store, input)?;
    let target = env.files.resolve(path, env.cwd).await?;
    let version = read::stat(env, &target).await?.version;
    let settings = &env.options.settings;
    let max_bytes = settings.limits.max_bytes().min(env.options.max_message_bytes);
    let bytes = env.files.read_bytes(&target, max_bytes, env.cancel).await?;
    let (sound, size) = check(settings, &target, declared, bytes).await?;
    let kept = store_durably(store.as_ref(), &target, sound).await?;
    env.observe(&target, Observation::Picture { version });
    Ok(output(&target, &kept, size))
}

/// The gates before any file is touched.
fn gates<'a>(
    env: &Env<'_>,
    store: Option<Arc<dyn BlobStore>>,
    input: &'a Value,
) -> Result<(&'a str, Declared, Arc<dyn BlobStore>), ToolError> {
    let path = args::path(input)?;
    let refused = |code, why: &str| ToolError::new(code, format!("cannot read \"{}\"{why}", shown(path)));
    let declared = declared(path)
        .ok_or_else(|| refused(ToolError::EXTENSION, ": read_image only accepts PNG/JPEG/WebP/GIF paths"))?;
    let store = store.ok_or_else(|| refused(ToolError::NO_STORE, " as an image: no attachment service is mounted"))?;
    let media_type = declared.media_type;
    if !env.options.media_types.contains(&media_type) {
        let why = format!(": {media_type} images are not accepted by this deployment");
        return Err(refused(ToolError::TYPE, &why));
    }
    let model = match env.session {
        Some(session) => session.model(env.options.model.as_ref()),
        None => env.options.model.clone(),
    };
    let Some(model) = model else {
        let why = " as an image: the current model route could not be resolved";
        return Err(refused(ToolError::MODEL_UNRESOLVED, why));
    };
    if !declares_images(&model) {
        let why = format!(
            " as an image: model \"{}\" does not declare image input; switch to an image-capable model to read images",
            shown(&model.id)
        );
        return Err(refused(ToolError::MODEL_TAKES_NO_IMAGES, &why));
    }
    Ok((path, declared, store))
}

fn declared(path: &str) -> Option<Declared> {
    let found = Path::new(path).extension()?.to_str()?;
    let (extension, media_type) = EXTENSIONS.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(found))?;
    Some(Declared { extension, media_type })
}

/// Stricter than what is asked before a request: a picture that no model sees should not be read at all.
fn declares_images(model: &ModelInfo) -> bool {
    model.input_modalities.as_ref().is_some_and(|modalities| modalities.contains(&Modality::Image))
}

/// Off the async threads: a deep check decodes the image.
async fn check(
    settings: &Settings,
    target: &Target,
    declared: Declared,
    bytes: Vec<u8>,
) -> Result<(Sound, Dimensions), ToolError> {
    let mut intake = settings.intake();
    intake.on_mismatch = OnMismatch::Refuse;
    // The file system has applied the limit.
    intake.max_bytes = u64::MAX;
    let checked = blocking(move || {
        let checked = intake.check(&bytes, Some(declared.media_type))?;
        let size = dimensions(&bytes, checked.media_type)?;
        Ok((Sound { checked, bytes: Bytes::from(bytes) }, size))
    })
    .await;
    checked.map_err(|refusal: Refusal| match refusal.code {
        RefusalCode::ContentMismatch => mismatch(target, declared),
        _ => ToolError::refused(target, &refusal),
    })
}

fn mismatch(target: &Target, Declared { extension, media_type }: Declared) -> ToolError {
    let message = format!(
        "cannot read \"{target}\": the {extension} extension declares {media_type}, but the bytes use a different image \
         format; rename the file to match its actual format if it is PNG/JPEG/WebP/GIF, or convert it to one of those formats"
    );
    ToolError::new(RefusalCode::ContentMismatch.as_str(), message)
}

async fn store_durably(store: &dyn BlobStore, target: &Target, sound: Sound) -> Result<Kept, ToolError> {
    let mut outcome = [keep::stage(store, sound).await];
    keep::sync(store, &mut outcome).await;
    let [outcome] = outcome;
    outcome.map_err(|refusal| ToolError::refused(target, &refusal))
}

fn output(target: &Target, kept: &Kept, size: Dimensions) -> ToolOutput {
    let Kept { checked, stored } = kept;
    let media_type = checked.media_type;
    let taken = Taken { id: stored.id, checked: *checked, bytes: stored.len };
    TraceEntry::new(target.display(), Some(media_type.as_str()), &Ok(taken));
    let path = target.display();
    let name = path.rsplit('/').next().unwrap_or(path);
    let structured = json!({
        "path": path,
        "image": {
            "sha256": stored.id.to_string(),
            "mediaType": media_type.as_str(),
            "bytes": stored.len,
            "width": size.width,
            "height": size.height,
            "name": name,
        },
    });
    let block = record_block(stored.id, media_type, stored.len);
    ToolOutput::text(image_text::envelope(target, media_type, size, stored.len, None))
        .with_image(ReadyImage::new(block, stored.lease.clone()))
        .with_structured(structured)
}

#[cfg(test)]
#[path = "image_tests.rs"]
mod tests;
