//! The profiles that are built in.

use std::sync::LazyLock;

use super::{Profiles, text};

const TEXTS: [(&str, &str); 16] = [
    ("anthropic", include_str!("builtin/anthropic.toml")),
    ("anthropic-bedrock", include_str!("builtin/anthropic-bedrock.toml")),
    ("anthropic-vertex", include_str!("builtin/anthropic-vertex.toml")),
    ("azure-openai", include_str!("builtin/azure-openai.toml")),
    ("bedrock-converse", include_str!("builtin/bedrock-converse.toml")),
    ("deepseek", include_str!("builtin/deepseek.toml")),
    ("gemini", include_str!("builtin/gemini.toml")),
    ("gemini-2", include_str!("builtin/gemini-2.toml")),
    ("mistral", include_str!("builtin/mistral.toml")),
    ("ollama", include_str!("builtin/ollama.toml")),
    ("openai-chat", include_str!("builtin/openai-chat.toml")),
    ("openai-compatible", include_str!("builtin/openai-compatible.toml")),
    ("openai-responses", include_str!("builtin/openai-responses.toml")),
    ("text-only", include_str!("builtin/text-only.toml")),
    ("vertex-gemini", include_str!("builtin/vertex-gemini.toml")),
    ("xai", include_str!("builtin/xai.toml")),
];

static BUILTIN: LazyLock<Profiles> = LazyLock::new(|| {
    let read = |(_, profile): &(&str, &str)| text::read(profile, |id| Ok(text_of(id).unwrap_or_default()));
    TEXTS.iter().map(|profile| read(profile).expect("a test reads every built-in profile")).collect()
});

/// The text of one of them.
pub(super) fn text_of(id: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(name, _)| *name == id).map(|(_, text)| *text)
}

impl Profiles {
    /// The routes that are known without a file.
    #[must_use]
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }
}
