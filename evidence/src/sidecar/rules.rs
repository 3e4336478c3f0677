//! What each field may say, and how the fields have to fit each other and the image.

use serde_json::{Map, Value};

use super::origin::origin;
use super::time::is_time;
use super::{Measured, SidecarError};

type Fields = Map<String, Value>;

/// The keys of a sidecar; each has to be there, and no other may be.
const KEYS: [&str; 14] = [
    "version",
    "image_sha256",
    "producer",
    "observed_at",
    "source_url",
    "final_url",
    "viewport",
    "pixels",
    "scale",
    "mode",
    "region",
    "readiness_warnings",
    "content_trust",
    "derived_from",
];
/// Largest width, height or place, in pixels.
const MAX_EXTENT: u64 = 1_000_000;
/// Largest number of device pixels for a CSS pixel.
const MAX_SCALE: f64 = 16.0;
const MAX_NAME: usize = 64;
const MAX_WARNINGS: usize = 7;
const WARNINGS: [&str; 7] =
    ["unknown", "fonts_pending", "images_pending", "animation_active", "timeout", "partial_capture", "occluded"];
/// How far a capture may be from viewport × scale, in pixels: browsers round.
const ROUNDING: f64 = 1.0;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Viewport,
    FullPage,
    Region,
    Crop,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Size {
    width: u64,
    height: u64,
}

/// Where a region begins; its size is the image's.
#[derive(Clone, Copy)]
struct Place {
    x: u64,
    y: u64,
}

/// Checks the fields, and reduces the addresses in them to origins.
pub(super) fn check(mut fields: Fields, measured: &Measured) -> Result<Fields, SidecarError> {
    if !has_exactly(&fields, &KEYS) {
        return Err(SidecarError::Invalid);
    }
    if fields["version"].as_u64() != Some(1) {
        return Err(SidecarError::Version);
    }
    let sound = fields["content_trust"] == "untrusted" && fields["image_sha256"].as_str().is_some_and(is_sha256);
    if !sound {
        return Err(SidecarError::Invalid);
    }
    if fields["image_sha256"] != measured.sha256.as_str() {
        return Err(SidecarError::Hash);
    }
    let image = Size { width: u64::from(measured.width), height: u64::from(measured.height) };
    if size(&fields["pixels"]).ok_or(SidecarError::Invalid)? != image {
        return Err(SidecarError::Dimensions);
    }
    check_capture(&fields, image).ok_or(SidecarError::Invalid)?;
    for key in ["source_url", "final_url"] {
        let reduced = or_null(&fields[key], |address| origin(address.as_str()?)).ok_or(SidecarError::Invalid)?;
        fields[key] = reduced.into();
    }
    Ok(fields)
}

/// How, when and with what it was captured.
fn check_capture(fields: &Fields, image: Size) -> Option<()> {
    let viewport = or_null(&fields["viewport"], size)?;
    let scale = fields["scale"].as_f64().filter(|scale| *scale > 0.0 && *scale <= MAX_SCALE)?;
    check_producer(&fields["producer"])?;
    or_null(&fields["observed_at"], |time| time.as_str().filter(|time| is_time(time)))?;
    check_warnings(&fields["readiness_warnings"])?;
    let mode = mode(&fields["mode"])?;
    let parent = or_null(&fields["derived_from"], parent)?;
    let region = or_null(&fields["region"], |region| place(region, image))?;

    let fits = match mode {
        Mode::Viewport => region.is_none() && viewport.is_some_and(|viewport| fills(viewport, scale, image)),
        Mode::FullPage | Mode::Unknown => true,
        Mode::Region | Mode::Crop => region.is_some(),
    };
    // A crop has a parent that it lies in, and nothing else has one.
    let descends = match (mode, parent, region) {
        (Mode::Crop, Some(parent), Some(Place { x, y })) => {
            x + image.width <= parent.width && y + image.height <= parent.height
        }
        (Mode::Crop, ..) => false,
        (_, parent, _) => parent.is_none(),
    };
    (fits && descends).then_some(())
}

fn check_producer(value: &Value) -> Option<()> {
    let producer = object(value, &["name", "version"])?;
    producer.values().all(|part| part.as_str().is_some_and(is_name)).then_some(())
}

fn check_warnings(value: &Value) -> Option<()> {
    let warnings = value.as_array().filter(|warnings| warnings.len() <= MAX_WARNINGS)?;
    warnings.iter().all(|warning| warning.as_str().is_some_and(|warning| WARNINGS.contains(&warning))).then_some(())
}

fn mode(value: &Value) -> Option<Mode> {
    Some(match value.as_str()? {
        "viewport" => Mode::Viewport,
        "full_page" => Mode::FullPage,
        "region" => Mode::Region,
        "crop" => Mode::Crop,
        "unknown" => Mode::Unknown,
        _ => return None,
    })
}

/// The size of the image that a crop was cut from.
fn parent(value: &Value) -> Option<Size> {
    let parent = object(value, &["sha256", "pixels"])?;
    parent["sha256"].as_str().filter(|sha256| is_sha256(sha256))?;
    size(&parent["pixels"])
}

fn size(value: &Value) -> Option<Size> {
    let size = object(value, &["width", "height"])?;
    let extent = |key: &str| size[key].as_u64().filter(|extent| (1..=MAX_EXTENT).contains(extent));
    Some(Size { width: extent("width")?, height: extent("height")? })
}

fn place(value: &Value, image: Size) -> Option<Place> {
    let region = object(value, &["x", "y", "width", "height"])?;
    let number = |key: &str| region[key].as_u64().filter(|number| *number <= MAX_EXTENT);
    let same_size = number("width")? == image.width && number("height")? == image.height;
    same_size.then_some(Place { x: number("x")?, y: number("y")? })
}

/// Whether the viewport, in CSS pixels, makes an image of this size.
fn fills(viewport: Size, scale: f64, image: Size) -> bool {
    // Exact: no extent has more than seven digits.
    let near = |css: u64, pixels: u64| (pixels as f64 - css as f64 * scale).abs() <= ROUNDING;
    near(viewport.width, image.width) && near(viewport.height, image.height)
}

/// What `read` makes of the value; nothing of a null. `None` where it is neither.
fn or_null<'a, T>(value: &'a Value, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<Option<T>> {
    if value.is_null() { Some(None) } else { read(value).map(Some) }
}

fn object<'a>(value: &'a Value, keys: &[&str]) -> Option<&'a Fields> {
    value.as_object().filter(|fields| has_exactly(fields, keys))
}

fn has_exactly(fields: &Fields, keys: &[&str]) -> bool {
    fields.len() == keys.len() && keys.iter().all(|key| fields.contains_key(*key))
}

fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name(text: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(may_stand)
}
