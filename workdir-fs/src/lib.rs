//! The work folder as a capability: bounded reads of one snapshot, never through a link, never outside.
