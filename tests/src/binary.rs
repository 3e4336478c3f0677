//! Finds the `attache` binary, building it first.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The `attache` binary of this build: same target directory, same profile. It is built at the first call.
///
/// `ATTACHE_BIN` names another one to test instead, for example the one of a package.
///
/// # Panics
/// Where it does not build.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| std::env::var_os("ATTACHE_BIN").map_or_else(build, PathBuf::from))
}

/// Cargo gives a test the paths of its own package's binaries only, so the command line is built by asking cargo.
fn build() -> PathBuf {
    let (target_dir, profile) = this_build();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| env!("CARGO").into());
    let output = Command::new(cargo)
        .args(["build", "--package", "attache", "--bin", "attache", "--message-format", "json-render-diagnostics"])
        .args(["--profile", &profile, "--target-dir"])
        .arg(target_dir)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs, since it runs this test");
    let messages = String::from_utf8_lossy(&output.stdout);
    let mut built = messages.lines().filter_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_ours = message["reason"] == "compiler-artifact" && message["target"]["name"] == "attache";
        is_ours.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    });
    match built.next_back() {
        Some(path) if output.status.success() => path,
        _ => panic!("attache does not build:\n{}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The target directory and the profile that this test was built with: it stands in `<target>/<profile>/deps`.
fn this_build() -> (PathBuf, String) {
    let test = std::env::current_exe().expect("a running program has a path");
    let profile_dir = test
        .ancestors()
        .find(|dir| dir.ends_with("deps"))
        .and_then(Path::parent)
        .expect("cargo builds tests into a directory called deps");
    let target_dir = profile_dir.parent().expect("the profile's directory is in the target directory");
    let profile = match profile_dir.file_name().and_then(|name| name.to_str()) {
        None | Some("debug") => "dev",
        Some(other) => other,
    };
    (target_dir.to_owned(), profile.to_owned())
}
