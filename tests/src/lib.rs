//! End-to-end, crash, race and conformance tests of attache, and its benches.
