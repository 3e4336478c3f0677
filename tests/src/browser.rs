//! Pages in a real browser, without a window.

use std::path::Path;

use crate::{Call, Finished};

/// It starts as root, asks for nothing by itself and shows colours as they are.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--disable-dev-shm-usage",
];

fn open(scratch: &Path, page: &Path, flags: &[&str]) -> Finished {
    let profile = tempfile::tempdir_in(scratch).expect("a profile can be made");
    let call = Call::new("chromium").args(FLAGS).args(flags);
    let profile_flag = format!("--user-data-dir={}", profile.path().display());
    let run = call.arg(profile_flag).arg(format!("file://{}", page.display())).run();
    run.expect_code(0);
    run
}

/// The page as the browser has it after everything has loaded. `scratch` is a folder for what the browser keeps.
///
/// # Panics
/// Where the browser fails.
pub fn dom(scratch: &Path, page: &Path) -> String {
    open(scratch, page, &["--dump-dom"]).text().to_owned()
}

/// A PNG of the page in a window `width` pixels wide, and high enough for the whole of it; with these flags too. A copy stays in the
/// folder that ATTACHE_KEEP_SCREENSHOTS names: a look at the pages helps whoever changes them.
///
/// # Panics
/// Where the browser fails.
pub fn screenshot(scratch: &Path, page: &Path, width: u32, flags: &[&str]) -> Vec<u8> {
    let file = scratch.join("screenshot.png");
    let (size, target) = (format!("--window-size={width},9000"), format!("--screenshot={}", file.display()));
    open(scratch, page, &[&[&*size, &*target], flags].concat());
    if let Some(keep) = std::env::var_os("ATTACHE_KEEP_SCREENSHOTS") {
        let name = page.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{name}-{width}{}.png", flags.concat().replace(['-', '='], ""));
        std::fs::copy(&file, Path::new(&keep).join(name)).expect("the screenshot can be kept");
    }
    std::fs::read(&file).expect("there is a screenshot")
}
