//! A place with an input in it, and calls of the commands on it.

use std::path::PathBuf;

use attache_tests::{Call, Finished, attache, pictures};
use serde_json::Value;

pub(crate) struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    /// A place whose folder `in` holds small images of these names, each another.
    pub(crate) fn with(names: &[&str]) -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.at("in")).unwrap();
        for (number, name) in names.iter().enumerate() {
            place.write(&format!("in/{name}"), picture(name, number as u64));
        }
        place
    }

    /// Links on the way to temporary files are resolved, as they are in results.
    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.at(name), bytes).unwrap();
    }

    pub(crate) fn call(&self, words: &str) -> Call {
        attache(words.split_whitespace()).current_dir(self.at("")).env("ATTACHE_CONFIG", "")
    }

    pub(crate) fn run(&self, words: &str) -> Finished {
        self.call(words).run()
    }

    /// The document of a call that succeeds.
    pub(crate) fn json(&self, words: &str) -> Value {
        let run = self.run(words);
        assert_eq!(run.expect_code(0).error_text(), "", "{run}");
        run.json()
    }

    /// The message of a call that fails with a code, without an envelope.
    #[track_caller]
    pub(crate) fn refusal(&self, words: &str, code: i32) -> String {
        let run = self.run(words);
        assert_eq!(run.expect_code(code).error_text(), "", "{run}");
        let document = run.json();
        assert_eq!(document.as_object().unwrap().len(), 1, "{run}");
        document["error"].as_str().unwrap().to_owned()
    }
}

/// A small image of the type that a name says.
pub(crate) fn picture(name: &str, seed: u64) -> Vec<u8> {
    let name = name.to_lowercase();
    if name.ends_with(".jpg") || name.ends_with(".jpeg") {
        pictures::jpeg()
    } else if name.ends_with(".webp") {
        pictures::webp()
    } else {
        pictures::png(8, 4, seed)
    }
}

/// The names of a result's images, in order.
pub(crate) fn names(document: &Value) -> Vec<&str> {
    document["images"].as_array().unwrap().iter().map(|image| image["source_name"].as_str().unwrap()).collect()
}

/// The keys of an object, in order.
pub(crate) fn keys(document: &Value) -> Vec<&str> {
    document.as_object().unwrap().keys().map(String::as_str).collect()
}
