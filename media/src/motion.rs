use crate::container;
use crate::sniff;

/// Whether a file holds one picture or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Motion {
    /// One picture.
    Still,
    /// Several, or one that viewers show instead of another.
    Animated {
        /// How many pictures the file holds, where it says so or where they could be counted. Hidden ones count.
        frames: Option<u64>,
    },
}

/// Looks for further pictures in a file: animation frames, a default image that an animation leaves out, and images that follow
/// the first.
///
/// - A PNG is animated if its `acTL` chunk promises two frames or more, or if its default image is no part of the animation.
/// - A WebP is animated if it has an `ANIM` chunk or says that it is animated.
/// - A GIF is animated if it has two images or more.
/// - A JPEG is animated if another JPEG follows it, as in multi-picture files (MPO) of stereo cameras and in
///   photographs with a gain map.
///
/// Only the container is looked at, and only as far as it is sound: of damaged bytes this says what can be seen, and
/// [`verify`](crate::verify()) says that they are damaged. Bytes of none of the four types are `Still`.
///
/// ```
/// use attache_media::{Motion, motion};
///
/// assert_eq!(motion(b"\x89PNG\r\n\x1a\n"), Motion::Still);
/// ```
pub fn motion(bytes: &[u8]) -> Motion {
    match sniff(bytes) {
        Some(media_type) => container::motion(bytes, media_type),
        None => Motion::Still,
    }
}

#[cfg(test)]
#[path = "motion_tests.rs"]
mod tests;
