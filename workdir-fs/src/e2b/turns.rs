//! Turns: one writer at a time for each file of a sandbox, in this process.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use tokio::sync::OwnedMutexGuard;

/// A sandbox's address and a path in it: other handles on the same sandbox take part.
type File = (String, String);
type Turns = HashMap<File, Arc<tokio::sync::Mutex<()>>>;

/// Files that somebody writes to or waits for. Held for a look-up, never across an await.
static TURNS: LazyLock<Mutex<Turns>> = LazyLock::new(Mutex::default);

/// Its holder may change the file.
pub(super) struct Turn {
    file: File,
    /// `None` only while it is dropped.
    guard: Option<OwnedMutexGuard<()>>,
}

/// Waits for the turn.
pub(super) async fn turn(file: File) -> Turn {
    let lock = turns(|turns| Arc::clone(turns.entry(file.clone()).or_default()));
    Turn { file, guard: Some(lock.lock_owned().await) }
}

impl Drop for Turn {
    fn drop(&mut self) {
        turns(|turns| {
            self.guard = None;
            // Only the map's own is left: nobody waits.
            if turns.get(&self.file).is_some_and(|lock| Arc::strong_count(lock) == 1) {
                turns.remove(&self.file);
            }
        });
    }
}

fn turns<T>(work: impl FnOnce(&mut Turns) -> T) -> T {
    work(&mut TURNS.lock().unwrap_or_else(PoisonError::into_inner))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn one_at_a_time_and_nothing_is_kept() {
        static BUSY: AtomicBool = AtomicBool::new(false);
        let file = |name: &str| ("turns".to_owned(), name.to_owned());
        let writers = (0..8).map(|_| {
            tokio::spawn(async move {
                for _ in 0..100 {
                    let _turn = turn(file("a")).await;
                    assert!(!BUSY.swap(true, Ordering::SeqCst), "two at once");
                    tokio::task::yield_now().await;
                    BUSY.store(false, Ordering::SeqCst);
                }
            })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }
        // Who gave up waiting leaves nothing either.
        let held = turn(file("b")).await;
        tokio::select! {
            biased;
            _ = turn(file("b")) => panic!("two at once"),
            () = std::future::ready(()) => {}
        }
        drop(held);
        assert!(turns(|turns| turns.keys().all(|(place, _)| place != "turns")));
    }
}
