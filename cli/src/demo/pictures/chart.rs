//! A bar chart with a trend line, and the number as its key figure.

use super::canvas::{Canvas, Color, Ink, Rect, mix};
use super::noise::between;

pub(super) const PLATE: Rect = Rect::new(644.0, 176.0, 252.0, 230.0);

const PLOT: Rect = Rect::new(84.0, 150.0, 500.0, 370.0);
const BARS: u32 = 8;
const WHITE: Color = [255, 255, 255];
const FAINT: Color = [216, 222, 233];
const TEXT: Color = [74, 85, 110];
const ACCENTS: [Color; 5] = [[64, 105, 225], [20, 150, 136], [226, 98, 72], [142, 84, 204], [214, 138, 24]];

pub(super) fn paint(canvas: &mut Canvas, number: u32) {
    let accent = ACCENTS[number as usize % ACCENTS.len()];
    let card = canvas.area().inset(28.0);
    canvas.gradient(canvas.area(), mix(accent, WHITE, 0.80), mix(accent, WHITE, 0.58));
    canvas.shadow(card, 22.0, 26.0, 0.22);
    canvas.rounded(card, 22.0, Ink::solid(WHITE));
    captions(canvas, accent);
    bars(canvas, number, accent);
    trend(canvas, number);
}

/// Text is only hinted at: grey bars of a line's height.
fn captions(canvas: &mut Canvas, accent: Color) {
    canvas.rounded(Rect::new(64.0, 64.0, 260.0, 22.0), 11.0, Ink::solid(TEXT));
    canvas.rounded(Rect::new(64.0, 100.0, 170.0, 12.0), 6.0, Ink::solid(FAINT));
    canvas.rounded(Rect::new(644.0, 132.0, 120.0, 14.0), 7.0, Ink::solid(accent));
    for (line, width) in [252.0, 214.0, 236.0].into_iter().enumerate() {
        let top = 440.0 + line as f32 * 28.0;
        canvas.rounded(Rect::new(644.0, top, width, 12.0), 6.0, Ink::solid(FAINT));
    }
}

fn bars(canvas: &mut Canvas, number: u32, accent: Color) {
    for line in 0..6 {
        let y = PLOT.top + PLOT.height * line as f32 / 5.0;
        let color = if line == 5 { TEXT } else { FAINT };
        canvas.rounded(Rect::new(PLOT.left, y - 1.0, PLOT.width, 2.0), 0.0, Ink::solid(color));
        canvas.rounded(Rect::new(PLOT.left - 26.0, y - 4.0, 16.0, 8.0), 4.0, Ink::solid(FAINT));
    }
    for bar in 0..BARS {
        let tall = PLOT.height * between(number, bar, 0.28, 0.96);
        let area = Rect::new(middle(bar) - 21.0, PLOT.top + PLOT.height - tall, 42.0, tall - 2.0);
        let shade = mix(accent, WHITE, 0.34 - 0.34 * bar as f32 / (BARS - 1) as f32);
        canvas.rounded(area, 7.0, Ink::solid(shade));
        canvas.rounded(Rect { top: area.top + tall / 2.0, height: tall / 2.0 - 2.0, ..area }, 0.0, Ink::solid(shade));
        canvas.rounded(
            Rect { left: area.left + 6.0, top: area.top + 8.0, width: 5.0, height: tall - 24.0 },
            2.5,
            Ink::new(WHITE, 0.28),
        );
        canvas.rounded(Rect::new(middle(bar) - 13.0, PLOT.top + PLOT.height + 12.0, 26.0, 8.0), 4.0, Ink::solid(FAINT));
    }
}

fn trend(canvas: &mut Canvas, number: u32) {
    let height = |bar: u32| PLOT.top + PLOT.height * between(number, 100 + bar, 0.08, 0.44);
    let points: Vec<_> = (0..BARS).map(|bar| (middle(bar), height(bar))).collect();
    canvas.stroke(&points, 8.0, Ink::new(WHITE, 0.8));
    canvas.stroke(&points, 4.0, Ink::solid(TEXT));
    for &point in &points {
        canvas.circle(point, 8.0, Ink::solid(TEXT));
        canvas.circle(point, 4.5, Ink::solid(WHITE));
    }
}

fn middle(bar: u32) -> f32 {
    // On a whole pixel, so that the halves of a bar have the same edge.
    (PLOT.left + PLOT.width * (bar as f32 + 0.5) / BARS as f32).floor()
}
