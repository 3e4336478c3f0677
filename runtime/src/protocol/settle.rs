//! From a plan to what is taken: images are decoded, checked and stored, and every part gets its place.

use std::collections::HashMap;

use attache_blobstore::{BlobId, BlobStore};
use attache_conversation::{Refusal, attached_line, blocking, clean};
use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt};
use serde_json::Value;

use crate::accepted::{Accepted, Note, NoteKind};
use crate::keep::{self, Kept};
use crate::protocol::payload::{Kind, Verdict, is_image_label, judge};
use crate::protocol::plan::{Item, Json, Plan, Slot};
use crate::protocol::taken::{Part, Taken};
use crate::protocol::text::{DataUrls, tidy};
use crate::settings::Settings;

/// Most text of one content, in bytes: more fills any model's window.
const MOST_TEXT: usize = 1 << 20;

/// Most text of one piece of JSON of no known shape, and of a text that came in the place of an image, in bytes.
const MOST_ODD_TEXT: usize = 64 << 10;

impl Plan<'_> {
    /// Decodes, checks and stores the images, several at a time, and puts everything in its place.
    pub(super) async fn settle(self, store: &dyn BlobStore, settings: &Settings) -> Taken {
        let beyond = self.beyond();
        let is_error = self.is_error;
        // Boxed, as the compiler cannot see otherwise that the whole may move between threads.
        let taken: Vec<_> = self.slots.into_iter().map(|slot| take(slot, store, settings).boxed()).collect();
        let mut slots: Vec<Settled> = stream::iter(taken).buffered(settings.concurrency().get()).collect().await;
        sync(store, &mut slots).await;

        let mut table = Table { slots, shown: HashMap::new(), room: MOST_TEXT, settings, taken: Taken::default() };
        table.taken.is_error = is_error;
        table.remember(&self.items);
        for item in self.items {
            table.place(item);
        }
        if let Some((name, refusal)) = beyond {
            table.report(&name, "", Err(refusal));
        }
        table.taken
    }
}

/// A slot after its checks.
struct Settled {
    name: String,
    label: String,
    kind: Kind,
    /// Taken out once it is placed.
    outcome: Option<Result<Kept, Refusal>>,
    text: Option<String>,
}

async fn take(slot: Slot<'_>, store: &dyn BlobStore, settings: &Settings) -> Settled {
    let Slot { name, label, kind, data } = slot;
    let verdict = match data {
        Err(refusal) => Verdict { sound: Err(refusal), text: None },
        Ok(data) => {
            let (data, label, intake) = (data.into_owned(), label.clone(), settings.intake());
            blocking(move || judge(&data, kind, &label, &intake)).await
        }
    };
    let outcome = match verdict.sound {
        Ok(sound) => keep::stage(store, sound).await,
        Err(refusal) => Err(refusal),
    };
    Settled { name, label, kind, outcome: Some(outcome), text: verdict.text }
}

/// One barrier for all of them.
async fn sync(store: &dyn BlobStore, slots: &mut [Settled]) {
    let mut outcomes: Vec<_> = slots.iter_mut().filter_map(|slot| slot.outcome.take()).collect();
    keep::sync(store, &mut outcomes).await;
    for (slot, outcome) in slots.iter_mut().zip(outcomes) {
        slot.outcome = Some(outcome);
    }
}

/// Where the parts are laid out.
struct Table<'t> {
    slots: Vec<Settled>,
    /// The images that have a place of their own, and the lines that name them. JSON that repeats one refers to it.
    shown: HashMap<BlobId, String>,
    /// How many bytes of text there is still room for.
    room: usize,
    settings: &'t Settings,
    taken: Taken,
}

