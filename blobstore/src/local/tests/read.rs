use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{CWD, Mode};

use super::*;
use crate::store::{ForeignReason, MAX_BLOB_BYTES, Verdict};
use crate::{BlobErrorKind, BlobStore};

const BYTES: &[u8] = b"some bytes";

#[test]
fn an_empty_place_is_not_touched_by_reading() {
    let fixture = Fixture::new();
    let id = BlobId::of(BYTES);
    assert!(fixture.store.get_blocking(id, None).unwrap_err().is_missing());
    assert_eq!(fixture.store.0.contains(id).unwrap(), None);
    assert!(fixture.store.0.inventory().unwrap().blobs.is_empty());
    fixture.store.sync_blocking().unwrap();
    assert!(!fixture.store.dir().exists());
}

/// What stands at a blob's name instead of it; none of these may be followed, waited for, replaced or deleted.
#[tokio::test]
async fn what_is_not_a_file_is_refused_everywhere() {
    let id = BlobId::of(BYTES);
    type Make = fn(&Fixture, PathBuf);
    let cases: [(ForeignReason, Make); 6] = [
        (ForeignReason::Link, |fixture, at| {
            let target = fixture.root.path().join("target");
            fs::write(&target, BYTES).unwrap();
            symlink(target, at).unwrap();
        }),
        (ForeignReason::Link, |_, at| symlink("dangling", at).unwrap()),
        (ForeignReason::Link, |_, at| symlink(&at, &at).unwrap()),
        (ForeignReason::Directory, |_, at| fs::create_dir(at).unwrap()),
        (ForeignReason::Special, |_, at| {
            rustix::fs::mknodat(CWD, at, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        }),
        (ForeignReason::Special, |_, at| drop(UnixListener::bind(at).unwrap())),
    ];
    for (reason, make) in cases {
        // A short path, as sockets need one.
        let fixture = Fixture::new();
        fs::create_dir(fixture.store.dir()).unwrap();
        make(&fixture, fixture.path(id));
        let store = &fixture.store;
        let not_a_blob = |code| assert_eq!(code, BlobErrorKind::NotABlob, "{reason:?}");
        not_a_blob(store.get(id, None).await.unwrap_err().kind());
        not_a_blob(store.contains(id).await.unwrap_err().kind());
        not_a_blob(store.stage(BYTES.into()).await.unwrap_err().kind());
        not_a_blob(store.quarantine(id).await.unwrap_err().kind());
        not_a_blob(store.remove_if_older(id, SystemTime::now()).await.unwrap_err().kind());
        assert_eq!(store.verify(id).await.unwrap(), Verdict::NotABlob(reason));
        let inventory = store.inventory().await.unwrap();
        assert_eq!((inventory.blobs.len(), inventory.foreign.len()), (0, 1));
        assert_eq!(inventory.foreign[0].reason, reason);
        assert_eq!(inventory.foreign[0].path, store.location(id));
        assert_eq!(fixture.names(), [id.to_string()]);
    }
}

#[test]
fn damage_is_told_with_both_digests() {
    let id = BlobId::of(BYTES);
    for damage in [&b"some bytez"[..], b"", b"some bytes and more"] {
        let fixture = Fixture::new();
        fixture.plant(id, damage);
        let found = BlobId::of(damage);
        let error = fixture.store.get_blocking(id, None).unwrap_err();
        assert_eq!(error.kind(), BlobErrorKind::Damaged { expected: id, found });
        let verdict = Verdict::Damaged { found_len: damage.len() as u64, found_digest: found };
        assert_eq!(fixture.store.0.verify(id).unwrap(), verdict);
    }
}

/// A change that keeps length, inode and modification time, at every moment relative to a verification.
#[test]
fn a_change_is_seen_whenever_it_comes() {
    let id = BlobId::of(BYTES);
    for cache_bytes in [0, 1000] {
        for wait in [false, true] {
            for reads in 0..3 {
                let fixture = Fixture::with(|builder| builder.cache_bytes(cache_bytes));
                fixture.store.stage_blocking(BYTES).unwrap();
                for _ in 0..reads {
                    if wait {
                        settle();
                    }
                    assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
                }
                let modified = fs::metadata(fixture.path(id)).unwrap().modified().unwrap();
                fs::write(fixture.path(id), b"some bytez").unwrap();
                fs::File::open(fixture.path(id)).unwrap().set_modified(modified).unwrap();
                let error = fixture.store.get_blocking(id, Some(10)).unwrap_err();
                assert_eq!(error.code(), "damaged", "cache {cache_bytes}, waited {wait}, {reads} reads");
                fs::write(fixture.path(id), BYTES).unwrap();
                assert_eq!(fixture.store.get_blocking(id, Some(10)).unwrap(), BYTES);
            }
        }
    }
}

#[test]
fn a_verified_blob_is_remembered_once_it_has_settled() {
    let fixture = Fixture::new();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    let known = |fixture: &Fixture| {
        let identity = fixture.store.0.look("look at", id).unwrap().unwrap();
        fixture.store.0.known.is_verified(id, &identity)
    };
    assert!(!known(&fixture), "it may still change within the tick");
    settle();
    fixture.store.get_blocking(id, None).unwrap();
    assert!(known(&fixture));
    let first = fixture.store.get_blocking(id, None).unwrap();
    let second = fixture.store.get_blocking(id, None).unwrap();
    assert_eq!(first.as_ptr(), second.as_ptr(), "one copy in memory");

    fixture.store.0.known.forget(id);
    fixture.age(id);
    assert!(!known(&fixture));
}

#[test]
fn a_huge_file_is_refused_by_its_length() {
    let fixture = Fixture::new();
    let id = BlobId::of(BYTES);
    fixture.plant(id, b"");
    let len = MAX_BLOB_BYTES + 1;
    fs::File::options().write(true).open(fixture.path(id)).unwrap().set_len(len).unwrap();
    let error = fixture.store.get_blocking(id, None).unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::TooLarge { len, limit: MAX_BLOB_BYTES });
    let error = fixture.store.get_blocking(id, Some(10)).unwrap_err();
    assert_eq!(error.kind(), BlobErrorKind::WrongLength { expected: 10, found: len });
    let verdict = fixture.store.0.verify(id).unwrap();
    assert!(matches!(verdict, Verdict::Damaged { found_len, .. } if found_len == len));
}

