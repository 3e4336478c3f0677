//! The `attache demo` command: the whole loop on pictures it draws itself.

#[cfg_attr(not(test), expect(dead_code, reason = "the command that shows these pictures is not written yet"))]
mod pictures;
