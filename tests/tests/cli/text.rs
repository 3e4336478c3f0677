//! What people read: help, completions, manual pages, results, errors, bars.

use attache_tests::message::{inline_image, text};
use attache_tests::{Call, binary, gate, pictures, sha256};
use serde_json::json;

use crate::session::Session;

const COMMANDS: [&str; 17] = [
    "demo",
    "attach",
    "append",
    "render",
    "show",
    "view",
    "withhold",
    "restore",
    "check",
    "sweep",
    "inspect",
    "preview",
    "read",
    "image",
    "profiles",
    "completions",
    "man",
];

#[test]
fn help() {
    let session = Session::new();
    insta::assert_snapshot!("help", session.run("--help").expect_code(0).text());
    for command in COMMANDS {
        let help = session.run(&format!("{command} --help"));
        insta::assert_snapshot!(format!("help-{command}"), help.expect_code(0).text());
    }
}

#[test]
fn every_command_takes_json() {
    let session = Session::new();
    for command in COMMANDS {
        let help = session.run(&format!("{command} --help")).expect_code(0).text().to_owned();
        assert!(help.contains("--json"), "{command}");
    }
}

#[test]
fn results_for_people() {
    let session = Session::new();
    session.write("chart.png", pictures::png(8, 8, 1));
    session.write("photo.jpg", pictures::jpeg());
    let mut story = String::new();
    let mut tell = |words: &str, stdin: &str| {
        let run = session.call(words).stdin(stdin).run();
        story += &format!("$ attache {words}\n{}{}", run.text(), run.error_text());
        if run.code != Some(0) {
            story += &format!("(exit code {})\n", run.code.unwrap());
        }
    };
    let message = json!({"role": "user", "content": [text("see"), inline_image("", &pictures::gif())]});
    let broken = json!({"role": "user", "content": [inline_image("", b"text")]});
    tell("attach -c ctx --workdir work chart.png photo.jpg=image/png ../secret.png", "");
    tell("attach -c ctx --workdir work --strict gone.png", "");
    tell("append -c ctx", &format!("{message}\n{broken}\n"));
    tell("append -c ctx", "{\"role\":\"user\"}\nnonsense\n");
    tell("show -c ctx --keep 1", "");
    let sha = sha256(&pictures::png(8, 8, 1));
    tell(&format!("withhold -c ctx {}", &sha[..12]), "");
    tell("show -c ctx", "");
    tell(&format!("restore -c ctx {}", &sha[..12]), "");
    tell("restore -c ctx ffff", "");
    tell("render -c ctx --out request.json", "");
    tell("check -c ctx", "");
    std::fs::write(session.blob(&sha), "x").unwrap();
    std::fs::write(session.blob(&sha256(b"orphan")), "orphan").unwrap();
    tell("check -c ctx", "");
    tell("sweep -c ctx", "");
    tell("sweep -c ctx --grace 0s --dry-run", "");
    tell("sweep -c ctx --grace 0s", "");
    tell("show -c nowhere", "");
    insta::assert_snapshot!("results", story);
}

#[test]
fn usage_errors() {
    let session = Session::new();
    for words in ["", "attach", "nonsense", "render -c ctx --keep many", "sweep -c ctx --grace 1d", "append --x -c ctx"]
    {
        let run = session.run(words);
        run.expect_code(2);
        assert!(run.stdout.is_empty() && !run.stderr.is_empty(), "{run}");
        // The same as a document, wherever the option stands.
        for words in [format!("{words} --json"), format!("--json {words}")] {
            let run = session.run(&words);
            let document = run.expect_code(2).json();
            assert_eq!(document["ok"], false);
            let error = &document["error"];
            assert_eq!((&error["code"], &error["exit_code"]), (&json!("usage_error"), &json!(2)), "{words}");
            assert!(!error["message"].as_str().unwrap().is_empty() && run.stderr.is_empty(), "{run}");
        }
    }
}

