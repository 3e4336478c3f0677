//! One set of leases for each directory, however many stores in this process share it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::lease::{Leases, WeakLeases};

static DIRECTORIES: Mutex<Option<HashMap<PathBuf, WeakLeases>>> = Mutex::new(None);

/// The leases of the blobs in `dir`. Two spellings of one directory are one, as far as the file system can tell
/// before the directory exists.
pub(super) fn of(dir: &Path) -> Leases {
    let mut directories = DIRECTORIES.lock().unwrap_or_else(PoisonError::into_inner);
    let directories = directories.get_or_insert_with(HashMap::new);
    directories.retain(|_, leases| leases.upgrade().is_some());
    let key = canonical(dir);
    if let Some(leases) = directories.get(&key).and_then(WeakLeases::upgrade) {
        return leases;
    }
    let leases = Leases::new();
    directories.insert(key, leases.downgrade());
    leases
}

/// The canonical form of the part that exists, and the rest as given.
fn canonical(dir: &Path) -> PathBuf {
    let absolute = std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned());
    for ancestor in absolute.ancestors() {
        if let Ok(real) = ancestor.canonicalize() {
            return absolute.strip_prefix(ancestor).map_or(real.clone(), |rest| real.join(rest));
        }
    }
    absolute
}
