//! Images as evidence: `attache image …`, and the guided commands over it.

mod config;
mod guided;
mod native;
mod raw;
mod reply;
mod text;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use attache_evidence::{EstimateOptions, Options, RunOptions};

pub(crate) use guided::{inspect, preview, read};
pub(crate) use raw::{image, usage};
pub(crate) use text::shown;

use crate::args::evidence::{BundleFlags, Reading};
use crate::progress::Progress;
use config::Config;

/// What one call reads with.
struct Session {
    config: Config,
    max_pixels: u64,
    progress: Mutex<Progress>,
}

impl Session {
    fn new(reading: &Reading) -> Self {
        let config = Config::load(reading.config.as_deref());
        Self { config, max_pixels: reading.max_pixels, progress: Mutex::new(Progress::new("reading")) }
    }

    /// Calls `work` with the options of this call; the bar is gone when it returns.
    fn with<T>(&self, work: impl FnOnce(&Options<'_>) -> T) -> T {
        let report = |done, total| self.progress.lock().unwrap_or_else(PoisonError::into_inner).set(done, total);
        let options = Options::default()
            .with_max_pixels(self.max_pixels)
            .with_inbox(self.config.inbox.as_deref())
            .with_progress(&report);
        let result = work(&options);
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Progress::new("reading");
        result
    }

    fn estimate_options<'a>(&'a self, out_words: i64, agent_model: Option<&'a str>) -> EstimateOptions<'a> {
        let mut asked = EstimateOptions::default();
        asked.out_words = out_words;
        asked.agent_model = agent_model;
        asked.pricing = self.config.pricing.clone();
        asked.native = native::counters(agent_model.unwrap_or(asked.pricing.active()));
        asked
    }
}

fn run_options(flags: &BundleFlags) -> RunOptions {
    let mut asked = RunOptions::default();
    asked.workdir = flags.workdir.as_deref().filter(|path| !path.is_empty()).map(PathBuf::from);
    asked.reproducible = flags.reproducible;
    asked
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    if text::shown(&text) == text {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    // What a terminal would obey is spelled out.
    let byte = |byte: u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    format!("$'{}'", text.bytes().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_a_shell() {
        for (path, expect) in [
            ("/a/b.png", "/a/b.png"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("a\n'\x1b", r"$'a\x0a\'\x1b'"),
        ] {
            assert_eq!(quoted(Path::new(path)), expect);
        }
    }
}
