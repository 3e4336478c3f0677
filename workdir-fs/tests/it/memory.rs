//! What a large file costs in memory, measured in a process of its own.
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::process::Command;

use attache_workdir_fs::{Cancel, FileSystem as _, LocalFs, WorkDir};

/// Set in the process that is measured.
const MEASURED: &str = "ATTACHE_MEASURED";

/// The most memory that process may ever have used, in KiB.
const MAX_PEAK: u64 = 32 << 10;

#[test]
fn a_gigabyte_is_streamed_in_little_memory() {
    if std::env::var_os(MEASURED).is_some() {
        return measured();
    }
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "memory::a_gigabyte_is_streamed_in_little_memory", "--nocapture"])
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
    // The rest is a hole, whose zeros are text past the first 8192 bytes; the ends are not ASCII.
    file.write_all_at("ü".repeat(4096).as_bytes(), 0).unwrap();
    file.write_all_at("😀".as_bytes(), size - 4).unwrap();
    let fs = LocalFs::new(WorkDir::open(folder.path()).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let streamed = runtime.block_on(async {
        let target = fs.resolve("large", None).await.unwrap();
        let mut stream = fs.stream_text(&target, &Cancel::new()).await.unwrap();
        let mut streamed = 0;
        while let Some(piece) = stream.next().await.unwrap() {
            streamed += piece.len() as u64;
        }
        streamed
    });
    assert_eq!(streamed, size);
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
