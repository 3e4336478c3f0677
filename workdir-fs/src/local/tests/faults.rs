//! System calls that fail, and file systems that lack some.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const STEPS: [Step; 6] = [Step::CreateTemp, Step::Write, Step::SyncFile, Step::RenameNew, Step::Rename, Step::SyncDir];

/// Each intent on a file that is there or not, so that both ways to publish are met.
async fn attempts(fs: &LocalFs) -> [Result<Written, FileError>; 3] {
    [
        write(fs, "new.txt", "new", &WriteIntent::CreateIfAbsent).await,
        write(fs, "old.txt", "o-new", &WriteIntent::Unconditional).await,
        edit(fs, "old.txt", "o", "n").await,
    ]
}

#[tokio::test]
async fn a_failed_step_leaves_the_old_content_and_no_private_file() {
    for (errno, code, why) in [
        (Errno::NOSPC, "FS_IO_ERROR", "No space left on device"),
        (Errno::IO, "FS_IO_ERROR", "Input/output error"),
        (Errno::ACCESS, "FS_PERMISSION_DENIED", "Permission denied"),
        (Errno::ROFS, "FS_IO_ERROR", "Read-only file system"),
    ] {
        for step in STEPS {
            let tree = Tree::new();
            tree.put("old.txt", "old");
            let fs = tree.stepping(step, move || Err(errno));
            let outcomes = attempts(&fs).await;
            let mut failed = 0;
            for (outcome, (verb, name)) in
                outcomes.into_iter().zip([("write", "new.txt"), ("write", "old.txt"), ("edit", "old.txt")])
            {
                let Err(error) = outcome else { continue };
                failed += 1;
                assert_eq!((error.code(), error.to_string()), (code, format!("cannot {verb} \"{name}\": {why}")));
                assert!(std::error::Error::source(&error).is_some());
            }
            assert_eq!(
                failed,
                match step {
                    Step::RenameNew => 1,
                    Step::Rename => 2,
                    _ => 3,
                },
                "{step:?}"
            );
            if step == Step::SyncDir {
                assert_eq!(tree.names(), ["new.txt", "old.txt"], "visible, and perhaps not durable");
            } else {
                let published: &[&str] = if step == Step::Rename { &["new.txt", "old.txt"] } else { &["old.txt"] };
                assert_eq!(tree.names(), published, "{step:?}");
                assert_eq!(tree.get("old.txt"), if step == Step::RenameNew { "n-new" } else { "old" });
            }
        }
    }
}

#[tokio::test]
async fn without_a_rename_that_never_replaces_a_link_does() {
    for errno in [Errno::INVAL, Errno::NOSYS, Errno::OPNOTSUPP, Errno::PERM] {
        let tree = Tree::new();
        let fs = tree.stepping(Step::RenameNew, move || Err(errno));
        let target = fs.resolve("new.txt", None).await.unwrap();
        let written = fs.write_text(&target, "new", &WriteIntent::CreateIfAbsent).await.unwrap();
        assert_eq!(written.version, fs.stat(&target).await.unwrap().version);
        assert_eq!((tree.get("new.txt"), tree.names()), ("new".to_owned(), vec!["new.txt".to_owned()]));
        assert_eq!(refusal(write(&fs, "new.txt", "x", &WriteIntent::CreateIfAbsent).await).0, "FS_NOT_OBSERVED");

        let path = tree.root.join("raced.txt");
        let fs = tree.stepping(Step::RenameNew, move || {
            fs::write(&path, "theirs").unwrap();
            Err(errno)
        });
        assert_eq!(refusal(write(&fs, "raced.txt", "x", &WriteIntent::CreateIfAbsent).await).0, "FS_NOT_OBSERVED");
        assert_eq!((tree.get("raced.txt"), tree.names().len()), ("theirs".to_owned(), 2));
    }
}

#[tokio::test]
async fn without_any_rename_the_file_is_written_in_place() {
    for (step, name) in [(Step::RenameNew, "new.txt"), (Step::Rename, "old.txt")] {
        let tree = Tree::new();
        tree.put("old.txt", "old and longer");
        fs::set_permissions(tree.root.join("old.txt"), fs::Permissions::from_mode(0o640)).unwrap();
        let fs = tree.stepping(step, || Err(Errno::XDEV));
        let target = fs.resolve(name, None).await.unwrap();
        let written = fs.write_text(&target, "new", &WriteIntent::Unconditional).await.unwrap();
        assert_eq!(written.version, fs.stat(&target).await.unwrap().version);
        assert_eq!(tree.get(name), "new");
        let mode = fs::metadata(tree.root.join(name)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, if name == "new.txt" { 0o600 } else { 0o640 });
        assert!(tree.names().iter().all(|name| !name.starts_with(publish::TEMP_PREFIX)));
    }
    // Nor does it go through what came up, in this last moment.
    let tree = Tree::new();
    fs::write(tree.outside.join("canary"), "canary").unwrap();
    tree.put("old.txt", "old");
    for (step, name) in [(Step::RenameNew, "new.txt"), (Step::Rename, "old.txt")] {
        let (path, canary) = (tree.root.join(name), tree.outside.join("canary"));
        let fs = tree.stepping(step, move || {
            let _ = fs::remove_file(&path);
            symlink(&canary, &path).unwrap();
            Err(Errno::XDEV)
        });
        assert_eq!(refusal(write(&fs, name, "x", &WriteIntent::Unconditional).await).0, "FS_NOT_REGULAR_FILE");
        assert_eq!(fs::read_to_string(tree.outside.join("canary")).unwrap(), "canary");
    }
}

#[tokio::test]
async fn every_new_folder_is_flushed_into_the_one_above() {
    let tree = Tree::new();
    let flushed = Arc::new(Mutex::new(0));
    let count = Arc::clone(&flushed);
    let fs = tree.stepping(Step::SyncDir, move || {
        *count.lock().unwrap() += 1;
        Ok(())
    });
    write(&fs, "a/b/c/new.txt", "new", &WriteIntent::CreateIfAbsent).await.unwrap();
    assert_eq!(*flushed.lock().unwrap(), 4, "three folders and the file");
    let mode = fs::metadata(tree.root.join("a/b")).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode & 0o077, 0, "for their owner alone");
}
