//! An image of a conversation on its page.

use attache_runtime::blobstore::blocking;
use attache_runtime::conversation::{
    FileBlock, ImageInfo, ImageState, aged_line, file_block, unavailable_line, withheld_line,
};
use attache_runtime::media::{DEFAULT_MAX_PIXELS, Dimensions, MediaType, dimensions, sniff};
use attache_runtime::{BlobErrorKind, BlobId, BlobStore};
use base64_simd::STANDARD;
use image::Limits;
use serde_json::Value;

use super::message::text;
use crate::thumbnail::shrink_within;

/// The image with what is known of it. A picture that cannot be made costs nothing but itself: the reason stands in its place.
pub(super) async fn figure(store: &dyn BlobStore, image: &ImageInfo, block: &Value, keep: usize) -> String {
    let ImageInfo { index, sha256, media_type, bytes, state, reason, .. } = image;
    let number = index + 1;
    let picture = match state {
        // It may be what somebody wanted gone.
        ImageState::Withheld => "<p class=\"none\">Withheld: the picture is not shown here either.</p>".to_owned(),
        _ => match thumbnail(store, sha256, *bytes).await {
            Ok(Small { bytes, media_type, size }) => format!(
                "<img src=\"data:{media_type};base64,{}\" width=\"{}\" height=\"{}\" alt=\"Thumbnail of image {number}\">",
                STANDARD.encode_to_string(&bytes),
                size.width,
                size.height
            ),
            Err(problem) => format!("<p class=\"none\">No picture: {}</p>", text(&problem)),
        },
    };
    let line = match (state, file_block(block)) {
        (ImageState::Shown, _) => None,
        (ImageState::Aged, _) => Some(aged_line(media_type, *bytes, sha256, keep)),
        (ImageState::Withheld, _) => {
            Some(withheld_line(media_type, *bytes, sha256, reason.as_deref().unwrap_or_default()))
        }
        (_, Some(FileBlock::Malformed { bytes, .. })) => Some(unavailable_line(media_type, &bytes, sha256)),
        _ => Some(unavailable_line(media_type, &bytes.to_string(), sha256)),
    };
    let line = line.map_or_else(String::new, |line| {
        format!("<p class=\"instead\">The model is shown instead: <code class=\"line\">{}</code></p>\n", text(&line))
    });
    let state = state.as_str();
    format!(
        "<figure class=\"image {state}\" id=\"image-{number}\">\n<div class=\"picture\">{picture}</div>\n<figcaption>\n<p><strong>Image \
         {number}</strong> <span class=\"state\">{state}</span></p>\n<p class=\"what\">{} · {bytes} bytes · sha256 {}</p>\n{line}</figcaption>\n\
         </figure>\n",
        text(media_type),
        short(sha256)
    )
}

/// The beginning of a sha256, with all of it at hand; of what is none, whatever stands there.
fn short(sha256: &str) -> String {
    match BlobId::parse(sha256) {
        Some(id) => {
            let full = id.to_string();
            format!("<code title=\"{full}\">{}…</code>", &full[..12])
        }
        None => format!("<code>{}</code>", text(&attache_runtime::conversation::clean(sha256))),
    }
}

struct Small {
    bytes: Vec<u8>,
    media_type: MediaType,
    size: Dimensions,
}

async fn thumbnail(store: &dyn BlobStore, sha256: &str, len: u64) -> Result<Small, String> {
    let id = BlobId::parse(sha256).ok_or("the record names no image")?;
    let bytes = store.get(id, Some(len)).await.map_err(|error| match error.kind() {
        BlobErrorKind::Missing => "the stored image is missing".to_owned(),
        _ => "the stored image is damaged or cannot be read".to_owned(),
    })?;
    blocking(move || shrink(&bytes)).await
}

fn shrink(bytes: &[u8]) -> Result<Small, String> {
    let found = sniff(bytes).ok_or("the stored bytes are no image")?;
    let claimed = dimensions(bytes, found).map_err(|error| error.to_string())?;
    if claimed.pixels() > DEFAULT_MAX_PIXELS {
        return Err(format!("it has {} pixels, more than {DEFAULT_MAX_PIXELS}", claimed.pixels()));
    }
    // A frame may claim more than its canvas, so that the decoder's memory is limited too: to half a gigabyte.
    let bytes = shrink_within(bytes, Limits::default())?;
    let media_type = sniff(&bytes).ok_or("the small picture is no image")?;
    let size = dimensions(&bytes, media_type).map_err(|error| error.to_string())?;
    Ok(Small { bytes, media_type, size })
}
