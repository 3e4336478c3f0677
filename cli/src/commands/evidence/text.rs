//! What people read.

use attache_evidence::{Estimate, Kind, Probe, Skipped};
use serde_json::Value;

pub(super) fn inspect(probe: &Probe, input: &str) -> String {
    let count = images(probe.item_count);
    let head = match probe.kind {
        Kind::Image => "Image",
        Kind::Carousel => "Carousel",
    };
    let names: Vec<String> = probe.images.iter().map(|image| shown(&image.source_name)).collect();
    let mut text = format!("{head}: {count}\nOrder: {}\n{}", names.join(", "), skipped(&probe.skipped));
    text += &provenance(probe.images.iter().map(|image| &image.provenance));
    for warning in &probe.warnings {
        text += &format!("Warning: {}\n", shown(&warning.message));
    }
    text += "Everything was prepared locally; nothing was sent.\n";
    text + &format!("Next: attache preview {input}\n")
}

pub(super) fn preview(estimate: &Estimate, input: &str) -> String {
    let skipped = skipped(&estimate.skipped);
    let images = human(estimate);
    format!("{images}{skipped}Images are prepared locally; nothing is sent.\nNext: attache read {input}\n")
}

/// The text form of an estimate.
pub(super) fn human(estimate: &Estimate) -> String {
    let kind = match estimate.kind {
        Kind::Image => "image",
        Kind::Carousel => "carousel",
    };
    let Estimate { input, tokens, cost_usd, agent_model, vision_estimator, .. } = estimate;
    let lines = [
        format!("input: {}  ({kind}, {})", shown(input), images(estimate.item_count)),
        format!("agent={agent_model}  vision={vision_estimator}"),
        format!("  image tokens:  {:>8}", tokens.images),
        format!("  output tokens: {:>8}", tokens.output),
        "  ---".to_owned(),
        format!("  agent ${:.4}", cost_usd.agent),
        format!("  TOTAL ${:.4}   (dominant: {})", cost_usd.total, estimate.dominant_cost),
        format!("  {}", estimate.cost_basis),
    ];
    lines.join("\n") + "\n" + &provenance(estimate.images.iter().map(|image| &image.image.provenance))
}

/// A name that a terminal shows and does not obey: control characters, and those that turn text around, are escaped.
pub(crate) fn shown(name: &str) -> String {
    let harmful = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if harmful(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

fn images(count: usize) -> String {
    if count == 1 { "1 image".to_owned() } else { format!("{count} images") }
}

/// One line, and none where nothing was skipped.
pub(super) fn skipped(skipped: &[Skipped]) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let names: Vec<_> =
        skipped.iter().map(|skipped| format!("{} ({})", shown(&skipped.name), skipped.reason)).collect();
    format!("Skipped: {}\n", names.join(", "))
}

pub(super) fn provenance<'a>(images: impl Iterator<Item = &'a Value>) -> String {
    let (mut missing, mut claimed) = (0, 0);
    for provenance in images {
        let is_missing = provenance.get("status").and_then(Value::as_str) == Some("missing");
        *(if is_missing { &mut missing } else { &mut claimed }) += 1;
    }
    format!(
        "  Capture provenance: {missing} missing; {claimed} validated claims (not authenticated). Coverage remains unknown.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_a_terminal_no_orders() {
        for (name, expect) in [
            ("é ß.png", "é ß.png"),
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb", "a\\nb"),
            ("a\u{202e}gnp", "a\\u{202e}gnp"),
        ] {
            assert_eq!(shown(name), expect);
        }
    }
}
