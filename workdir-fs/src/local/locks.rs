//! Turns: one writer at a time for each file, in this process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// A folder, by device and inode, and a key in it: other handles on the same folder take part.
type File = ((u64, u64), String);

/// Files that somebody writes to or waits for. A std mutex, since it is held for a look-up; those in it are held while a file
/// is written, by threads that may block.
static TURNS: LazyLock<Mutex<HashMap<File, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

/// Does `work` when it is its turn.
pub(super) fn in_turn<T>(root: (u64, u64), key: &str, work: impl FnOnce() -> T) -> T {
    let file = (root, key.to_owned());
    let turn = Arc::clone(lock(&TURNS).entry(file.clone()).or_default());
    // Declared before the guard, so that it is dropped after it.
    let _forget = Forget { file, turn: Arc::clone(&turn) };
    let _turn = lock(&turn);
    work()
}

/// Forgets a file when nobody waits for it any more.
struct Forget {
    file: File,
    turn: Arc<Mutex<()>>,
}

impl Drop for Forget {
    fn drop(&mut self) {
        let mut turns = lock(&TURNS);
        // The map's own, this one, and the one that `in_turn` still holds.
        if Arc::strong_count(&self.turn) <= 3 {
            turns.remove(&self.file);
        }
    }
}

/// A writer that panicked leaves nothing behind that another would have to fear.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time_and_nothing_is_kept() {
        let busy = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        in_turn((0, 1), "a", || {
                            assert!(!busy.swap(true, Ordering::SeqCst), "two at once");
                            std::thread::yield_now();
                            busy.store(false, Ordering::SeqCst);
                        });
                    }
                });
            }
            let panics = std::thread::spawn(|| in_turn((0, 1), "b", || panic!("as arranged")));
            assert!(panics.join().is_err());
            in_turn((0, 1), "b", || in_turn((0, 2), "b", || in_turn((0, 1), "c", || ())));
        });
        assert!(!lock(&TURNS).keys().any(|(root, _)| matches!(root, (0, 1 | 2))));
    }
}
