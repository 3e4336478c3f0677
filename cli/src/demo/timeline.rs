//! What the model was shown, request by request, read off the requests themselves.

use std::fmt::Write as _;

use attache_runtime::BlobId;
use attache_runtime::conversation::{blocks, decode_base64};
use serde_json::{Value, json};

use crate::demo::scene::Scene;

/// How a refusal note begins.
const REFUSAL: &str = "attachment '";

/// One line of images per request.
#[derive(Debug)]
pub(crate) struct Timeline {
    moments: Vec<Moment>,
}

/// One request to the model.
#[derive(Debug, Default)]
struct Moment {
    /// What the model asked for right before.
    asked: String,
    /// Refusals that came in since the request before.
    refused: Vec<String>,
    /// The numbers in the pictures that were sent as bytes.
    shown: Vec<u32>,
    /// The numbers of those that were sent as a line.
    lines: Vec<u32>,
}

impl Timeline {
    pub(crate) fn of(requests: &[Vec<Value>], scene: &Scene) -> Self {
        let mut seen = 0;
        let moments = requests.iter().map(|messages| {
            let moment = Moment::of(messages, seen.min(messages.len()), scene);
            seen = messages.len();
            moment
        });
        Self { moments: moments.collect() }
    }

    pub(crate) fn document(&self) -> Value {
        let entry = |(n, moment): (usize, &Moment)| json!({"request": n, "shown": moment.shown, "lines": moment.lines, "refused": moment.refused});
        (1..).zip(&self.moments).map(entry).collect()
    }

    pub(crate) fn text(&self, scene: &Scene) -> String {
        let mut text =
            format!("The work folder is {}. Its pictures, by the number drawn in them:\n", scene.dir().display());
        let mut pictures: Vec<_> = scene.pictures().collect();
        pictures.sort_by_key(|picture| picture.number);
        for picture in pictures {
            let _ = writeln!(text, "  #{:<3} {:<14} {:>7} bytes", picture.number, picture.path, picture.bytes);
        }
        for (n, moment) in (1..).zip(&self.moments) {
            moment.write(n, &mut text);
        }
        text
    }
}

impl Moment {
    fn of(messages: &[Value], new_from: usize, scene: &Scene) -> Self {
        let mut moment = Self::default();
        for (at, message) in messages.iter().enumerate() {
            for block in blocks(message) {
                moment.see(message, block, at >= new_from, scene);
            }
        }
        moment
    }

    fn see(&mut self, message: &Value, block: &Value, is_new: bool, scene: &Scene) {
        let text = block["text"].as_str().unwrap_or_default();
        if let Some(data) = block["source"]["data"].as_str() {
            let bytes = decode_base64(data, u64::MAX).unwrap_or_default();
            self.shown.extend(scene.picture(BlobId::of(&bytes)).map(|picture| picture.number));
        } else if text.starts_with("[image not shown") {
            self.lines.extend(sha256_in(text).and_then(|id| scene.picture(id)).map(|picture| picture.number));
        } else if is_new && message["role"] == "assistant" && !text.is_empty() {
            text.clone_into(&mut self.asked);
        } else if is_new && message["role"] == "tool" {
            self.refused.extend(text.lines().filter(|line| line.starts_with(REFUSAL)).map(str::to_owned));
        }
    }

    fn write(&self, n: usize, text: &mut String) {
        let _ = writeln!(text, "\nRequest {n}{}{}", if n == 1 { "" } else { ", after: " }, self.asked);
        for note in &self.refused {
            let _ = writeln!(text, "  refused     {note}");
        }
        let _ = writeln!(text, "  shown       {}", numbers(&self.shown));
        if !self.lines.is_empty() {
            let _ = writeln!(text, "  as a line   {} (older than the newest 5)", numbers(&self.lines));
        }
    }
}

fn numbers(numbers: &[u32]) -> String {
    if numbers.is_empty() {
        return "nothing yet".to_owned();
    }
    numbers.iter().map(|number| format!("#{number}")).collect::<Vec<_>>().join(" ")
}

fn sha256_in(line: &str) -> Option<BlobId> {
    let (_, rest) = line.split_once("sha256 ")?;
    BlobId::parse(rest.get(..64)?)
}
