//! One file a command.

pub(crate) mod append;
pub(crate) mod attach;
pub(crate) mod check;
pub(crate) mod evidence;
pub(crate) mod generate;
pub(crate) mod mcp;
pub(crate) mod profiles;
pub(crate) mod render;
pub(crate) mod show;
pub(crate) mod sweep;
pub(crate) mod view;
pub(crate) mod withhold;
