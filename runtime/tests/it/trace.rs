//! The trace: returned, and emitted.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use attache_runtime::{Attachment, BlobId, Settings};
use base64::prelude::{BASE64_STANDARD, Engine};

use crate::support::{Folder, png};

/// What is logged.
#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Vec<u8>>>);

impl Sink {
    /// Listens to all of this thread, until the guard is dropped.
    pub(crate) fn listen(&self) -> tracing::subscriber::DefaultGuard {
        // Where there is but one listener, whether an event is ever heard is decided by the thread on which it first occurs, and
        // that may be another test's. With a second one all are asked.
        static SECOND: LazyLock<tracing::Dispatch> =
            LazyLock::new(|| tracing::Dispatch::new(tracing_subscriber::registry()));
        LazyLock::force(&SECOND);
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
            .with_writer(move || writer.clone())
            .finish();
        tracing_subscriber::util::SubscriberInitExt::set_default(subscriber)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn every_attachment_has_one_entry_and_one_event_and_bytes_are_in_neither() {
    let folder = Folder::new();
    folder.write("a.png", png(1));
    let entries = [
        Attachment::new("absent\n.png", "image/PNG"),
        Attachment::new("a.png", "image/png"),
        Attachment::by_bytes("gone.png"),
    ];
    let sink = Sink::default();
    // For this thread, which is where the outcome is worded.
    let guard = sink.listen();
    let accepted = folder.accept(&Settings::default(), &entries).await;
    drop(guard);

    let (sha256, bytes) = (BlobId::of(&png(1)), png(1).len());
    let json = serde_json::to_string(&accepted.trace).unwrap();
    let expected = [
        r#"{"path":"absent\\u{a}.png","media_type":"image/PNG","refused":"not_found"}"#.to_owned(),
        format!(r#"{{"path":"a.png","media_type":"image/png","bytes":{bytes},"sha256":"{sha256}"}}"#),
        r#"{"path":"gone.png","media_type":"","refused":"not_found"}"#.to_owned(),
    ];
    assert_eq!(json, format!("[{}]", expected.join(",")));

    let log = sink.text();
    let events: Vec<_> = log.lines().filter(|line| line.contains("attache::attachment")).collect();
    assert_eq!(events.len(), 3, "{log}");
    for (event, words) in events.iter().zip([
        ["INFO", r#"path="absent\\u{a}.png""#, r#"refused="not_found""#],
        ["INFO", r#"path="a.png""#, &format!("sha256=\"{sha256}\"")],
        ["INFO", r#"path="gone.png""#, r#"refused="not_found""#],
    ]) {
        assert!(words.iter().all(|word| event.contains(word)), "{event}");
    }
    let base64 = BASE64_STANDARD.encode(png(1));
    assert!(!log.contains(&base64[..24]) && !json.contains(&base64[..24]));
}
