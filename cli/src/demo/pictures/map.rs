//! A walker's map: hills lit from the north-west, height lines, water, a road, the number at its pin.

use super::canvas::{Canvas, Color, Ink, Point, Rect, mix};
use super::noise::{between, rough};

pub(super) const PLATE: Rect = Rect::new(320.0, 180.0, 320.0, 220.0);

/// Levels of light a pixel may stray by: the roughness of woods and meadows seen from above.
const GRAIN: f32 = 3.0;
const WATER: f32 = 0.40;
/// Height from 0 to 1 and the colour there, lowest first.
const TINTS: [(f32, Color); 7] = [
    (0.20, [60, 122, 176]),
    (0.40, [134, 190, 214]),
    (0.401, [226, 220, 176]),
    (0.46, [154, 190, 120]),
    (0.58, [116, 160, 96]),
    (0.70, [178, 150, 108]),
    (0.82, [240, 236, 230]),
];
const LINES: f32 = 28.0;

pub(super) fn paint(canvas: &mut Canvas, number: u32) {
    let relief = Relief::new(canvas.area(), number);
    canvas.paint(canvas.area(), |at| relief.color(at));
    canvas.grain(canvas.area(), number, GRAIN);
    road(canvas, number);
    grid(canvas);
    pin(canvas);
}

/// Heights computed once; slopes and height lines need the neighbours' too.
struct Relief {
    columns: usize,
    heights: Vec<f32>,
}

impl Relief {
    fn new(area: Rect, seed: u32) -> Self {
        let (columns, rows) = (area.width as usize + 1, area.height as usize + 1);
        let height = |at: usize| {
            let (x, y) = ((at % columns) as f32, (at / columns) as f32);
            // Stretched, since a sum of noise seldom leaves the middle of its range.
            ((rough(x / 260.0, y / 260.0, seed, 5) - 0.5) * 1.5 + 0.52).clamp(0.0, 1.0)
        };
        Self { columns, heights: (0..columns * rows).map(height).collect() }
    }

    fn color(&self, (x, y): Point) -> Color {
        let at = y as usize * self.columns + x as usize;
        let (here, right, below) = (self.heights[at], self.heights[at + 1], self.heights[at + self.columns]);
        if here < WATER {
            return tint(here);
        }
        let slope = (right - here + below - here) * 22.0;
        let lit = if slope > 0.0 {
            mix(tint(here), [255, 252, 232], slope * 0.7)
        } else {
            mix(tint(here), [40, 44, 60], -slope * 0.8)
        };
        let step = |height: f32| (height * LINES) as u32;
        let crossing = step(here) != step(right) || step(here) != step(below);
        if crossing { mix(lit, [112, 82, 56], 0.5) } else { lit }
    }
}

fn tint(height: f32) -> Color {
    let above = TINTS.iter().position(|(from, _)| height < *from).unwrap_or(TINTS.len() - 1).max(1);
    let ((low, from), (high, to)) = (TINTS[above - 1], TINTS[above]);
    mix(from, to, (height - low) / (high - low))
}

fn road(canvas: &mut Canvas, number: u32) {
    let from = between(number, 1, 480.0, 640.0);
    let bend = |x: f32| from - x * 0.12 + 120.0 * (rough(x / 210.0, 0.0, number ^ 0x0ad, 2) - 0.5);
    let points: Vec<Point> = (0..=64).map(|step| step as f32 * 16.0).map(|x| (x, bend(x))).collect();
    canvas.stroke(&points, 11.0, Ink::solid([120, 84, 50]));
    canvas.stroke(&points, 7.0, Ink::solid([255, 214, 110]));
}

fn grid(canvas: &mut Canvas) {
    let area = canvas.area();
    for step in 1..8 {
        let at = step as f32 * 120.0;
        canvas.rounded(Rect { left: at, width: 1.0, ..area }, 0.0, Ink::new([30, 60, 110], 0.35));
        canvas.rounded(Rect { top: at, height: 1.0, ..area }, 0.0, Ink::new([30, 60, 110], 0.35));
    }
    canvas.frame(area, 0.0, 24.0, Ink::solid([250, 248, 240]));
}

/// The plaque's stalk and foot; the plaque itself comes on top.
fn pin(canvas: &mut Canvas) {
    canvas.circle((480.0, 470.0), 16.0, Ink::new([16, 20, 32], 0.35));
    canvas.stroke(&[(480.0, 380.0), (480.0, 470.0)], 12.0, Ink::solid([255, 255, 255]));
    canvas.circle((480.0, 470.0), 11.0, Ink::solid([255, 255, 255]));
    canvas.circle((480.0, 470.0), 7.0, Ink::solid([206, 44, 52]));
}
