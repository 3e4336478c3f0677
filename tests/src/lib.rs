//! The harness of the tests that run attache as its users do: the real binary, real files, real faults.
//!
//! [`attache`] runs the binary under a watchdog, [`Audit`] reads a context directory without any of attache's own
//! code, [`message`] makes messages that can be recognised after a crash, [`Mount`] makes file systems that can be
//! filled up or cut off, and [`browser`] looks at pages.

mod audit;
mod binary;
pub mod browser;
pub mod gate;
pub mod message;
mod mount;
mod process;
mod random;
mod victim;
mod writer;

pub use attache_media::fixtures as pictures;
pub use audit::{Audit, Reference, sha256};
pub use binary::binary;
pub use mount::{FileSystem, Mount, PowerCut, Shutdown};
pub use process::{Call, Finished, attache};
pub use random::Random;
pub use victim::{Victim, Work};
pub use writer::{Word, Writer, Written};
