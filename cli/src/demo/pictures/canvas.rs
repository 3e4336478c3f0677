//! A grid of pixels and the few anti-aliased shapes the scenes are made of.
//!
//! Every shape is a signed distance (negative inside, in pixels); a pixel's share of ink is how far its centre lies within the
//! edge, so that edges are smooth without a second pass.

use image::RgbImage;

use super::noise;

/// Red, green, blue.
pub(super) type Color = [u8; 3];

/// Across and down from the top left corner, in pixels.
pub(super) type Point = (f32, f32);

/// A colour and how much of it is laid on, 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ink {
    pub(super) color: Color,
    pub(super) alpha: f32,
}

impl Ink {
    pub(super) const fn new(color: Color, alpha: f32) -> Self {
        Self { color, alpha }
    }

    pub(super) const fn solid(color: Color) -> Self {
        Self::new(color, 1.0)
    }
}

/// An upright rectangle, in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rect {
    pub(super) left: f32,
    pub(super) top: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl Rect {
    pub(super) const fn new(left: f32, top: f32, width: f32, height: f32) -> Self {
        Self { left, top, width, height }
    }

    /// The same rectangle with `by` pixels taken off each side; negative grows it.
    pub(super) fn inset(self, by: f32) -> Self {
        Self::new(self.left + by, self.top + by, self.width - 2.0 * by, self.height - 2.0 * by)
    }

    fn around(points: &[Point], margin: f32) -> Self {
        let fold =
            |start: f32, pick: fn(f32, f32) -> f32, of: fn(&Point) -> f32| points.iter().map(of).fold(start, pick);
        let (left, top) = (fold(f32::MAX, f32::min, |p| p.0), fold(f32::MAX, f32::min, |p| p.1));
        let (right, bottom) = (fold(0.0, f32::max, |p| p.0), fold(0.0, f32::max, |p| p.1));
        Self::new(left, top, right - left, bottom - top).inset(-margin)
    }

    /// Distance to this rectangle with corners rounded by `radius`.
    fn distance(self, radius: f32, (x, y): Point) -> f32 {
        let across = (x - self.left - self.width / 2.0).abs() - self.width / 2.0 + radius;
        let down = (y - self.top - self.height / 2.0).abs() - self.height / 2.0 + radius;
        length(across.max(0.0), down.max(0.0)) + across.max(down).min(0.0) - radius
    }
}

/// The picture while it is being drawn; anything outside its edges is cut off.
#[derive(Debug)]
pub(super) struct Canvas {
    width: u32,
    height: u32,
    pixels: Vec<Color>,
}

impl Canvas {
    /// A black canvas.
    pub(super) fn new(width: u32, height: u32) -> Self {
        let pixels = vec![[0; 3]; width as usize * height as usize];
        Self { width, height, pixels }
    }

    pub(super) fn into_image(self) -> RgbImage {
        RgbImage::from_raw(self.width, self.height, self.pixels.into_flattened())
            .expect("the grid has width × height pixels")
    }

    /// The whole canvas.
    pub(super) fn area(&self) -> Rect {
        Rect::new(0.0, 0.0, self.width as f32, self.height as f32)
    }

    /// Sets each pixel of `area` by its centre.
    pub(super) fn paint(&mut self, area: Rect, color: impl Fn(Point) -> Color) {
        self.paint_over(area, |at, _| color(at));
    }

    /// Changes each pixel of `area`, given its centre and its colour so far.
    pub(super) fn paint_over(&mut self, area: Rect, change: impl Fn(Point, Color) -> Color) {
        let columns = span(area.left, area.width, self.width);
        for y in span(area.top, area.height, self.height) {
            let row = &mut self.pixels[y * self.width as usize..][..self.width as usize];
            for x in columns.clone() {
                row[x] = change((x as f32 + 0.5, y as f32 + 0.5), row[x]);
            }
        }
    }

    /// A vertical run from one colour to another.
    pub(super) fn gradient(&mut self, area: Rect, from: Color, to: Color) {
        self.paint(area, |(_, y)| mix(from, to, (y - area.top) / area.height));
    }

