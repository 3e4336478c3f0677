//! The buffers that files are read into, used again and again.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

/// A larger buffer is freed rather than kept. The default limit on an image fits twice.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// A bounded pool of read buffers. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Buffers(Arc<Pool>);

#[derive(Debug)]
struct Pool {
    idle: Mutex<Vec<Vec<u8>>>,
    max_idle: usize,
}

/// Returns its buffer when it is dropped.
struct OnLoan {
    buffer: Vec<u8>,
    pool: Arc<Pool>,
}

impl Buffers {
    /// A pool that keeps at most `max_idle` buffers while nobody uses them.
    pub(crate) fn new(max_idle: usize) -> Self {
        Self(Arc::new(Pool { idle: Mutex::new(Vec::new()), max_idle }))
    }

    /// An empty buffer; it may have room already.
    pub(crate) fn take(&self) -> Vec<u8> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a buffer back.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        self.0.give_back(buffer);
    }

    /// Turns a filled buffer into bytes that return it when the last of their clones is gone.
    ///
    /// Whoever holds the bytes, say a cache, holds the whole buffer. One that is less than half full is therefore
    /// copied first, so that no one pays for more than twice what they asked for.
    pub(crate) fn freeze(&self, buffer: Vec<u8>) -> Bytes {
        if buffer.len() < buffer.capacity() / 2 {
            let bytes = Bytes::copy_from_slice(&buffer);
            self.give_back(buffer);
            return bytes;
        }
        Bytes::from_owner(OnLoan { buffer, pool: Arc::clone(&self.0) })
    }
}

impl Pool {
    fn give_back(&self, mut buffer: Vec<u8>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if buffer.capacity() <= MAX_KEPT_BYTES && idle.len() < self.max_idle {
            buffer.clear();
            idle.push(buffer);
        }
    }
}

impl AsRef<[u8]> for OnLoan {
    fn as_ref(&self) -> &[u8] {
        &self.buffer
    }
}

impl Drop for OnLoan {
    fn drop(&mut self) {
        self.pool.give_back(std::mem::take(&mut self.buffer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle(buffers: &Buffers) -> usize {
        buffers.0.idle.lock().unwrap().len()
    }

    #[test]
    fn a_buffer_comes_back_when_the_last_clone_of_its_bytes_is_gone() {
        let buffers = Buffers::new(1);
        let mut buffer = buffers.take();
        buffer.extend_from_slice(&[7; 1000]);
        let at = buffer.as_ptr();
        let bytes = buffers.freeze(buffer);
        let clone = bytes.slice(10..20);
        drop(bytes);
        assert_eq!((idle(&buffers), &clone[..]), (0, &[7; 10][..]));
        drop(clone);
        assert_eq!(idle(&buffers), 1);
        let again = buffers.take();
        assert_eq!((again.as_ptr(), again.len()), (at, 0));
    }

    #[test]
    fn bytes_never_hold_on_to_a_buffer_twice_their_length() {
        let buffers = Buffers::new(2);
        let mut buffer = Vec::with_capacity(1000);
        buffer.extend_from_slice(b"short");
        let bytes = buffers.freeze(buffer);
        assert_eq!((idle(&buffers), &bytes[..]), (1, &b"short"[..]));
    }

    #[test]
    fn the_pool_is_bounded_in_number_and_size() {
        let buffers = Buffers::new(2);
        for _ in 0..5 {
            buffers.give_back(vec![0; 10]);
        }
        assert_eq!(idle(&buffers), 2);
        let large = Buffers::new(2);
        large.give_back(Vec::with_capacity(MAX_KEPT_BYTES + 1));
        assert_eq!(idle(&large), 0);
    }
}
