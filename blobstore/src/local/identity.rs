//! Whether a file is still the one that was looked at.

use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Stat};

use crate::ForeignReason;

/// File systems stamp changes with the kernel's coarse clock, which ticks every 1 to 10 ms: two changes within a tick
/// carry the same stamp. Twice the longest tick leaves room.
const TICK: Duration = Duration::from_millis(20);

/// What a file system says of a file; any change of its content changes one of these, save within one tick of the
/// clock. A disk that rots changes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    dev: u64,
    ino: u64,
    pub(super) len: u64,
    mtime: (i64, i64),
    ctime: (i64, i64),
}

impl Identity {
    // The fields' types differ between systems.
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            len: u64::try_from(stat.st_size).unwrap_or(0),
            mtime: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            ctime: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }

    /// Whether a verification that began at `at` may be relied on later. One that began within a tick of the file's
    /// last change may not: another change in the same tick would have left the same stamps.
    ///
    /// `at` is this machine's clock and the stamps are the file system's. A server whose clock runs ahead only costs
    /// verifications; one whose clock runs behind narrows the protection to changes that alter size or inode.
    pub(super) fn is_settled(&self, at: SystemTime) -> bool {
        at.duration_since(time(self.ctime)).is_ok_and(|age| age > TICK)
    }

    /// Whether both are one file with one content, even if its name or its links changed in between.
    pub(super) fn same_content(&self, other: &Self) -> bool {
        Self { ctime: other.ctime, ..*self } == *other
    }

    /// Whether both are one file.
    pub(super) fn same_file(&self, other: &Self) -> bool {
        (self.dev, self.ino) == (other.dev, other.ino)
    }

    pub(super) fn modified(&self) -> SystemTime {
        time(self.mtime)
    }
}

/// Why what `stat` describes is no blob; `None` for a regular file.
pub(super) fn why_foreign(stat: &Stat) -> Option<ForeignReason> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => None,
        FileType::Symlink => Some(ForeignReason::Link),
        FileType::Directory => Some(ForeignReason::Directory),
        _ => Some(ForeignReason::Special),
    }
}

fn time((seconds, nanos): (i64, i64)) -> SystemTime {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let nanos = Duration::from_nanos(u64::try_from(nanos).unwrap_or(0));
    let base =
        if seconds < 0 { SystemTime::UNIX_EPOCH.checked_sub(whole) } else { SystemTime::UNIX_EPOCH.checked_add(whole) };
    // A stamp that no clock shows is taken for the newest: it is then neither settled nor old enough to delete.
    base.and_then(|base| base.checked_add(nanos)).unwrap_or_else(SystemTime::now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settles_after_a_tick() {
        let changed = Identity { dev: 1, ino: 2, len: 3, mtime: (0, 0), ctime: (1_000, 500_000_000) };
        let at = |millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        for (millis, settled) in [(0, false), (1_000_499, false), (1_000_500, false), (1_000_520, false)] {
            assert_eq!(changed.is_settled(at(millis)), settled, "{millis}");
        }
        assert!(changed.is_settled(at(1_000_521)));
    }

    #[test]
    fn times_before_the_epoch_and_beyond_all_clocks_are_times() {
        assert_eq!(time((-1, 500_000_000)), SystemTime::UNIX_EPOCH - Duration::from_millis(500));
        let _ = time((i64::MAX, 999_999_999));
        let _ = time((i64::MIN, -1));
    }
}
