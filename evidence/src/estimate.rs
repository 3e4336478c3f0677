//! What reading an input would cost an agent.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::probe::{Image, Kind, Looked, Probe};
use crate::select::Skipped;
use crate::{EvidenceError, Options, Warning};

/// Tokens of an agent's own instructions around one read.
const OVERHEAD: u64 = 2000;
/// Tokens a written word takes.
const TOKENS_PER_WORD: f64 = 1.33;

/// What one driver counts for an image of a width, a height and so many bytes; `None` where it cannot say.
pub type NativeTokens<'a> = Box<dyn Fn(u32, u32, u64) -> Option<u64> + 'a>;

/// Prices and estimators of models.
#[derive(Clone, Debug, PartialEq)]
pub struct Pricing {
    active: String,
    models: BTreeMap<String, Model>,
    target_width: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Model {
    input: f64,
    output: f64,
    estimator: String,
}

impl Default for Pricing {
    /// Dollars for a million tokens, as listed by the vendor on 2026-09-08.
    fn default() -> Self {
        let model = |input, output| Model { input, output, estimator: "openai_patch32".to_owned() };
        let models =
            [("gpt-5.6-sol", model(4.0, 20.0)), ("gpt-5.6-terra", model(2.0, 12.0)), ("gpt-5.6-luna", model(0.2, 1.2))];
        Self {
            active: "gpt-5.6-terra".to_owned(),
            models: models.map(|(name, model)| (name.to_owned(), model)).into(),
            target_width: 512,
        }
    }
}

impl Pricing {
    /// Reads `{"model_per_mtok": {"_active": NAME, NAME: {"input", "output", "vision_estimator"}}, "frame": {"target_width"}}`.
    /// `None` where that is not what it is.
    pub fn from_json(table: &Value) -> Option<Self> {
        let listed = table.get("model_per_mtok")?.as_object()?;
        let mut models = BTreeMap::new();
        for (name, entry) in listed.iter().filter(|(name, _)| !name.starts_with('_')) {
            let price = |key: &str| entry.get(key)?.as_f64().filter(|price| price.is_finite() && *price >= 0.0);
            let estimator =
                entry.get("vision_estimator").and_then(Value::as_str).unwrap_or("openai_patch32").to_owned();
            models.insert(name.clone(), Model { input: price("input")?, output: price("output")?, estimator });
        }
        let active = listed.get("_active")?.as_str()?.to_owned();
        let width = table.pointer("/frame/target_width").map_or(Some(512), Value::as_u64)?;
        let target_width = Some(width).filter(|width| (1..=1_000_000).contains(width))?;
        Some(Self { active, models, target_width })
    }

    /// The model whose prices count unless another is named.
    #[must_use]
    pub fn active(&self) -> &str {
        &self.active
    }

    fn model(&self, name: Option<&str>) -> Result<(&str, &Model), EvidenceError> {
        let name = name.unwrap_or(&self.active);
        self.models.get_key_value(name).map(|(name, model)| (&**name, model)).ok_or_else(|| {
            let known = self.models.keys().cloned().collect::<Vec<_>>().join(", ");
            EvidenceError::input(format!("unknown agent model: {name}; known models: {known}"))
        })
    }
}

/// What is asked for besides the input.
#[derive(Default)]
#[non_exhaustive]
pub struct EstimateOptions<'a> {
    /// Words that the agent is to write.
    pub out_words: i64,
    /// The agent's model; the table's active one unless given.
    pub agent_model: Option<&'a str>,
    /// Prices; the built-in ones unless given.
    pub pricing: Pricing,
    /// Counters by driver profile.
    pub native: Vec<(String, NativeTokens<'a>)>,
}

impl fmt::Debug for EstimateOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let native: Vec<_> = self.native.iter().map(|(id, _)| id).collect();
        f.debug_struct("EstimateOptions")
            .field("out_words", &self.out_words)
            .field("agent_model", &self.agent_model)
            .field("pricing", &self.pricing)
            .field("native", &native)
            .finish()
    }
}

/// What reading an input would cost. It serialises as the result of `estimate`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// As in [`Probe`].
    pub input: String,
    /// Always `local`.
    pub source: &'static str,
    /// As in [`Probe`].
    pub kind: Kind,
    /// As in [`Probe`].
    pub item_count: usize,
    /// The images and what each would take.
    pub images: Vec<EstimatedImage>,
    /// As in [`Probe`].
    pub skipped: Vec<Skipped>,
    /// In all.
    pub tokens: Tokens,
    /// Tokens of all images by driver profile, each as the image would really be sent; null where one is not known.
    pub native_tokens: Map<String, Value>,
    /// In dollars.
    pub cost_usd: Cost,
    /// `images`, `overhead` or `output`: whichever costs most.
    pub dominant_cost: &'static str,
    /// No charge for the processing itself.
    pub free: bool,
    /// Nothing to install.
    pub needs_install: bool,
    /// Nothing leaves the machine.
    pub requires_cloud_approval: bool,
    /// Nothing to download.
    pub needs_model_download: bool,
    /// `{"status": "not_applicable", "model": null}`.
    pub model_download: Value,
    /// The model that prices are of.
    pub agent_model: String,
    /// How its image tokens are estimated.
    pub vision_estimator: String,
    /// What the dollars mean.
    pub cost_basis: &'static str,
    /// As in [`Probe`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// An image and what it would take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimatedImage {
    /// The image.
    #[serde(flatten)]
    pub image: Image,
    /// Tokens of a copy scaled to the table's target width.
    pub tokens: u64,
    /// Tokens by driver profile, as the image would really be sent.
    pub native_tokens: Map<String, Value>,
}