#[test]
fn unreadable_is_neither_missing_nor_damaged() {
    let fixture = Fixture::new();
    let id = BlobId::of(BYTES);
    // A file where the directory should be.
    fs::write(fixture.store.dir(), b"").unwrap();
    assert_eq!(fixture.store.get_blocking(id, None).unwrap_err().code(), "io");
    assert_eq!(fixture.store.0.verify(id).unwrap_err().code(), "io");
    assert_eq!(fixture.store.stage_blocking(BYTES).unwrap_err().code(), "io");
}

#[test]
fn a_directory_made_anew_is_found() {
    let fixture = Fixture::new();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    fs::remove_dir_all(fixture.store.dir()).unwrap();
    assert!(fixture.store.get_blocking(id, None).unwrap_err().is_missing());
    assert!(fixture.store.0.inventory().unwrap().blobs.is_empty());
    assert!(fixture.store.stage_blocking(BYTES).unwrap().new);
    fixture.store.sync_blocking().unwrap();
    assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);

    fs::remove_dir_all(fixture.store.dir()).unwrap();
    fixture.plant(id, BYTES);
    assert_eq!(fixture.store.0.inventory().unwrap().blobs.len(), 1);
    fs::remove_dir_all(fixture.store.dir()).unwrap();
    fixture.plant(id, BYTES);
    assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
}

#[test]
fn works_without_a_runtime() {
    let fixture = Fixture::new();
    let put = futures_util::FutureExt::now_or_never(fixture.store.put(BYTES.into())).unwrap();
    let got = futures_util::FutureExt::now_or_never(fixture.store.get(put.unwrap().id, None)).unwrap();
    assert_eq!(got.unwrap(), BYTES);
}
