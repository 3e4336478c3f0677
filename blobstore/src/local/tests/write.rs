use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

const BYTES: &[u8] = b"some bytes";

fn mode(path: impl AsRef<std::path::Path>) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn everything_is_private() {
    let root = tempfile::tempdir().unwrap();
    let store = LocalStore::new(root.path().join("a/b/blobs"));
    assert!(!root.path().join("a").exists());
    let id = store.stage_blocking(BYTES).unwrap().id;
    assert_eq!(mode(root.path().join("a")), 0o700);
    assert_eq!(mode(store.dir()), 0o700);
    assert_eq!(mode(store.dir().join(id.to_string())), 0o600);
}

#[test]
fn a_wider_directory_is_tightened_at_the_first_write() {
    for wide in [0o777, 0o755, 0o750, 0o701] {
        let fixture = Fixture::new();
        fs::create_dir(fixture.store.dir()).unwrap();
        fs::set_permissions(fixture.store.dir(), fs::Permissions::from_mode(wide)).unwrap();
        fixture.store.get_blocking(BlobId::of(BYTES), None).unwrap_err();
        assert_eq!(mode(fixture.store.dir()), wide, "reading changes nothing");
        fixture.store.stage_blocking(BYTES).unwrap();
        assert_eq!(mode(fixture.store.dir()), 0o700);
    }
}

#[test]
fn a_wider_blob_is_tightened_when_it_is_found() {
    let fixture = Fixture::new();
    let id = BlobId::of(BYTES);
    fixture.plant(id, BYTES);
    fs::set_permissions(fixture.path(id), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(!fixture.store.stage_blocking(BYTES).unwrap().new);
    assert_eq!(mode(fixture.path(id)), 0o600);
}

#[test]
fn the_directory_itself_may_be_a_link() {
    let fixture = Fixture::new();
    let elsewhere = fixture.root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, fixture.store.dir()).unwrap();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    assert!(elsewhere.join(id.to_string()).exists());
}

#[test]
fn a_damaged_blob_is_healed_by_the_next_writer() {
    for durability in [Durability::Full, Durability::Os] {
        for waits in [false, true] {
            let fixture = Fixture::with(|builder| builder.durability(durability));
            let id = fixture.store.stage_blocking(BYTES).unwrap().id;
            if waits {
                settle();
            }
            assert!(!fixture.store.stage_blocking(BYTES).unwrap().new);
            fs::write(fixture.path(id), b"some bytez").unwrap();
            assert!(fixture.store.stage_blocking(BYTES).unwrap().new, "{durability:?}, waited {waits}");
            assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
        }
    }
}

#[test]
fn a_hit_is_looked_up_once_and_then_known() {
    let faults = Faults::of(&[]);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    let id = BlobId::of(BYTES);
    fs::create_dir(fixture.store.dir()).unwrap();
    fs::write(fixture.path(id), BYTES).unwrap();
    fs::set_permissions(fixture.path(id), fs::Permissions::from_mode(0o600)).unwrap();
    settle();
    assert!(!fixture.store.stage_blocking(BYTES).unwrap().new);
    // Whoever wrote it may not have flushed it, nor its name, nor the directory's.
    assert_eq!(faults.take_seen(), [Step::SyncFile]);
    fixture.store.sync_blocking().unwrap();
    assert_eq!(faults.take_seen(), [Step::SyncDir, Step::SyncDir]);

    assert!(!fixture.store.stage_blocking(BYTES).unwrap().new);
    fixture.store.sync_blocking().unwrap();
    assert_eq!(faults.take_seen(), []);
}

#[test]
fn a_hit_is_marked_as_used() {
    let fixture = Fixture::new();
    let id = fixture.store.stage_blocking(BYTES).unwrap().id;
    for known in [false, true] {
        if known {
            fixture.age(id);
            settle();
            // Verified and old: only its mark is missing.
            let seen = fixture.store.0.open_blob("open", id).unwrap().unwrap();
            fixture.store.0.known.record(id, seen.identity, true, SystemTime::now());
        }
        fixture.age(id);
        let inode = fs::metadata(fixture.path(id)).unwrap().ino();
        assert!(!fixture.store.stage_blocking(BYTES).unwrap().new);
        let metadata = fs::metadata(fixture.path(id)).unwrap();
        assert!(metadata.modified().unwrap() > SystemTime::now() - Duration::from_secs(60));
        assert_eq!(metadata.ino(), inode, "it is not written again");
        assert_eq!(fixture.store.get_blocking(id, None).unwrap(), BYTES);
    }
    let modified = fs::metadata(fixture.path(id)).unwrap().modified().unwrap();
    settle();
    fixture.store.stage_blocking(BYTES).unwrap();
    assert_eq!(fs::metadata(fixture.path(id)).unwrap().modified().unwrap(), modified, "a young one is left alone");
}

#[test]
fn a_blob_that_was_only_read_is_still_flushed_by_its_next_writer() {
    let faults = Faults::of(&[]);
    let fixture = Fixture::with(|builder| builder.steps(faults.clone()));
    let id =
        LocalStore::builder(fixture.store.dir()).durability(Durability::Os).build().stage_blocking(BYTES).unwrap().id;
    settle();
    fixture.store.get_blocking(id, None).unwrap();
    assert!(!fixture.store.stage_blocking(BYTES).unwrap().new);
    assert_eq!(faults.take_seen(), [Step::SyncFile]);
}
