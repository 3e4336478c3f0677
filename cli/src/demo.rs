//! The `attache demo` command: the whole loop on pictures it draws itself.

#[cfg_attr(not(test), expect(dead_code, reason = "the command that shows these pictures is not written yet"))]
mod pictures;

use std::process::ExitCode;

use crate::args::DemoArgs;
use crate::output::{Failure, Output};

pub(crate) async fn run(_args: DemoArgs, _output: Output) -> Result<ExitCode, Failure> {
    Err(Failure::operation("unexpected_error", "the demo is being written"))
}
