//! The render pass: which images a request shows, and the request's messages themselves.
//!
//! The pass never changes the log. It has two forms over one choice: values (for messages a host holds itself) and
//! bytes (for a stored conversation, copied from the log into the request body).

mod body;
mod fill;
mod policy;
mod resolve;
mod values;

pub(crate) use body::Body;
pub use body::Frame;
pub use policy::{Ageing, RenderOptions};
pub(crate) use resolve::{Candidate, Outcome, resolve};
pub use values::{Withheld, render, render_unavailable, render_with};
