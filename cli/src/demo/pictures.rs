//! The demo's pictures, drawn here so that nothing has to be bundled or fetched.
//!
//! Each one carries a big number in its pixels, so that a person or a model can tell which picture it is looking at without
//! trusting a file name. Drawing uses seeded noise and exact arithmetic only (no sine, no power): the same arguments give the
//! same pixels on every machine, and the same bytes for the same versions of the encoders.

mod canvas;
mod chart;
mod digits;
mod document;
mod map;
mod noise;
mod photo;
mod screenshot;
mod sketch;
#[cfg(test)]
mod tests;

use image::codecs::{
    gif::GifEncoder,
    jpeg::JpegEncoder,
    png::{CompressionType, FilterType, PngEncoder},
    webp::WebPEncoder,
};
use image::{ExtendedColorType, ImageEncoder as _, ImageError, RgbImage};

use canvas::{Canvas, Color, Ink, Rect};

/// The largest number a picture can carry: three digits.
pub(crate) const MAX_NUMBER: u32 = 999;

/// 94 of 100 keeps the edges of the digits clean and costs about what a camera spends.
const JPEG_QUALITY: u8 = 94;

/// 1 (best palette, slowest) to 30; 10 is the encoder's own advice.
const GIF_SPEED: i32 = 10;

/// Draws one picture and encodes it.
///
/// The number is at most [`MAX_NUMBER`]; it is drawn in the pixels and also seeds the scene, so that two numbers give two scenes.
/// The result is a single still image of [`Look::size`] pixels, without metadata, transparency or animation.
pub(crate) fn picture(kind: Kind, number: u32, look: Look) -> Result<Vec<u8>, Error> {
    if number > MAX_NUMBER {
        return Err(Error::NumberTooLarge { number });
    }
    encode(kind, &draw(number, look)).map_err(|source| Error::Encode { kind, source })
}

/// The file type of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lossless, 8-bit RGB.
    Png,
    /// Baseline, quality 94.
    Jpeg,
    /// One frame of up to 256 colours.
    Gif,
    /// Lossless.
    Webp,
}

impl Kind {
    /// Every kind, for loops.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::Webp];

    /// The media type, such as `image/png`.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// The usual file extension, without the dot.
    #[cfg(test)]
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpg",
            Self::Gif => "gif",
            Self::Webp => "webp",
        }
    }
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// A bar chart; small in bytes.
    Chart,
    /// A document with a stamp, upright; small in bytes.
    Document,
    /// A map of hills and water; several hundred kB.
    Map,
    /// A sunset with the grain of a real camera; several hundred kB.
    Photo,
    /// A desktop with a window and a photo in it; several hundred kB.
    Screenshot,
    /// A line drawing of 300 × 200 pixels, the smallest.
    Sketch,
}

impl Look {
    /// Every look, for loops.
    #[cfg(test)]
    pub(crate) const ALL: [Self; 6] =
        [Self::Chart, Self::Document, Self::Map, Self::Photo, Self::Screenshot, Self::Sketch];

    /// A word that suits a file name.
    #[cfg(test)]
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Chart => "chart",
            Self::Document => "document",
            Self::Map => "map",
            Self::Photo => "photo",
            Self::Screenshot => "screenshot",
            Self::Sketch => "sketch",
        }
    }

    /// Width and height in pixels, the same for every number and kind.
    pub(crate) fn size(self) -> (u32, u32) {
        match self {
            Self::Chart => (960, 600),
            Self::Document => (480, 640),
            Self::Map => (960, 720),
            Self::Photo | Self::Screenshot => (1280, 800),
            Self::Sketch => (300, 200),
        }
    }

    /// Where the number sits and how it is painted.
    fn plate(self) -> Plate {
        const NIGHT: Color = [16, 20, 32];
        const WHITE: Color = [255, 255, 255];
        const STAMP: Color = [176, 24, 38];
        let (area, ground, ink) = match self {
            Self::Chart => (chart::PLATE, Ink::solid([24, 34, 62]), WHITE),
            Self::Document => (document::PLATE, Ink::solid(WHITE), STAMP),
            Self::Map => (map::PLATE, Ink::solid(WHITE), NIGHT),
            Self::Photo => (photo::PLATE, Ink::new(NIGHT, 0.82), WHITE),
            Self::Screenshot => (screenshot::PLATE, Ink::new(NIGHT, 0.82), WHITE),
            Self::Sketch => (sketch::PLATE, Ink::solid(WHITE), [28, 30, 40]),
        };
        Plate { area, ground, ink }
    }
}

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The number has more than three digits.
    #[error("cannot draw {number}: a picture carries a number up to {MAX_NUMBER}")]
    NumberTooLarge {
        /// The number asked for.
        number: u32,
    },
    /// The encoder refused.
    #[error("cannot encode a picture as {}", kind.media_type())]
    Encode {
        /// The type asked for.
        kind: Kind,
        /// What the encoder said.
        source: ImageError,
    },
}

/// The plaque the number is drawn on; what lies under it never lowers the contrast.
struct Plate {
    area: Rect,
    ground: Ink,
    ink: Color,
}

impl Plate {
    fn paint(&self, canvas: &mut Canvas, number: u32) {
        self.paint_ground(canvas);
        digits::paint(canvas, self.area, number, Ink::solid(self.ink));
    }

    /// Everything but the number.
    fn paint_ground(&self, canvas: &mut Canvas) {
        let radius = self.area.height * 0.12;
        let rim = (self.area.height * 0.028).max(2.0);
        canvas.shadow(self.area, radius, self.area.height * 0.10, 0.35);
        canvas.rounded(self.area, radius, self.ground);
        canvas.frame(self.area.inset(rim * 1.5), radius - rim * 1.5, rim, Ink::solid(self.ink));
    }
}

fn draw(number: u32, look: Look) -> RgbImage {
    let (width, height) = look.size();
    let mut canvas = Canvas::new(width, height);
    match look {
        Look::Chart => chart::paint(&mut canvas, number),
        Look::Document => document::paint(&mut canvas, number),
        Look::Map => map::paint(&mut canvas, number),
        Look::Photo => photo::paint(&mut canvas, number),
        Look::Screenshot => screenshot::paint(&mut canvas, number),
        Look::Sketch => sketch::paint(&mut canvas, number),
    }
    look.plate().paint(&mut canvas, number);
    canvas.into_image()
}

fn encode(kind: Kind, image: &RgbImage) -> Result<Vec<u8>, ImageError> {
    let (width, height) = image.dimensions();
    let (pixels, color) = (image.as_raw(), ExtendedColorType::Rgb8);
    let mut out = Vec::new();
    match kind {
        Kind::Png => {
            PngEncoder::new_with_quality(&mut out, CompressionType::Default, FilterType::Adaptive)
                .write_image(pixels, width, height, color)?;
        }
        Kind::Jpeg => {
            JpegEncoder::new_with_quality(&mut out, JPEG_QUALITY).write_image(pixels, width, height, color)?;
        }
        // Dropping the encoder writes the trailer, so it must not outlive its statement.
        Kind::Gif => {
            GifEncoder::new_with_speed(&mut out, GIF_SPEED).encode(pixels, width, height, color)?;
        }
        Kind::Webp => {
            WebPEncoder::new_lossless(&mut out).write_image(pixels, width, height, color)?;
        }
    }
    Ok(out)
}
