//! What reading from a large file costs in memory, measured in a process of its own.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::process::Command;
use std::sync::Arc;

use attache_runtime::workdir_fs::LocalFs;
use attache_runtime::{CallContext, Cancel, FileSession, FileToolOptions, ToolSet, WorkDir};
use serde_json::json;

/// Set in the process that is measured.
const MEASURED: &str = "ATTACHE_MEASURED";

/// The most memory that process may ever have used, in KiB.
const MAX_PEAK: u64 = 32 << 10;

#[test]
fn a_window_of_a_gigabyte_takes_little_memory() {
    if std::env::var_os(MEASURED).is_some() {
        return measured();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::a_window_of_a_gigabyte_takes_little_memory", "--nocapture"])
        .env(MEASURED, "1")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success() && out.contains("1 passed"), "{out}{err}");
}

fn measured() {
    let folder = tempfile::tempdir().unwrap();
    let size = 1 << 30;
    let file = File::create(folder.path().join("large")).unwrap();
    file.set_len(size).unwrap();
    // The rest is a hole, whose zeros are text past the first 8192 bytes: one line of half a gigabyte, and another.
    file.write_all_at("line\n".repeat(2000).as_bytes(), 0).unwrap();
    file.write_all_at(b"\n", size / 2).unwrap();
    file.write_all_at(b"\nend", size - 4).unwrap();
    let set = ToolSet::new(Arc::new(LocalFs::new(WorkDir::open(folder.path()).unwrap())), FileToolOptions::default());
    let (session, cancel) = (FileSession::new(), Cancel::new());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for (offset, footer) in [
        (1, "(Showing lines 1-2000 of 2003. Use offset=2001 to continue.)"),
        (2001, "(End of file - total 2003 lines)"),
    ] {
        let input = json!({"file_path": "large", "offset": offset});
        let context = CallContext::new(&session, &cancel);
        let output = runtime.block_on(async { set.tools().call("read", &input, context).await });
        assert!(output.text.contains(footer), "{}", &output.text[output.text.len() - 200..]);
    }
    let peak = peak();
    assert!(peak < MAX_PEAK, "{peak} KiB");
    println!("peak: {peak} KiB");
}

/// The most memory this process has used, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