    /// Lays ink wherever `distance` is negative; `bounds` only limits the pixels that are asked.
    pub(super) fn shape(&mut self, bounds: Rect, ink: Ink, distance: impl Fn(Point) -> f32) {
        self.paint_over(bounds.inset(-1.0), |at, under| {
            let cover = (0.5 - distance(at)).clamp(0.0, 1.0);
            mix(under, ink.color, cover * ink.alpha)
        });
    }

    /// A filled rectangle with round corners.
    pub(super) fn rounded(&mut self, area: Rect, radius: f32, ink: Ink) {
        self.shape(area, ink, |at| area.distance(radius, at));
    }

    /// The outline of a rectangle with round corners, `width` pixels wide and centred on its edge.
    pub(super) fn frame(&mut self, area: Rect, radius: f32, width: f32, ink: Ink) {
        self.shape(area.inset(-width), ink, |at| area.distance(radius, at).abs() - width / 2.0);
    }

    pub(super) fn circle(&mut self, center: Point, radius: f32, ink: Ink) {
        let bounds = Rect::around(&[center], radius);
        self.shape(bounds, ink, |(x, y)| length(x - center.0, y - center.1) - radius);
    }

    /// A line through the points with round ends and joints, laid on once even where it crosses itself.
    pub(super) fn stroke(&mut self, points: &[Point], width: f32, ink: Ink) {
        self.shape(Rect::around(points, width), ink, |at| {
            let near = |ends: &[Point]| to_segment(at, ends[0], ends[1]);
            points.windows(2).map(near).fold(f32::MAX, f32::min) - width / 2.0
        });
    }

    /// A soft dark rim around a rectangle that is drawn afterwards.
    pub(super) fn shadow(&mut self, area: Rect, radius: f32, reach: f32, strength: f32) {
        let dropped = Rect { top: area.top + reach * 0.3, ..area };
        self.paint_over(dropped.inset(-reach), |at, under| {
            let fade = (1.0 - dropped.distance(radius, at) / reach).clamp(0.0, 1.0);
            mix(under, [8, 10, 22], strength * fade * fade)
        });
    }

    /// Camera grain: each pixel gets lighter or darker by up to `amount`, in all channels alike.
    pub(super) fn grain(&mut self, area: Rect, seed: u32, amount: f32) {
        self.paint_over(area, |(x, y), under| {
            // Pairs of pixels, laid like bricks: a camera's grain is coarser than one pixel.
            let (column, row) = (x as u32, y as u32);
            let bits = noise::hash((column + row % 2) / 2, row, seed);
            let light = (noise::unit(bits) + noise::unit(bits.rotate_left(16)) - 1.0) * amount;
            under.map(|channel| to_byte(f32::from(channel) + light))
        });
    }
}

/// `share` 0 is all `from`, 1 is all `to`; anything beyond is cut off.
pub(super) fn mix(from: Color, to: Color, share: f32) -> Color {
    let share = share.clamp(0.0, 1.0);
    std::array::from_fn(|channel| {
        let (from, to) = (f32::from(from[channel]), f32::from(to[channel]));
        to_byte(from + (to - from) * share)
    })
}

pub(super) fn length(x: f32, y: f32) -> f32 {
    (x * x + y * y).sqrt()
}

fn to_byte(value: f32) -> u8 {
    (value + 0.5).clamp(0.0, 255.0) as u8
}

/// The whole pixels of `start..start + length`, cut to `0..limit`.
fn span(start: f32, length: f32, limit: u32) -> std::ops::Range<usize> {
    let cut = |edge: f32| edge.clamp(0.0, limit as f32) as usize;
    cut(start.floor())..cut((start + length).ceil())
}

fn to_segment((x, y): Point, from: Point, to: Point) -> f32 {
    let (along_x, along_y) = (to.0 - from.0, to.1 - from.1);
    let squared = (along_x * along_x + along_y * along_y).max(f32::EPSILON);
    let share = (((x - from.0) * along_x + (y - from.1) * along_y) / squared).clamp(0.0, 1.0);
    length(x - from.0 - share * along_x, y - from.1 - share * along_y)
}
