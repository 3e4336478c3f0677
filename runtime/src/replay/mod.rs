//! A driver that answers from a script, for tests and replays.
//!
//! [`script`] is what it goes by, [`quote`] puts parts of the request into it, [`driver`] keeps the positions.

mod driver;
mod quote;
mod script;

pub use driver::{Recorded, ScriptedDriver};
pub use script::{Script, ScriptEntry, ScriptError};
