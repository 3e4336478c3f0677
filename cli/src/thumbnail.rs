//! Small pictures of images, for the pages of a bundle and of a conversation.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageError, ImageReader, Limits};

/// The longest side of a small picture, in pixels: sharp where it is shown at up to 320 on a screen of one and a half.
const LONGEST: u32 = 480;

/// A small picture is looked at, not measured: 85 of 100 shows no seams.
const JPEG_QUALITY: u8 = 85;

/// A PNG or JPEG of the same shape that is at most [`LONGEST`] on either side, and no larger than the image. The pixels are those that
/// are stored: a rotation that the file asks for is not applied.
pub(crate) fn shrink(bytes: &[u8]) -> Result<Vec<u8>, String> {
    // The budget is one of pixels, and was kept before.
    shrink_within(bytes, Limits::no_limits())
}

/// The same, where what the decoder takes is limited too.
pub(crate) fn shrink_within(bytes: &[u8], limits: Limits) -> Result<Vec<u8>, String> {
    let small = read(bytes, limits).map_err(|error| format!("it could not be drawn: {error}"))?;
    encode(&small).map_err(|error| format!("it could not be encoded: {error}"))
}

fn read(bytes: &[u8], limits: Limits) -> Result<DynamicImage, ImageError> {
    let mut reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?;
    reader.limits(limits);
    let image = reader.decode()?;
    let image = if image.width().max(image.height()) > LONGEST { image.thumbnail(LONGEST, LONGEST) } else { image };
    // Browsers need no more, and the encoders take these two.
    Ok(if image.color().has_alpha() { image.into_rgba8().into() } else { image.into_rgb8().into() })
}

/// Whichever is smaller. Only a PNG can be seen through.
fn encode(small: &DynamicImage) -> Result<Vec<u8>, ImageError> {
    let mut png = Vec::new();
    small.write_with_encoder(PngEncoder::new_with_quality(&mut png, CompressionType::Default, FilterType::Adaptive))?;
    if small.color().has_alpha() {
        return Ok(png);
    }
    let mut jpeg = Vec::new();
    small.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, JPEG_QUALITY))?;
    Ok(if jpeg.len() < png.len() { jpeg } else { png })
}

#[cfg(test)]
mod tests {
    use image::metadata::Orientation;
    use image::{ImageDecoder as _, ImageFormat, Luma, LumaA, Rgb, RgbImage, Rgba};

    use super::*;

    fn bytes(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        image.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn the_shape_is_kept_and_nothing_grows() {
        for ((width, height), expect) in [
            ((960, 480), (480, 240)),
            ((480, 960), (240, 480)),
            ((481, 481), (480, 480)),
            ((480, 3), (480, 3)),
            ((8, 4), (8, 4)),
            ((1, 1), (1, 1)),
            ((5000, 1), (480, 1)),
            ((1, 5000), (1, 480)),
        ] {
            let image = RgbImage::from_pixel(width, height, Rgb([200, 30, 90])).into();
            for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP] {
                let small = image::load_from_memory(&shrink(&bytes(&image, format)).unwrap()).unwrap();
                assert_eq!((small.width(), small.height()), expect, "{format:?} of {width}x{height}");
            }
        }
    }

    #[test]
    fn every_form_of_pixels_is_drawn() {
        let (width, height) = (600, 300);
        let forms: [DynamicImage; 7] = [
            image::ImageBuffer::from_pixel(width, height, Luma([7_u8])).into(),
            image::ImageBuffer::from_pixel(width, height, LumaA([7_u8, 9])).into(),
            image::ImageBuffer::from_pixel(width, height, Rgba([1_u8, 2, 3, 0])).into(),
            image::ImageBuffer::from_pixel(width, height, Luma([700_u16])).into(),
            image::ImageBuffer::from_pixel(width, height, LumaA([700_u16, 9])).into(),
            image::ImageBuffer::from_pixel(width, height, Rgb([1_u16, 2, 3])).into(),
            image::ImageBuffer::from_pixel(width, height, Rgba([1_u16, 2, 3, 4])).into(),
        ];
        for form in forms {
            let small = image::load_from_memory(&shrink(&bytes(&form, ImageFormat::Png)).unwrap()).unwrap();
            assert_eq!((small.width(), small.height()), (480, 240), "{:?}", form.color());
            assert_eq!(small.color().has_alpha(), form.color().has_alpha(), "{:?}", form.color());
        }
    }

    #[test]
    fn flat_colours_stay_and_photographs_are_small() {
        let flat = RgbImage::from_pixel(900, 600, Rgb([200, 30, 90])).into();
        let small = image::load_from_memory(&shrink(&bytes(&flat, ImageFormat::Png)).unwrap()).unwrap();
        assert!(small.into_rgb8().pixels().all(|pixel| *pixel == Rgb([200, 30, 90])));
        // As noisy as a photograph in the dark.
        let noise = RgbImage::from_fn(960, 960, |x, y| {
            let mixed = x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b);
            Rgb([(mixed >> 13) as u8, (mixed >> 17) as u8, (mixed >> 21) as u8])
        });
        let small = shrink(&bytes(&noise.into(), ImageFormat::Png)).unwrap();
        assert_eq!(image::guess_format(&small).unwrap(), ImageFormat::Jpeg);
    }

    /// Hash and dimensions speak of the pixels as they are stored, and so does what is shown.
    #[test]
    fn a_rotation_is_not_applied() {
        let jpeg = bytes(&RgbImage::from_pixel(40, 20, Rgb([200, 30, 90])).into(), ImageFormat::Jpeg);
        // One entry: the orientation, which is a quarter turn.
        let exif = b"\xff\xe1\0\x22Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
        let turned = [&jpeg[..2], exif, &jpeg[2..]].concat();
        let mut decoder = ImageReader::new(Cursor::new(&turned)).with_guessed_format().unwrap().into_decoder().unwrap();
        assert_eq!(decoder.orientation().unwrap(), Orientation::Rotate90);
        let small = shrink(&turned).unwrap();
        let shown = image::load_from_memory(&small).unwrap();
        assert_eq!((shown.width(), shown.height()), (40, 20));
        assert!(!small.windows(4).any(|window| window == b"Exif"), "and no browser applies it");
    }

    #[test]
    fn what_is_no_image_has_a_reason() {
        assert!(shrink(b"no image").unwrap_err().starts_with("it could not be drawn: "));
    }
}
