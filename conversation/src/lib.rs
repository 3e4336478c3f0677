//! A conversation log that holds references instead of pictures, and the pass that renders it for a model.