#[test]
fn a_path_that_is_not_utf8_is_a_path() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let session = Session::new();
    let context = session.path("").join(OsStr::from_bytes(b"caf\xe9"));
    let call = |command: &str| session.call(command).arg("-c").arg(&context);
    call("append --json").stdin(r#"{"role":"user","content":"x"}"#).run().expect_code(0);
    assert_eq!(call("show --json").run().expect_code(0).json()["messages"], 1);
    assert_eq!(call("check --json").run().expect_code(0).json()["ok"], true);
    let out = session.path("").join(OsStr::from_bytes(b"out\xe9"));
    call("render --json").arg("--out").arg(&out).run().expect_code(0).json();
    assert!(out.exists());
}

#[test]
fn completions_for_every_shell() {
    let session = Session::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = session.run(&format!("completions {shell}")).expect_code(0).text().to_owned();
        for command in ["attach", "sweep"] {
            assert!(script.contains(command), "{shell}");
        }
        let document = session.run(&format!("completions {shell} --json")).expect_code(0).json();
        assert_eq!(document, json!({"shell": shell, "script": script}));
        if shell == "bash" && gate::have(&["bash"]) {
            Call::new("bash").args(["-n", "/dev/stdin"]).stdin(script).run().expect_code(0);
        }
    }
}

#[test]
fn manual_pages() {
    let session = Session::new();
    let page = session.run("man").expect_code(0).text().to_owned();
    assert!(page.contains(".TH attache 1"), "{page}");
    assert_eq!(session.json_alone("man --out pages"), json!({"out": "pages"}));
    for command in COMMANDS {
        let page = std::fs::read_to_string(session.path(&format!("pages/attache-{command}.1"))).unwrap();
        assert!(page.contains(".TH"), "{command}");
    }
    session.write("file", "x");
    let run = session.run("man --json --out work/file/pages");
    assert_eq!(run.expect_code(6).json()["error"]["code"], "io_error");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    if !gate::have(&["bash", "head"]) {
        return;
    }
    let session = Session::new();
    session.append(&[json!({"role": "user", "content": "x".repeat(1 << 20)})]);
    let script = format!("{} render -c ctx | head -c 1; echo ${{PIPESTATUS[0]}}", binary().display());
    let run = Call::new("bash").args(["-c", &script]).current_dir(session.path("")).run();
    assert_eq!(run.text(), "[0\n", "{run}");
    assert_eq!(run.error_text(), "");
}

#[test]
fn the_demo_runs_to_its_end() {
    let session = Session::new();
    let document = session.run("demo there --json").expect_code(0).json();
    assert_eq!(document["replay"]["identical"], true);
    for place in ["workdir", "conversation"] {
        assert!(std::path::Path::new(document[place].as_str().unwrap()).is_dir(), "{place}");
    }
    let context = document["conversation"].as_str().unwrap();
    let check = session.run(&format!("check --json -c {context}")).expect_code(0).json();
    assert_eq!((&check["ok"], &check["orphaned"]), (&json!(true), &json!([])));
    attache_tests::Audit::of(context.as_ref()).expect_whole("the demo");
}

/// The bar is for people who wait longer than a second; strace makes the reads slow enough.
#[test]
fn a_bar_is_drawn_on_a_terminal_only() {
    if !gate::have(&["script", "strace"]) {
        return;
    }
    let session = Session::new();
    let blocks: Vec<_> = (0..40).map(|n| inline_image("", &pictures::png(2, 2, n))).collect();
    session.append(&[json!({"role": "user", "content": blocks})]);
    let slow = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=pread64,read:delay_enter=60000"].join(" ");
    let command = format!("{slow} {} check -c ctx", binary().display());

    let plain = Call::new("sh").args(["-c", &command]).current_dir(session.path("")).run();
    if plain.code != Some(0) && plain.error_text().contains("ptrace") {
        return gate::skip("strace cannot trace here");
    }
    plain.expect_code(0);
    assert_eq!(plain.error_text(), "", "nothing but the result without a terminal");
    let terminal = Call::new("script").args(["-qec", &command, "/dev/null"]).current_dir(session.path("")).run();
    terminal.expect_code(0);
    let screen = String::from_utf8_lossy(&terminal.stdout).into_owned();
    assert!(screen.contains("checking ["), "{screen:?}");
    assert!(screen.contains("ok: 1 messages, 40 blobs"), "{screen:?}");
}
