use super::*;

#[test]
fn what_a_failed_open_means() {
    for (errno, code) in [
        (Errno::NOENT, "not_found"),
        (Errno::NOTDIR, "not_found"),
        (Errno::LOOP, "symlink_refused"),
        (Errno::XDEV, "outside_root"),
        (Errno::NXIO, "not_a_regular_file"),
        (Errno::NODEV, "not_a_regular_file"),
        (Errno::ACCESS, "io_error"),
        (Errno::PERM, "io_error"),
        (Errno::NAMETOOLONG, "io_error"),
        (Errno::MFILE, "io_error"),
        (Errno::AGAIN, "io_error"),
        (Errno::IO, "io_error"),
    ] {
        assert_eq!(FsError::from_open(errno).code(), code, "{errno:?}");
    }
}

#[test]
fn the_systems_error_is_the_cause() {
    let error = FsError::from_open(Errno::ACCESS);
    assert_eq!(error.to_string(), "the file cannot be opened: Permission denied");
    let cause = error.source().and_then(|cause| cause.downcast_ref::<io::Error>()).unwrap();
    assert_eq!(cause.raw_os_error(), Some(Errno::ACCESS.raw_os_error()));
    assert!(FsError::missing().source().is_none());
}

#[test]
fn reasons_name_values_and_limits() {
    for (error, reason) in [
        (FsError::too_large(2048, 1024), "the file has 2048 bytes, more than the limit of 1024 bytes"),
        (
            FsError::yields_too_much(1025, 1024),
            "the file yields at least 1025 bytes, more than the limit of 1024 bytes",
        ),
        (
            FsError::keeps_changing(4),
            "the file keeps changing: it was read 4 times and changed each time while it was read",
        ),
        (FsError::hard_linked(2), "the file has 2 hard links, and files with more than 1 are refused here"),
        (FsError::path_too_long(4200, 4095), "the path is 4200 bytes long, more than the 4095 bytes a path may have"),
        (FsError::not_regular("a FIFO"), "it is a FIFO, not a regular file"),
        (
            FsError::ambiguous(vec!["a\u{a0}b".into(), "a\u{202f}b".into()], false),
            r"there is no file of exactly that name, and 2 are equally close: 'a\u{a0}b', 'a\u{202f}b'",
        ),
        (
            FsError::ambiguous(vec!["a\nb".into(), "it's".into()], true),
            r"there is no file of exactly that name, and more than 2 are equally close: 'a\u{a}b', 'it\u{27}s', …",
        ),
    ] {
        assert_eq!(error.to_string(), reason);
    }
}
