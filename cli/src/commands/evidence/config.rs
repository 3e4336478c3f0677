//! The settings file: where inputs may lie, which model is asked, and what it costs.

use std::path::{Path, PathBuf};

use attache_evidence::Pricing;
use serde_json::Value;

/// What the settings come to. Whatever is missing or not what it should be has its default.
#[derive(Debug, Default)]
pub(super) struct Config {
    /// Where a relative name is looked for second.
    pub(super) inbox: Option<PathBuf>,
    /// The model of the guided commands.
    pub(super) agent_model: Option<String>,
    /// Prices.
    pub(super) pricing: Pricing,
}

impl Config {
    /// Reads the file that is named, or else the one in `ATTACHE_CONFIG`.
    pub(super) fn load(named: Option<&Path>) -> Self {
        let from_env = || std::env::var_os("ATTACHE_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
        let Some(path) = named.map(Path::to_owned).or_else(from_env) else {
            return Self::default();
        };
        let read = std::fs::read(&path).map_err(|error| error.to_string());
        match read.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string())) {
            Ok(document) => Self::of(&document),
            Err(why) => {
                tracing::warn!("{} is not used, and built-in prices are: {why}", path.display());
                Self::default()
            }
        }
    }

    fn of(document: &Value) -> Self {
        let text = |key: &str| document.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
        Self {
            inbox: text("inbox_dir").map(PathBuf::from),
            agent_model: text("agent_model").map(str::to_owned),
            pricing: Pricing::from_json(document).unwrap_or_default(),
        }
    }
}
