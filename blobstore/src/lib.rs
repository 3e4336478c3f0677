//! Bytes stored once by their sha256: durable puts, verified reads, sweep and check.
