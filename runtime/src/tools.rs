//! The tools by which a model reads and changes files, and looks at pictures.
//!
//! A call goes through [`set`] to [`read`], [`change`] or [`image`]; [`policy`] says what the session has seen, and [`saved`] keeps it with the
//! conversation. Files are
//! reached through the seam alone.

mod args;
mod change;
mod diff;
pub(crate) mod error;
mod image;
mod image_text;
mod lang;
mod options;
mod policy;
mod read;
mod read_meta;
mod saved;
mod schedule;
mod session;
mod set;
mod spec;
#[cfg(test)]
mod testing;
mod window;

pub use diff::{DiffMeta, Hunk};
pub use options::{FileToolOptions, ReadLimits};
pub use policy::{Observation, Observations};
pub use read_meta::{ReadLine, ReadMeta, read_view};
pub(crate) use saved::call_meta;
pub use saved::{CallMeta, call_metas};
pub(crate) use schedule::{groups, run_group};
pub use session::FileSession;
pub use set::{CallContext, FileTools, ToolSet};
pub use spec::Scheduling;

use attache_workdir_fs::{Cancel, FileSystem, Target, Version};

/// What a call works with.
#[derive(Clone, Copy, Debug)]
struct Env<'a> {
    files: &'a dyn FileSystem,
    options: &'a FileToolOptions,
    session: Option<&'a FileSession>,
    cwd: Option<&'a str>,
    cancel: &'a Cancel,
}

impl Env<'_> {
    /// Tells the policy, where there is one.
    fn observe(&self, target: &Target, observation: Observation) {
        if let (true, Some(session)) = (self.options.policy, self.session) {
            session.observe(target.key(), observation);
        }
    }

    fn observe_text(&self, target: &Target, version: Version) {
        self.observe(target, Observation::Present { version });
    }
}
