//! Other people's clients, as real processes.

use std::path::{Path, PathBuf};
use std::process::Command;

use attache_tests::{binary, gate, pictures};
use serde_json::Value;

use crate::client::Place;
use crate::http::Server;

/// In the versions with which they were seen to work.
const PYTHON_CLIENT: &str = "mcp==2.3.0";
const INSPECTOR: &str = "@modelcontextprotocol/inspector@2.12.0";

/// A folder that is made once and kept with the build.
fn kept(name: &str, make: impl FnOnce(&Path)) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let ready = dir.join("ready");
    if !ready.exists() {
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        make(&dir);
        std::fs::write(ready, "").unwrap();
    }
    dir
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}:\n{stdout}\n{stderr}");
    stdout.into_owned()
}

#[test]
fn slow_the_python_client_talks_over_both_transports() {
    if !gate::slow() || !gate::have(&["python3"]) {
        return;
    }
    let env = kept("mcp-python", |dir| {
        run(Command::new("python3").args(["-m", "venv"]).arg(dir));
        run(Command::new(dir.join("bin/python")).args(["-m", "pip", "install", "--quiet", PYTHON_CLIENT]));
    });
    let place = Place::new();
    std::fs::write(place.work("a.png"), pictures::png(6, 5, 3)).unwrap();
    let server = Server::start(&place, &[]);
    let mut python = Command::new(env.join("bin/python"));
    python
        .args(["-c", include_str!("clients.py")])
        .arg(binary())
        .arg(place.work(""))
        .args([&server.url, &server.token]);
    assert_eq!(run(&mut python).trim(), "both talked");
    assert_eq!(server.stop(), Some(0));
}

#[test]
fn slow_the_inspector_reads_tools_results_and_resources() {
    if !gate::slow() || !gate::have(&["node", "npm"]) {
        return;
    }
    let dir = kept("mcp-inspector", |dir| {
        std::fs::write(dir.join("package.json"), r#"{"private":true}"#).unwrap();
        run(Command::new("npm").args(["install", "--silent", "--no-audit", "--no-fund", INSPECTOR]).current_dir(dir));
    });
    let place = Place::new();
    std::fs::write(place.work("a.txt"), "one\n").unwrap();
    std::fs::write(place.work("a.png"), pictures::png(6, 5, 3)).unwrap();
    let inspect = |arguments: &[&str]| -> Value {
        let mut inspector = Command::new(dir.join("node_modules/.bin/mcp-inspector"));
        inspector.arg("--cli").arg(binary()).args(["mcp", "--workdir"]).arg(place.work(""));
        inspector.arg("--conversation").arg(place.path("ctx")).args(arguments);
        serde_json::from_str(&run(&mut inspector)).unwrap()
    };
    let tools = inspect(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 4, "{tools}");
    let call = |tool: &str, path: &str| {
        inspect(&["--method", "tools/call", "--tool-name", tool, "--tool-arg", &format!("file_path={path}")])
    };
    assert_eq!(call("read", "a.txt")["structuredContent"]["totalLines"], 1);
    assert_eq!(call("read_image", "a.png")["content"][1]["mimeType"], "image/png");
    let resources = inspect(&["--method", "resources/list"]);
    assert_eq!(resources["resources"][0]["mimeType"], "image/png", "{resources}");
}
