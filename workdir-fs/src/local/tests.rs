use tempfile::TempDir;

use super::*;
use crate::conformance;
use crate::{Walk, WorkDirOptions};

fn folder(walk: Walk) -> (TempDir, LocalFs) {
    let tmp = tempfile::tempdir().unwrap();
    let work = WorkDir::with_options(tmp.path(), WorkDirOptions::default().with_walk(walk)).unwrap();
    (tmp, LocalFs::new(work))
}

#[tokio::test(flavor = "multi_thread")]
async fn conforms() {
    for walk in [Walk::Auto, Walk::Handles] {
        let (tmp, fs) = folder(walk);
        conformance::all(&fs, tmp.path()).await;
    }
}
