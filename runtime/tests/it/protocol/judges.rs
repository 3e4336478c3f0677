//! The other protocols' own Python types as judges of what is written here, and of the inputs that the tests here call
//! theirs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use attache_media::fixtures;
use attache_runtime::{BlobId, MemoryStore, Settings, a2a, mcp};
use serde_json::{Value, json};

use crate::protocol::{base64, encode, outline};
use crate::support::png;

/// What the judges are, in the versions with which the verdicts here were seen.
const PACKAGES: [&str; 2] = ["a2a-sdk==1.3.0", "mcp==2.3.0"];

/// Reads a list of `[judge, value]` and writes one verdict each: `refused`, or the hashes of the bytes it found.
const SCRIPT: &str = include_str!("judges.py");

/// Runs the judges, or says why it does not.
fn verdicts(cases: &[(&str, Value)]) -> Option<Vec<Value>> {
    if std::env::var_os("ATTACHE_SLOW_TESTS").is_none_or(|value| value != "1") {
        println!("skipped: set ATTACHE_SLOW_TESTS=1");
        return None;
    }
    let python = python()?;
    let mut judges = Command::new(python);
    let mut judges = judges.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    judges.stdin.take().unwrap().write_all(json!(cases).to_string().as_bytes()).unwrap();
    let output = judges.wait_with_output().unwrap();
    assert!(output.status.success());
    let verdicts: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(verdicts.len(), cases.len());
    Some(verdicts)
}

/// An environment with the judges, made on first use and kept with the build.
fn python() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("judges-{}", PACKAGES.join("-")));
    let (python, ready) = (dir.join("bin/python"), dir.join("ready"));
    if ready.exists() {
        return Some(python);
    }
    if !Command::new("python3").args(["-m", "venv", "--clear"]).arg(&dir).status().is_ok_and(|status| status.success())
    {
        println!("skipped: needs python3 with venv and pip");
        return None;
    }
    let mut pip = Command::new(&python);
    let installed = pip.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES).status().unwrap();
    assert!(installed.success(), "the judges could not be installed");
    std::fs::write(ready, "").unwrap();
    Some(python)
}

fn sha(bytes: &[u8]) -> String {
    BlobId::of(bytes).to_string()
}

#[tokio::test]
async fn slow_what_is_written_is_read_by_the_official_types() {
    let store = MemoryStore::new();
    let images = [png(1), fixtures::jpeg(), fixtures::gif(), fixtures::webp()];
    let parts: Vec<_> = images.iter().map(|bytes| json!({"raw": encode(bytes)})).collect();
    let mut blocks = a2a::take_parts(&parts, &store, &Settings::default()).await.blocks();
    blocks.push(json!({"type": "text", "text": "words"}));
    blocks.push(json!({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}));
    blocks.push(json!({"type": "unheard of"}));

    let old = a2a::to_parts(&blocks, a2a::Version::V0_3, &store).await;
    let new = a2a::to_parts(&blocks, a2a::Version::V1_0, &store).await;
    let content = mcp::to_content(&blocks, &store).await;
    let of =
        |judge: &'static str, values: &[Value]| values.iter().map(|value| (judge, value.clone())).collect::<Vec<_>>();
    let cases = [
        of("a2a 0.3", &old),
        of("a2a 1.0", &new),
        of("mcp block", &content),
        vec![("mcp result", json!({"content": content, "resultType": "complete"}))],
        // Each refuses the other's images, and so would see a mistake.
        of("a2a 0.3", &new[..4]),
        of("a2a 1.0", &old[..4]),
        of(
            "mcp block",
            &[json!({"type": "image", "data": base64(1)}), json!({"type": "image", "data": "%", "mimeType": "x"})],
        ),
    ]
    .concat();
    let Some(verdicts) = verdicts(&cases) else { return };

    let hashes: Vec<_> =
        images.iter().map(|bytes| json!([sha(bytes)])).chain([json!([]), json!([]), json!([])]).collect();
    let all: Vec<_> = images.iter().map(|bytes| sha(bytes)).collect();
    let refused = |count: usize| vec![json!("refused"); count];
    let expected =
        [hashes.clone(), hashes.clone(), hashes, vec![json!(all)], refused(4), refused(4), refused(2)].concat();
    assert_eq!(verdicts, expected);
}

/// The forms that the protocols define, and what is taken from them: the judges see the same images.
#[tokio::test]
async fn slow_what_the_official_types_read_is_taken() {
    let text = json!({"type": "text", "text": "words"});
    let image =
        json!({"type": "image", "data": base64(1), "mimeType": "image/png", "annotations": {"audience": ["user"]}});
    let audio = json!({"type": "audio", "data": encode("ID3"), "mimeType": "audio/mp3"});
    let blob = json!({"type": "resource", "resource": {"uri": "file:///a.png", "blob": base64(2)}});
    let inner = json!({"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inner"}});
    let link = json!({"type": "resource_link", "uri": "file:///a.png", "name": "a.png", "size": 83});
    let result = json!({
        "content": [text, image, audio, blob, inner, link], "structuredContent": {"ok": true}, "isError": false,
        "resultType": "complete", "_meta": {"x": 1},
    });
    let old = json!({"kind": "file", "file": {"bytes": base64(3), "mimeType": "image/png", "name": "a.png"}});
    let new = json!({"raw": base64(4), "mediaType": "image/png", "filename": "a.png", "metadata": {"x": 1}});
    let store = MemoryStore::new();
    let taken = mcp::take_result(&result, &store, &Settings::default()).await;
    let link = "~[resource link, not fetched: a.png, file:///a.png, 83 bytes]";
    let expected = [
        "words",
        "<png 1>",
        "!media_type_not_allowed",
        "<png 2>",
        "~[resource: file:///a.txt]",
        "inner",
        link,
        r#"{"ok":true}"#,
    ];
    assert_eq!(outline(&taken), expected);
    for (part, expected) in [(&old, "<png 3>"), (&new, "<png 4>")] {
        assert_eq!(outline(&a2a::take_part(part, &store, &Settings::default()).await), [expected]);
    }

    let Some(verdicts) = verdicts(&[("mcp result", result), ("a2a 0.3", old), ("a2a 1.0", new)]) else { return };
    let found = [json!([sha(&png(1)), sha(b"ID3"), sha(&png(2))]), json!([sha(&png(3))]), json!([sha(&png(4))])];
    assert_eq!(verdicts, found);
}
