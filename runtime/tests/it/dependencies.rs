//! What an embedder's build carries.

use std::collections::BTreeSet;
use std::process::Command;

/// The crates that a build of this crate alone pulls in, with itself.
fn crates(features: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--offline", "--package", "attache-runtime", "--no-default-features"]);
    cargo.args(["--edges", "normal", "--prefix", "none", "--format", "{p}"]).args(features);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

const DECODERS: [&str; 7] = ["gif", "image", "image-webp", "jpeg-decoder", "png", "zune-core", "zune-jpeg"];

const NEVER: [&str; 11] = [
    "axum",
    "chrono",
    "clap",
    "hyper",
    "indicatif",
    "openssl-sys",
    "regex",
    "reqwest",
    "rmcp",
    "tempfile",
    "tracing-subscriber",
];

#[test]
fn an_embedder_without_features_carries_little() {
    let crates = crates(&[]);
    assert!(crates.contains("attache-runtime") && crates.contains("attache-media"));
    for name in DECODERS.into_iter().chain(NEVER).chain(["toml"]) {
        assert!(!crates.contains(name), "{name} came in: {crates:?}");
    }
    assert!(crates.len() <= MOST_CRATES, "{} crates: {crates:?}", crates.len());
}

/// 70 were counted, ours included; the rest is slack for what our dependencies may come to need.
const MOST_CRATES: usize = 71;

#[test]
fn decoders_come_with_the_feature_that_needs_them() {
    let crates = crates(&["--features", "prepare"]);
    for name in ["gif", "image-webp", "png", "zune-jpeg"] {
        assert!(crates.contains(name), "{name} is missing: {crates:?}");
    }
    for name in NEVER.into_iter().chain(["image"]) {
        assert!(!crates.contains(name), "{name} came in: {crates:?}");
    }
}

#[test]
fn profiles_bring_toml_and_little_else() {
    let without = crates(&[]);
    let brought: Vec<_> = crates(&["--features", "profiles"]).difference(&without).cloned().collect();
    assert!(brought.contains(&"toml".to_owned()) && brought.len() <= MOST_FOR_PROFILES, "{brought:?}");
}

/// Six were counted: toml, its parser, its dates and spans, and where an error is.
const MOST_FOR_PROFILES: usize = 7;