impl Table<'_> {
    /// Images in their own right are shown at their own place, whatever JSON before them repeats them.
    fn remember(&mut self, items: &[Item<'_>]) {
        for item in items {
            let Item::Slot(slot) = item else { continue };
            let slot = &self.slots[*slot];
            if let Some(Ok(kept)) = &slot.outcome {
                let line = line(&slot.name, kept);
                self.shown.entry(kept.stored.id).or_insert(line);
            }
        }
    }

    fn place(&mut self, item: Item<'_>) {
        match item {
            Item::Text { at, text } => self.text(&at, &text, DataUrls::Stay, MOST_TEXT),
            Item::Note(note) => self.taken.parts.push(Part::Note(note)),
            Item::Slot(slot) => self.slot(slot),
            Item::Json(json) => self.json(json),
        }
    }

    fn slot(&mut self, slot: usize) {
        let Settled { name, label, kind, outcome, text } = &mut self.slots[slot];
        let (name, label) = (std::mem::take(name), std::mem::take(label));
        let (kind, text, outcome) = (*kind, text.take(), outcome.take());
        let Some(outcome) = outcome else { return };
        // A text file was never meant to be an image.
        match &text {
            Some(text) if kind == Kind::File && !is_image_label(&label) => {
                let label = if label.is_empty() { String::new() } else { format!(", {}", clean(&label)) };
                let line = format!("[resource: {}{label}, {} bytes]", clean(&name), text.len());
                self.note(NoteKind::Resource, line);
            }
            _ => self.report(&name, &label, outcome),
        }
        if let Some(text) = text {
            self.text(&name, &text, DataUrls::Stay, MOST_ODD_TEXT);
        }
    }

    /// An image, or the note of its refusal.
    fn report(&mut self, name: &str, label: &str, outcome: Result<Kept, Refusal>) {
        let mut accepted = Accepted::default();
        let label = Some(label).filter(|label| !label.is_empty());
        accepted.add(name, label, outcome, self.settings);
        let Accepted { blocks, notes, trace, leases } = accepted;
        self.taken.parts.extend(notes.into_iter().map(Part::Note));
        self.taken.parts.extend(blocks.into_iter().map(Part::Image));
        self.taken.trace.extend(trace);
        self.taken.leases.extend(leases);
    }

    /// JSON: its text, in which a line stands for each image, then the images.
    fn json(&mut self, json: Json) {
        let Json { mut lifted, show, structured } = json;
        let mut reports = Vec::new();
        for place in lifted.places {
            let slot = &mut self.slots[place.slot];
            let Some(outcome) = slot.outcome.take() else { continue };
            let (line, is_new) = match &outcome {
                Err(refusal) => (format!("[image not attached: {}]", refusal.code), true),
                Ok(kept) => match self.shown.get(&kept.stored.id) {
                    Some(line) => (line.clone(), false),
                    None => (line(&slot.name, kept), true),
                },
            };
            if let (Ok(kept), true) = (&outcome, is_new) {
                self.shown.insert(kept.stored.id, line.clone());
            }
            let there = place.pointer.and_then(|pointer| lifted.value.pointer_mut(&pointer));
            if let Some(there) = there {
                *there = Value::String(line);
            }
            if is_new {
                reports.push((slot.name.clone(), slot.label.clone(), outcome));
            }
        }
        if show {
            self.text(&lifted.at, &lifted.value.to_string(), DataUrls::Go, MOST_ODD_TEXT);
        }
        if lifted.left_out > 0 {
            self.left_out(&lifted.at, lifted.left_out);
        }
        for (name, label, outcome) in reports {
            self.report(&name, &label, outcome);
        }
        if structured {
            self.taken.structured = Some(lifted.value);
        }
    }

    /// Text without long base64, as far as there is room for it.
    fn text(&mut self, at: &str, text: &str, data_urls: DataUrls, most: usize) {
        if text.trim().is_empty() {
            return;
        }
        let tidied = tidy(text, data_urls);
        let (kept, cut) = cut(&tidied.text, most.min(self.room));
        self.room -= kept.len();
        if !kept.is_empty() {
            let text = if cut > 0 { format!("{kept}…") } else { kept.to_owned() };
            self.taken.parts.push(Part::Text(text));
        }
        if tidied.left_out > 0 {
            self.left_out(at, tidied.left_out);
        }
        if cut > 0 {
            self.note(NoteKind::LeftOut, format!("[cut: the last {cut} characters of {} were left out]", clean(at)));
        }
    }

    fn left_out(&mut self, at: &str, chars: usize) {
        let line = format!("[left out: {chars} characters of base64 in {} that are no image]", clean(at));
        self.note(NoteKind::LeftOut, line);
    }

    fn note(&mut self, kind: NoteKind, text: String) {
        self.taken.parts.push(Part::Note(Note::new(kind, text)));
    }
}

fn line(name: &str, kept: &Kept) -> String {
    attached_line(name, kept.checked.media_type.as_str(), kept.stored.len)
}

/// As much of a text as there is room for, and how many characters are missing then.
fn cut(text: &str, most: usize) -> (&str, usize) {
    if text.len() <= most {
        return (text, 0);
    }
    let (kept, rest) = text.split_at(text.floor_char_boundary(most));
    (kept, rest.chars().count())
}
