//! A progress bar on stderr, for people who wait longer than a second.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that takes less than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how much of the work is done, on a terminal and only once it has taken a while.
pub(crate) struct Progress {
    what: &'static str,
    begun: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(what: &'static str) -> Self {
        Self { what, begun: Instant::now(), wanted: std::io::stderr().is_terminal(), bar: None }
    }

    /// Says how many bytes of how many are done.
    pub(crate) fn set(&mut self, done: u64, total: u64) {
        if !self.wanted || self.begun.elapsed() < PATIENCE {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| bar(self.what, total));
        bar.set_length(total);
        bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(what: &'static str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} [{wide_bar}] {bytes}/{total_bytes} {eta}")
        .expect("the template is fixed and valid")
        .progress_chars("=> ");
    ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr()).with_style(style).with_message(what)
}