/// Tokens in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// Of the images.
    pub images: u64,
    /// Of the words to write.
    pub output: u64,
    /// Of the agent's instructions.
    pub overhead: u64,
    /// What is read: images and overhead.
    pub read_total: u64,
}

/// Dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// Always 0: there is no sound.
    pub transcription: f64,
    /// The agent's tokens.
    pub agent: f64,
    /// Both.
    pub total: f64,
}

/// Looks at `input` as [`probe`](crate::probe()) does, and says what reading it would cost.
///
/// # Errors
/// Those of a probe; more than 100 images; a negative number of words, before the input is opened; an unknown model.
pub fn estimate(input: &Path, asked: &EstimateOptions<'_>, options: &Options<'_>) -> Result<Estimate, EvidenceError> {
    let Ok(words) = u64::try_from(asked.out_words) else {
        return Err(EvidenceError::input("out_words cannot be negative"));
    };
    let probe = Looked::at(input, options)?.within_limit()?.probe;
    let (agent_model, model) = asked.pricing.model(asked.agent_model)?;
    price(probe, words, agent_model, model, asked)
}

fn price(
    probe: Probe,
    words: u64,
    agent_model: &str,
    model: &Model,
    asked: &EstimateOptions<'_>,
) -> Result<Estimate, EvidenceError> {
    let mut images = Vec::with_capacity(probe.images.len());
    for image in probe.images {
        let tokens = vision_tokens(&model.estimator, asked.pricing.target_width, image.width, image.height)?;
        let count = |(id, count): &(String, NativeTokens<'_>)| {
            (id.clone(), count(image.width, image.height, image.bytes).into())
        };
        let native_tokens = asked.native.iter().map(count).collect();
        images.push(EstimatedImage { image, tokens, native_tokens });
    }
    let in_all = |id: &String| {
        let counts = images.iter().map(|image| image.native_tokens.get(id).and_then(Value::as_u64));
        counts.sum::<Option<u64>>().into()
    };
    let native_tokens = asked.native.iter().map(|(id, _)| (id.clone(), in_all(id))).collect();
    let of_images = images.iter().map(|image| image.tokens).sum::<u64>();
    let output = (words as f64 * TOKENS_PER_WORD).round_ties_even() as u64;
    let tokens = Tokens { images: of_images, output, overhead: OVERHEAD, read_total: of_images + OVERHEAD };
    let dollars = |tokens: u64, price: f64| tokens as f64 * price;
    let agent = four_places((dollars(tokens.read_total, model.input) + dollars(output, model.output)) / 1e6);
    let parts = [
        ("images", dollars(of_images, model.input)),
        ("overhead", dollars(OVERHEAD, model.input)),
        ("output", dollars(output, model.output)),
    ];
    // The first of equals.
    let dominant = parts.iter().skip(1).fold(parts[0], |most, part| if part.1 > most.1 { *part } else { most });
    Ok(Estimate {
        input: probe.input,
        source: probe.source,
        kind: probe.kind,
        item_count: probe.item_count,
        images,
        skipped: probe.skipped,
        tokens,
        native_tokens,
        cost_usd: Cost { transcription: 0.0, agent, total: agent },
        dominant_cost: dominant.0,
        free: true,
        needs_install: false,
        requires_cloud_approval: false,
        needs_model_download: false,
        model_download: serde_json::json!({"status": "not_applicable", "model": null}),
        agent_model: agent_model.to_owned(),
        vision_estimator: model.estimator.clone(),
        cost_basis: if agent_model.starts_with("gpt-5.6-") {
            "API-equivalent estimate; a subscription may not be billed per token"
        } else {
            "API token estimate"
        },
        warnings: probe.warnings,
    })
}

/// Tokens of an image scaled to `width`, with the height that goes with it, made even.
fn vision_tokens(estimator: &str, width: u64, of_width: u32, of_height: u32) -> Result<u64, EvidenceError> {
    let height = if of_width == 0 || of_height == 0 {
        width * 9 / 16
    } else {
        (width as f64 * f64::from(of_height) / f64::from(of_width)).round_ties_even() as u64
    };
    let height = height + height % 2;
    match estimator {
        "openai_patch32" => Ok(width.div_ceil(32) * height.div_ceil(32)),
        "legacy_pixels_750" => Ok((width * height).div_ceil(750)),
        other => Err(EvidenceError::input(format!("unknown vision estimator: {other}"))),
    }
}

/// Rounds to four decimal places, judged by the decimal value.
fn four_places(dollars: f64) -> f64 {
    format!("{dollars:.4}").parse().unwrap_or(dollars)
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
