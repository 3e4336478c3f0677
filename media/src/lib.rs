//! From bytes alone: an image's type, dimensions and soundness.
