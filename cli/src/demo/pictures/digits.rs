//! Big numerals, drawn as thick strokes with clipped corners like those on a jersey.

use super::canvas::{Canvas, Ink, Point, Rect};

/// A digit is 4 units wide and 6 high, measured along the middle of its strokes.
const WIDTH: f32 = 4.0;
const HEIGHT: f32 = 6.0;
/// Units between the middles of two neighbours' strokes: one stroke and some air.
const GAP: f32 = 1.9;
const STROKE: f32 = 1.05;

/// The share of the area that the number may fill, across and down.
const FILL: (f32, f32) = (0.80, 0.70);

/// Each digit is one or two lines through these points.
const DIGITS: [&[&[Point]]; 10] = [
    &[&[(1., 0.), (3., 0.), (4., 1.), (4., 5.), (3., 6.), (1., 6.), (0., 5.), (0., 1.), (1., 0.)]],
    &[&[(0.7, 1.3), (2., 0.), (2., 6.)], &[(0.7, 6.), (3.3, 6.)]],
    &[&[(0., 1.2), (1., 0.), (3., 0.), (4., 1.), (4., 2.2), (0., 6.), (4., 6.)]],
    &[
        &[(0., 1.), (1., 0.), (3., 0.), (4., 1.), (4., 2.), (3., 3.), (4., 4.), (4., 5.), (3., 6.), (1., 6.), (0., 5.)],
        &[(1.4, 3.), (3., 3.)],
    ],
    &[&[(3.1, 6.), (3.1, 0.), (0., 4.2), (4., 4.2)]],
    &[&[(3.8, 0.), (0.2, 0.), (0.2, 2.6), (3., 2.6), (4., 3.6), (4., 5.), (3., 6.), (1., 6.), (0., 5.1)]],
    &[&[
        (3.9, 0.9),
        (3., 0.),
        (1., 0.),
        (0., 1.),
        (0., 5.),
        (1., 6.),
        (3., 6.),
        (4., 5.),
        (4., 3.7),
        (3., 2.7),
        (0., 2.7),
    ]],
    &[&[(0., 0.), (4., 0.), (1.5, 6.)]],
    &[
        &[(1., 0.), (3., 0.), (4., 1.), (4., 2.), (3., 3.), (4., 4.), (4., 5.), (3., 6.), (1., 6.), (0., 5.)],
        &[(1., 0.), (0., 1.), (0., 2.), (1., 3.), (3., 3.), (1., 3.), (0., 4.), (0., 5.)],
    ],
    &[&[
        (0.1, 5.1),
        (1., 6.),
        (3., 6.),
        (4., 5.),
        (4., 1.),
        (3., 0.),
        (1., 0.),
        (0., 1.),
        (0., 2.3),
        (1., 3.3),
        (4., 3.3),
    ]],
];

/// Draws the number as large as `area` allows, in its middle.
pub(super) fn paint(canvas: &mut Canvas, area: Rect, number: u32, ink: Ink) {
    let digits = split(number);
    let count = digits.len() as f32;
    let wide = count * WIDTH + (count - 1.0) * GAP;
    let unit = (area.width * FILL.0 / (wide + STROKE)).min(area.height * FILL.1 / (HEIGHT + STROKE));
    let left = area.left + (area.width - wide * unit) / 2.0;
    let top = area.top + (area.height - HEIGHT * unit) / 2.0;
    for (place, &digit) in digits.iter().enumerate() {
        let start = left + place as f32 * (WIDTH + GAP) * unit;
        for line in DIGITS[digit] {
            let points: Vec<Point> = line.iter().map(|(x, y)| (start + x * unit, top + y * unit)).collect();
            canvas.stroke(&points, STROKE * unit, ink);
        }
    }
}

/// The decimal digits, highest first.
fn split(number: u32) -> Vec<usize> {
    let mut rest = number as usize;
    let mut digits = vec![rest % 10];
    while rest >= 10 {
        rest /= 10;
        digits.insert(0, rest % 10);
    }
    digits
}
