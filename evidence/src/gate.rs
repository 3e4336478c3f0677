//! Memory that many workers share: each waits until there is room for what it is about to hold.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Room for so many bytes. Whoever wants more than there is at all gets it when nobody else holds any.
#[derive(Debug)]
pub(crate) struct Gate {
    room: u64,
    held: Mutex<u64>,
    freed: Condvar,
}

/// Bytes held; dropping it gives them back.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    gate: &'a Gate,
    bytes: u64,
}

impl Gate {
    pub(crate) fn new(room: u64) -> Self {
        Self { room, held: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits until `bytes` fit. Two gates are always entered in the same order, so that nobody waits in a circle.
    pub(crate) fn enter(&self, bytes: u64) -> Held<'_> {
        let bytes = bytes.min(self.room);
        let mut held = self.lock();
        while *held + bytes > self.room {
            held = self.freed.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        *held += bytes;
        Held { gate: self, bytes }
    }

    /// A number cannot be left half changed.
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        *self.gate.lock() -= self.bytes;
        self.gate.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn what_is_held_never_passes_the_room() {
        let (gate, now, most) = (Gate::new(10), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for worker in 0..8_u64 {
                let (gate, now, most) = (&gate, &now, &most);
                scope.spawn(move || {
                    for round in 0..200 {
                        let wanted = (worker + round) % 13;
                        let held = gate.enter(wanted);
                        most.fetch_max(now.fetch_add(held.bytes, Ordering::SeqCst) + held.bytes, Ordering::SeqCst);
                        now.fetch_sub(held.bytes, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 10);
        assert_eq!(*gate.lock(), 0);
    }
}
