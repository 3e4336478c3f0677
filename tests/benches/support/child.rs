//! The same program once more, for what belongs to a whole process: its peak memory, or the cores it may use.

use std::env;
use std::process::{Command, Stdio};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

const FLAG: &str = "--child";

/// The arguments of a child process; `None` in the bench itself.
pub(crate) fn arguments() -> Option<Vec<String>> {
    let mut arguments = env::args().skip_while(|argument| argument != FLAG);
    arguments.next().map(|_| arguments.collect())
}

/// Runs this program as a child and returns the numbers it printed.
///
/// # Panics
/// Where the child fails or prints anything else.
pub(crate) fn numbers(arguments: &[&str]) -> Vec<u64> {
    let output = command(arguments).stderr(Stdio::inherit()).output().expect("a child starts");
    assert!(output.status.success(), "the child {arguments:?} failed");
    let text = String::from_utf8(output.stdout).expect("a child prints numbers");
    text.split_whitespace().map(|number| number.parse().expect("a child prints numbers")).collect()
}

/// Runs this program as a child that prints for itself.
///
/// # Panics
/// Where the child fails.
pub(crate) fn printing(arguments: &[&str]) {
    let status = command(arguments).status().expect("a child starts");
    assert!(status.success(), "the child {arguments:?} failed");
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::current_exe().expect("a running program has a file"));
    command.arg(FLAG).args(arguments);
    command
}

/// Leaves this process, which has started no thread yet, one of its cores.
pub(crate) fn keep_one_core() {
    let all = sched_getaffinity(None).expect("a process may ask for its cores");
    let first = (0..CpuSet::MAX_CPU).find(|&core| all.is_set(core)).expect("a process has a core");
    let mut one = CpuSet::new();
    one.set(first);
    sched_setaffinity(None, &one).expect("a process may give up cores");
}

/// The most memory this process ever had resident, in bytes.
pub(crate) fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has /proc");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel counts peak memory");
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("the kernel counts in kB");
    kibibytes * 1024
}
