//! A walk over JSON of no known shape that takes the images out of it.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::protocol::payload::{Kind, is_base64, is_image, is_image_label, is_image_url, no_base64};
use crate::protocol::plan::{Plan, Slot};
use crate::protocol::text::{DataUrls, tidy};

/// Deeper than any JSON text that is read here can be; a value may come from elsewhere.
const DEEPEST: usize = 128;

/// What stands where an image was that is one too many.
const ONE_TOO_MANY: &str = "[image not attached: turn_limit]";

/// JSON without its images.
#[derive(Debug)]
pub(super) struct Lifted {
    pub(super) at: String,
    pub(super) value: Value,
    /// Its images, in order.
    pub(super) places: Vec<Place>,
    /// How many characters of base64 were left out.
    pub(super) left_out: usize,
}

/// An image that was found.
#[derive(Debug)]
pub(super) struct Place {
    /// Index into the plan's slots.
    pub(super) slot: usize,
    /// JSON pointer to where it stood, and `null` stands now; none if what stands there is no image and stays.
    pub(super) pointer: Option<String>,
}

/// Takes the images out, each into a slot of the plan that is not an item of its own. Two kinds of string are images:
/// a data URL or bare base64 whose bytes are an image, and whatever stands in the data field of an object that says it
/// is one. In no order but that of the value, and each once.
pub(super) fn lift(plan: &mut Plan<'_>, at: &str, value: Value) -> Lifted {
    let mut walk = Walk { plan, at, pointer: String::new(), depth: 0, places: Vec::new(), left_out: 0 };
    let value = walk.value(value, Role::Other);
    let Walk { places, left_out, .. } = walk;
    Lifted { at: at.to_owned(), value, places, left_out }
}

struct Walk<'w, 'a> {
    plan: &'w mut Plan<'a>,
    at: &'w str,
    /// As JSON pointers are written.
    pointer: String,
    depth: usize,
    places: Vec<Place>,
    left_out: usize,
}

/// What the object around a value says that it is.
#[derive(Clone, Debug, PartialEq)]
enum Role {
    /// The data of an image, of the type that is named, if any.
    Image(String),
    Other,
}

impl Walk<'_, '_> {
    fn value(&mut self, value: Value, role: Role) -> Value {
        match value {
            Value::String(text) => self.string(text, role),
            Value::Array(_) | Value::Object(_) if self.depth == DEEPEST => {
                Value::String("[left out: nested too deep]".to_owned())
            }
            Value::Array(values) => {
                let values = values.into_iter().enumerate();
                Value::Array(values.map(|(n, value)| self.inner(&n.to_string(), value, Role::Other)).collect())
            }
            Value::Object(fields) => {
                let claim = Claim::of(&fields);
                let fields = fields.into_iter().map(|(key, value)| {
                    let role = claim.role(&key);
                    let value = self.inner(&key, value, role);
                    (key, value)
                });
                Value::Object(fields.collect())
            }
            other => other,
        }
    }

    fn inner(&mut self, key: &str, value: Value, role: Role) -> Value {
        let len = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
        self.depth += 1;
        let value = self.value(value, role);
        self.depth -= 1;
        self.pointer.truncate(len);
        value
    }

    fn string(&mut self, text: String, role: Role) -> Value {
        let label = match role {
            Role::Image(label) => label,
            Role::Other if is_image_url(&text) || is_image(&text) => String::new(),
            Role::Other => {
                let tidied = tidy(&text, DataUrls::Go);
                self.left_out += tidied.left_out;
                return match tidied.text {
                    Cow::Borrowed(_) => Value::String(text),
                    Cow::Owned(tidied) => Value::String(tidied),
                };
            }
        };
        let name = format!("{}{}", self.at, self.pointer);
        // What is called an image and cannot be one may be worth reading: a link, or the name of another kind of image.
        let stays = cannot_be_data(&text).then(|| Value::String(text.clone()));
        let data = if stays.is_some() { Err(no_base64(&text)) } else { Ok(Cow::Owned(text)) };
        match self.plan.reserve(Slot { name, label, kind: Kind::Image, data }) {
            None => stays.unwrap_or_else(|| Value::String(ONE_TOO_MANY.to_owned())),
            Some(slot) => {
                let pointer = stays.is_none().then(|| self.pointer.clone());
                self.places.push(Place { slot, pointer });
                stays.unwrap_or_default()
            }
        }
    }
}

fn cannot_be_data(text: &str) -> bool {
    const SHORT: usize = 1024;

    text.len() <= SHORT && !is_image_url(text) && !text.trim().is_empty() && !text.bytes().all(is_base64)
}

/// What an object says of itself.
struct Claim {
    is_image: bool,
    label: String,
}

/// The keys by which protocols and services name a media type.
pub(super) const TYPE_KEYS: [&str; 6] =
    ["mimeType", "mime_type", "mediaType", "media_type", "contentType", "content_type"];

/// The keys under which they put base64.
const DATA_KEYS: [&str; 10] =
    ["data", "blob", "bytes", "raw", "base64", "b64", "b64_json", "image", "image_data", "imageData"];

impl Claim {
    fn of(fields: &Map<String, Value>) -> Self {
        let text = |key: &str| fields.get(key).and_then(Value::as_str);
        let label = TYPE_KEYS.iter().find_map(|key| text(key)).unwrap_or_default();
        let kind = text("type").or_else(|| text("kind")).unwrap_or_default();
        Self { is_image: is_image_label(label) || is_image_kind(kind), label: label.to_owned() }
    }

    fn role(&self, key: &str) -> Role {
        if self.is_image && DATA_KEYS.contains(&key) { Role::Image(self.label.clone()) } else { Role::Other }
    }
}

/// Does a block's own `type` say that it is an image?
pub(super) fn is_image_kind(kind: &str) -> bool {
    ["image", "input_image", "output_image", "image_url", "image_base64", "image_file"].contains(&kind)
}

/// Is there anything in a block beside its images that a model could want to read?
pub(super) fn says_more(lifted: &Lifted) -> bool {
    // Keys that only say how the image is written down.
    const WRAPPING: [&str; 9] =
        ["type", "kind", "format", "encoding", "detail", "modality", "resolution", "cache_control", "id"];

    fn more(value: &Value) -> bool {
        match value {
            Value::Null => false,
            Value::Array(values) => values.iter().any(more),
            Value::Object(fields) => fields.iter().any(|(key, value)| {
                let wraps = WRAPPING.contains(&key.as_str()) || TYPE_KEYS.contains(&key.as_str());
                !wraps && more(value)
            }),
            Value::String(text) => !text.is_empty(),
            _ => true,
        }
    }
    lifted.left_out > 0 || more(&lifted.value)
}
