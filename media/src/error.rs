use crate::MediaType;

/// Why bytes are not an image that may be passed on.
///
/// The text is shown to models in refusal notes. It is one line, and the only thing it takes from the file are numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// The bytes are not a whole, sound image of the type.
    #[error("not a sound {media_type}: {reason}")]
    Undecodable {
        /// The type the bytes were checked as.
        media_type: MediaType,
        /// What is wrong, in words, with offsets and sizes in bytes.
        reason: String,
    },
    /// The header promises more pixels than the budget allows. Nothing was decoded.
    #[error("{width}x{height} is {} pixels, and at most {limit} pixels are decoded", u64::from(*width) * u64::from(*height))]
    TooManyPixels {
        /// Width in pixels, as the header claims it.
        width: u32,
        /// Height in pixels, as the header claims it.
        height: u32,
        /// The budget that was exceeded, in pixels.
        limit: u64,
    },
}

impl MediaError {
    /// The stable code for notes and traces: `undecodable` or `too_many_pixels`.
    pub const fn code(&self) -> &'static str {
        match self {
            MediaError::Undecodable { .. } => "undecodable",
            MediaError::TooManyPixels { .. } => "too_many_pixels",
        }
    }
}

/// A reason on its way to [`MediaError::Undecodable`], before the type is put beside it.
pub(crate) type Reason = String;

/// `Err` with a formatted reason: the containers are full of them, and each should be one line.
macro_rules! fault {
    ($($message:tt)*) => {
        return Err(format!($($message)*))
    };
}
pub(crate) use fault;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_texts() {
        let undecodable =
            MediaError::Undecodable { media_type: MediaType::Png, reason: "it is 0 bytes long".to_owned() };
        assert_eq!(undecodable.code(), "undecodable");
        assert_eq!(undecodable.to_string(), "not a sound image/png: it is 0 bytes long");

        let too_many = MediaError::TooManyPixels { width: 65_535, height: 65_535, limit: 64_000_000 };
        assert_eq!(too_many.code(), "too_many_pixels");
        assert_eq!(too_many.to_string(), "65535x65535 is 4294836225 pixels, and at most 64000000 pixels are decoded");
    }
}
