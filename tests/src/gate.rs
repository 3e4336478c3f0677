//! Which tests run here: slow ones only where they are asked for, others only where the machine allows them.

use std::path::PathBuf;

/// Are the slow tests asked for? Says so if not.
pub fn slow() -> bool {
    let wanted = std::env::var_os("ATTACHE_SLOW_TESTS").is_some_and(|value| value == "1");
    if !wanted {
        println!("skipped: set ATTACHE_SLOW_TESTS=1");
    }
    wanted
}

/// Says why a test does not run on this machine.
pub fn skip(why: &str) {
    println!("skipped: {why}");
}

/// Do these programs exist, and may we do what only root may? Says what is missing.
pub fn root_and(programs: &[&str]) -> bool {
    if !rustix::process::geteuid().is_root() {
        skip("needs root");
        return false;
    }
    have(programs)
}

/// Do these programs exist? Says which does not.
pub fn have(programs: &[&str]) -> bool {
    let missing: Vec<_> = programs.iter().filter(|program| find(program).is_none()).collect();
    if !missing.is_empty() {
        skip(&format!("needs {missing:?}"));
    }
    missing.is_empty()
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The tools of file systems stand where only root looks.
    let dirs = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    dirs.map(|dir| dir.join(program)).find(|path| path.is_file())
}
