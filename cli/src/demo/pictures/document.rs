//! A printed page with a letterhead, a table and the number as a red stamp.

use super::canvas::{Canvas, Color, Ink, Rect, mix};
use super::noise::between;

pub(super) const PLATE: Rect = Rect::new(206.0, 396.0, 212.0, 150.0);

const DESK: (Color, Color) = ([120, 92, 70], [88, 64, 48]);
const PAPER: Color = [252, 250, 244];
const TEXT: Color = [92, 94, 104];
const RULE: Color = [206, 204, 198];
const HEADS: [Color; 4] = [[36, 84, 140], [30, 112, 84], [120, 60, 120], [150, 92, 20]];

pub(super) fn paint(canvas: &mut Canvas, number: u32) {
    let page = Rect::new(38.0, 30.0, 404.0, 580.0);
    let head = HEADS[number as usize % HEADS.len()];
    canvas.gradient(canvas.area(), DESK.0, DESK.1);
    canvas.shadow(page, 4.0, 24.0, 0.5);
    canvas.rounded(page, 4.0, Ink::solid(PAPER));
    letterhead(canvas, head);
    lines(canvas, number, 148.0, 5);
    table(canvas, number, head);
    lines(canvas, number + 1, 416.0, 10);
}

fn letterhead(canvas: &mut Canvas, head: Color) {
    canvas.circle((88.0, 84.0), 22.0, Ink::solid(head));
    canvas.circle((88.0, 84.0), 11.0, Ink::solid(PAPER));
    canvas.rounded(Rect::new(124.0, 68.0, 168.0, 14.0), 3.0, Ink::solid(head));
    canvas.rounded(Rect::new(124.0, 90.0, 112.0, 8.0), 3.0, Ink::solid(RULE));
    canvas.rounded(Rect::new(64.0, 120.0, 352.0, 2.0), 0.0, Ink::solid(head));
}

/// A paragraph: words are bars of chance width, the last line is short.
fn lines(canvas: &mut Canvas, number: u32, top: f32, count: u32) {
    for line in 0..count {
        let right = if line + 1 == count { 240.0 } else { 412.0 };
        let (mut left, mut word) = (64.0, line * 20);
        while left < right - 14.0 {
            let width = between(number, word, 14.0, 52.0).min(right - left);
            canvas.rounded(Rect::new(left, top + line as f32 * 18.0, width, 7.0), 2.0, Ink::solid(TEXT));
            left += width + 6.0;
            word += 1;
        }
    }
}

fn table(canvas: &mut Canvas, number: u32, head: Color) {
    canvas.rounded(Rect::new(64.0, 254.0, 352.0, 24.0), 3.0, Ink::solid(head));
    for row in 0..5_u32 {
        let top = 278.0 + row as f32 * 24.0;
        let band = if row % 2 == 0 { mix(head, PAPER, 0.88) } else { PAPER };
        canvas.rounded(Rect::new(64.0, top, 352.0, 24.0), 0.0, Ink::solid(band));
        for column in 0..3_u32 {
            let left = 76.0 + column as f32 * 124.0;
            let width = between(number, 500 + row * 3 + column, 30.0, 84.0);
            canvas.rounded(Rect::new(left, top + 8.0, width, 8.0), 2.0, Ink::solid(TEXT));
        }
    }
    for column in 0..3_u32 {
        canvas.rounded(Rect::new(76.0 + column as f32 * 124.0, 262.0, 54.0, 8.0), 2.0, Ink::solid(PAPER));
    }
}
