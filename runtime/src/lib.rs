//! The attachment subsystem that an agent runtime embeds.
