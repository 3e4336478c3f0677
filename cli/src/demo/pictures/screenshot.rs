//! A desktop with one window: a side bar, a photo being looked at, its details, a dock.

use super::canvas::{Canvas, Color, Ink, Rect, mix};
use super::noise::{between, rough};
use super::photo;

pub(super) const PLATE: Rect = Rect::new(364.0, 326.0, 310.0, 226.0);

const WINDOW: Rect = Rect::new(96.0, 64.0, 1088.0, 640.0);
const VIEW: Rect = Rect::new(336.0, 132.0, 560.0, 448.0);
const SIDE: f32 = 216.0;
const PANEL: Color = [238, 240, 245];
const FAINT: Color = [204, 209, 220];
const TEXT: Color = [96, 104, 124];
const WHITE: Color = [255, 255, 255];
const ACCENTS: [Color; 5] = [[52, 120, 246], [16, 150, 120], [230, 90, 80], [150, 86, 214], [224, 140, 20]];
const WALLS: [(Color, Color); 3] =
    [([38, 58, 130], [196, 110, 160]), ([18, 84, 110], [126, 190, 160]), ([70, 44, 110], [230, 140, 110])];

pub(super) fn paint(canvas: &mut Canvas, number: u32) {
    let accent = ACCENTS[number as usize % ACCENTS.len()];
    wallpaper(canvas, number);
    canvas.shadow(WINDOW, 16.0, 46.0, 0.55);
    canvas.rounded(WINDOW, 16.0, Ink::solid(WHITE));
    frame(canvas);
    side_bar(canvas, number, accent);
    photo::landscape(canvas, VIEW, number.wrapping_add(7));
    details(canvas, number, accent);
    film_strip(canvas, number, accent);
    dock(canvas);
}

fn wallpaper(canvas: &mut Canvas, number: u32) {
    let (from, to) = WALLS[number as usize % WALLS.len()];
    canvas.paint(canvas.area(), |(x, y)| {
        let drift = rough(x / 620.0, y / 420.0, number ^ 0x3a11, 2);
        mix(from, to, (x / 1280.0 + y / 800.0) * 0.36 + drift * 0.55 - 0.12)
    });
}

fn frame(canvas: &mut Canvas) {
    let side = Rect { width: SIDE, ..WINDOW };
    canvas.rounded(side, 16.0, Ink::solid(PANEL));
    canvas.rounded(Rect { left: WINDOW.left + SIDE - 18.0, width: 18.0, ..WINDOW }, 0.0, Ink::solid(PANEL));
    canvas.rounded(Rect { left: WINDOW.left + SIDE, width: 1.0, ..WINDOW }, 0.0, Ink::solid(FAINT));
    for (place, color) in [[255, 95, 87], [254, 188, 46], [40, 200, 64]].into_iter().enumerate() {
        canvas.circle((WINDOW.left + 28.0 + place as f32 * 24.0, WINDOW.top + 28.0), 7.5, Ink::solid(color));
    }
    canvas.rounded(Rect::new(560.0, 86.0, 340.0, 26.0), 13.0, Ink::solid(PANEL));
    canvas.rounded(Rect::new(578.0, 95.0, 150.0, 8.0), 4.0, Ink::solid(FAINT));
    canvas.rounded(Rect::new(336.0, 90.0, 130.0, 16.0), 6.0, Ink::solid(TEXT));
}

fn side_bar(canvas: &mut Canvas, number: u32, accent: Color) {
    for row in 0..12_u32 {
        let top = 132.0 + row as f32 * 44.0;
        let chosen = row == number % 12;
        if chosen {
            canvas.rounded(Rect::new(108.0, top - 8.0, 192.0, 36.0), 9.0, Ink::solid(accent));
        }
        let (icon, text) = if chosen { (WHITE, WHITE) } else { (mix(accent, PANEL, 0.35), FAINT) };
        canvas.rounded(Rect::new(122.0, top, 20.0, 20.0), 6.0, Ink::solid(icon));
        canvas.rounded(Rect::new(154.0, top + 5.0, between(number, row, 56.0, 126.0), 10.0), 5.0, Ink::solid(text));
    }
}

fn details(canvas: &mut Canvas, number: u32, accent: Color) {
    canvas.rounded(Rect::new(924.0, 136.0, 150.0, 16.0), 6.0, Ink::solid(TEXT));
    for row in 0..7_u32 {
        let top = 178.0 + row as f32 * 34.0;
        canvas.rounded(Rect::new(924.0, top, 64.0, 9.0), 4.5, Ink::solid(FAINT));
        canvas.rounded(Rect::new(1008.0, top, between(number, 40 + row, 60.0, 146.0), 9.0), 4.5, Ink::solid(TEXT));
    }
    let chart = Rect::new(924.0, 430.0, 236.0, 90.0);
    canvas.rounded(chart, 10.0, Ink::solid(PANEL));
    for bar in 0..24_u32 {
        let tall = 8.0 + 66.0 * rough(bar as f32 / 5.0, 0.0, number, 3);
        let left = chart.left + 12.0 + bar as f32 * 9.0;
        canvas.rounded(Rect::new(left, chart.top + 82.0 - tall, 6.0, tall), 2.0, Ink::solid(mix(accent, WHITE, 0.25)));
    }
    canvas.rounded(Rect::new(924.0, 540.0, 236.0, 40.0), 10.0, Ink::solid(accent));
    canvas.rounded(Rect::new(1002.0, 554.0, 80.0, 12.0), 6.0, Ink::solid(WHITE));
}

fn film_strip(canvas: &mut Canvas, number: u32, accent: Color) {
    for shot in 0..6_u32 {
        let area = Rect::new(336.0 + shot as f32 * 138.0, 602.0, 126.0, 80.0);
        photo::landscape(canvas, area, number.wrapping_add(5 + shot));
        if shot == 2 {
            canvas.frame(area.inset(-1.0), 3.0, 5.0, Ink::solid(accent));
        }
    }
}

fn dock(canvas: &mut Canvas) {
    let dock = Rect::new(420.0, 722.0, 440.0, 66.0);
    canvas.rounded(dock, 20.0, Ink::new(WHITE, 0.38));
    for (place, color) in ACCENTS.into_iter().chain([[90, 98, 120], [40, 44, 58]]).enumerate() {
        let icon = Rect::new(434.0 + place as f32 * 61.0, 732.0, 46.0, 46.0);
        canvas.rounded(icon, 12.0, Ink::solid(color));
        canvas.circle((icon.left + 23.0, icon.top + 23.0), 10.0, Ink::new(WHITE, 0.85));
    }
}
