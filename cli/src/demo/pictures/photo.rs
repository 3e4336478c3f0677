//! A sunset over hills, with the grain of a camera at dusk; the screenshot shows one too.

use super::canvas::{Canvas, Color, Ink, Point, Rect, length, mix};
use super::noise::{between, rough};

pub(super) const PLATE: Rect = Rect::new(72.0, 470.0, 380.0, 260.0);

/// Levels of light a pixel may stray by; with it the file weighs what a photo of this size weighs.
const GRAIN: f32 = 6.0;

/// Top of the sky, horizon, farthest hill, nearest hill.
const MOODS: [[Color; 4]; 4] = [
    [[44, 62, 122], [255, 178, 108], [150, 104, 130], [30, 28, 52]],
    [[30, 92, 158], [250, 220, 170], [110, 146, 164], [18, 48, 56]],
    [[76, 42, 108], [255, 140, 124], [148, 76, 124], [36, 18, 48]],
    [[36, 110, 140], [244, 206, 128], [140, 150, 110], [34, 46, 32]],
];
const LAYERS: u32 = 4;

pub(super) fn paint(canvas: &mut Canvas, number: u32) {
    landscape(canvas, canvas.area(), number);
}

/// Fills `area` with a landscape; its sun, clouds and ridges follow from the seed.
pub(super) fn landscape(canvas: &mut Canvas, area: Rect, seed: u32) {
    let mood = MOODS[seed as usize % MOODS.len()];
    let sun =
        (area.left + area.width * between(seed, 0, 0.52, 0.84), area.top + area.height * between(seed, 1, 0.24, 0.40));
    canvas.paint(area, |at| sky(at, area, sun, mood, seed));
    disc(canvas, area, sun);
    for layer in 0..LAYERS {
        hill(canvas, area, mood, seed, layer);
    }
    canvas.grain(area, seed, GRAIN);
}

fn sky((x, y): Point, area: Rect, sun: Point, [top, horizon, ..]: [Color; 4], seed: u32) -> Color {
    let (across, down) = ((x - area.left) / area.height, (y - area.top) / area.height);
    let clear = mix(top, horizon, down * 1.45);
    let glow = 1.0 - length(x - sun.0, y - sun.1) / (area.height * 0.62);
    let lit = mix(clear, [255, 240, 205], glow.max(0.0) * glow.max(0.0) * 0.85);
    // Stretched sideways and thinning towards the horizon, as clouds seen from below are.
    let cloud = rough(across * 2.2, down * 7.0, seed ^ 0xc10d, 5) - 0.50;
    mix(lit, mix(horizon, [255, 255, 255], 0.55), cloud.max(0.0) * 3.2 * (1.0 - down * 1.3).max(0.0))
}

fn disc(canvas: &mut Canvas, area: Rect, sun: Point) {
    canvas.circle(sun, area.height * 0.085, Ink::new([255, 250, 226], 0.5));
    canvas.circle(sun, area.height * 0.075, Ink::solid([255, 248, 220]));
}

/// Nearer layers are lower, rougher and darker; mist lies at the foot of each.
fn hill(canvas: &mut Canvas, area: Rect, [_, horizon, far, near]: [Color; 4], seed: u32, layer: u32) {
    let depth = layer as f32 / (LAYERS - 1) as f32;
    let color = mix(far, near, depth);
    let crest: Vec<f32> = (0..=area.width as u32)
        .map(|column| {
            let across = column as f32 / area.height * (1.6 + depth * 1.2);
            let rise = rough(across, layer as f32 * 9.0, seed ^ 0x411, 6);
            area.top + area.height * (0.52 + 0.36 * depth - 0.34 * (rise - 0.3))
        })
        .collect();
    canvas.paint_over(area, |(x, y), under| {
        let below = y - crest[(x - area.left) as usize];
        let misty = mix(color, horizon, (below / (area.height * 0.42)).min(0.42) * (1.0 - depth));
        mix(under, misty, below + 0.5)
    });
}
