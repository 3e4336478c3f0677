//! A small pencil drawing on squared paper: a house, a tree, a sun, hills.

use super::canvas::{Canvas, Color, Ink, Point, Rect};
use super::noise::{between, smooth};

pub(super) const PLATE: Rect = Rect::new(172.0, 62.0, 116.0, 84.0);

const PAPER: Color = [253, 250, 240];
const SQUARES: Color = [222, 232, 240];
const PENCIL: Color = [58, 62, 78];

pub(super) fn paint(canvas: &mut Canvas, number: u32) {
    canvas.paint(canvas.area(), |_| PAPER);
    for step in 1..20 {
        let at = step as f32 * 16.0 - 1.0;
        canvas.rounded(Rect::new(at, 0.0, 1.0, 200.0), 0.0, Ink::solid(SQUARES));
        canvas.rounded(Rect::new(0.0, at, 300.0, 1.0), 0.0, Ink::solid(SQUARES));
    }
    ground(canvas, number);
    house(canvas, number);
    tree(canvas, number);
    sun(canvas, number);
}

fn ground(canvas: &mut Canvas, number: u32) {
    let hills: Vec<Point> =
        (0..=30).map(|x| (x as f32 * 10.0, 138.0 - 44.0 * smooth(x as f32 / 6.0, 2.0, number))).collect();
    canvas.stroke(&hills, 1.2, Ink::new(PENCIL, 0.45));
    pencil(canvas, number, &[(6.0, 164.0), (294.0, 162.0)]);
    for blade in 0..16 {
        let x = between(number, 40 + blade, 10.0, 290.0);
        let y = between(number, 60 + blade, 170.0, 190.0);
        canvas.stroke(&[(x - 3.0, y - 5.0), (x, y), (x + 3.0, y - 6.0)], 1.2, Ink::new([70, 140, 84], 0.8));
    }
}

fn house(canvas: &mut Canvas, number: u32) {
    let roof = [[206, 92, 74], [86, 118, 190], [112, 150, 84]][number as usize % 3];
    canvas.rounded(Rect::new(40.0, 112.0, 72.0, 51.0), 0.0, Ink::solid([248, 233, 198]));
    for tile in 0..9 {
        let drop = tile as f32 * 4.0;
        canvas.stroke(
            &[(76.0 - drop * 1.15, 80.0 + drop * 0.9), (76.0 + drop * 1.15, 80.0 + drop * 0.9)],
            3.0,
            Ink::solid(roof),
        );
    }
    pencil(canvas, number, &[(40.0, 163.0), (40.0, 112.0), (112.0, 112.0), (112.0, 163.0)]);
    pencil(canvas, number, &[(32.0, 115.0), (76.0, 76.0), (120.0, 115.0)]);
    pencil(canvas, number, &[(52.0, 163.0), (52.0, 132.0), (68.0, 132.0), (68.0, 163.0)]);
    pencil(canvas, number, &[(82.0, 126.0), (100.0, 126.0), (100.0, 144.0), (82.0, 144.0), (82.0, 126.0)]);
    pencil(canvas, number, &[(91.0, 126.0), (91.0, 144.0)]);
    pencil(canvas, number, &[(82.0, 135.0), (100.0, 135.0)]);
}

fn tree(canvas: &mut Canvas, number: u32) {
    let x = between(number, 1, 136.0, 150.0);
    canvas.stroke(&[(x, 163.0), (x, 128.0)], 5.0, Ink::new([140, 100, 66], 0.9));
    for leaf in 0..26 {
        let at = (x + between(number, 100 + leaf, -15.0, 15.0), between(number, 200 + leaf, 94.0, 132.0));
        canvas.circle(at, 4.5, Ink::new([94, 160, 96], 0.5));
    }
}

fn sun(canvas: &mut Canvas, number: u32) {
    let (x, y) = (between(number, 2, 30.0, 130.0), 36.0);
    canvas.circle((x, y), 14.0, Ink::new([250, 196, 60], 0.9));
    for (across, down) in
        [(1.0, 0.0), (0.7, 0.7), (0.0, 1.0), (-0.7, 0.7), (-1.0, 0.0), (-0.7, -0.7), (0.0, -1.0), (0.7, -0.7)]
    {
        let ray = [(x + across * 19.0, y + down * 19.0), (x + across * 27.0, y + down * 27.0)];
        canvas.stroke(&ray, 2.0, Ink::new([236, 164, 40], 0.9));
    }
}

/// A line that no ruler drew: it wavers by a pixel or so.
fn pencil(canvas: &mut Canvas, seed: u32, points: &[Point]) {
    let mut line = Vec::new();
    for ends in points.windows(2) {
        for step in 0..=8 {
            let share = step as f32 / 8.0;
            let x = ends[0].0 + (ends[1].0 - ends[0].0) * share;
            let y = ends[0].1 + (ends[1].1 - ends[0].1) * share;
            let waver = |side: u32| (smooth(x / 9.0, y / 9.0, seed ^ side) - 0.5) * 2.2;
            line.push((x + waver(1), y + waver(2)));
        }
    }
    canvas.stroke(&line, 1.8, Ink::solid(PENCIL));
}
