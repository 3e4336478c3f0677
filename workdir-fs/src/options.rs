//! The choices a host makes when it opens a work folder.

/// How a [`WorkDir`](crate::WorkDir) treats what it finds. The default suits tools that are careless but not hostile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkDirOptions {
    /// What to do with a file that has more than one name.
    pub hard_links: HardLinks,
    /// How paths are walked. Leave it at [`Walk::Auto`] outside tests.
    pub walk: Walk,
}

impl WorkDirOptions {
    /// Replaces [`hard_links`](Self::hard_links).
    #[must_use]
    pub fn with_hard_links(mut self, hard_links: HardLinks) -> Self {
        self.hard_links = hard_links;
        self
    }

    /// Replaces [`walk`](Self::walk).
    #[must_use]
    pub fn with_walk(mut self, walk: Walk) -> Self {
        self.walk = walk;
        self
    }
}

/// What to do with a file whose link count is above one.
///
/// A hard link to a file outside the folder cannot be told from an ordinary file but for that count. Making one
/// needs a second place on the same file system, and often the right to write to the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HardLinks {
    /// Read it like any other file. Package managers and checkouts share files this way.
    #[default]
    Accept,
    /// Refuse it as `not_a_regular_file`, for folders shared with hostile tools.
    Refuse,
}

/// How a path is turned into a descriptor without following a link. The results are the same; the cost is not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Walk {
    /// [`Openat2`](Self::Openat2) where the kernel has and allows it, else [`Handles`](Self::Handles).
    #[default]
    Auto,
    /// One `openat2` call (Linux 5.6). Opening the folder fails where that call is missing or filtered.
    Openat2,
    /// One directory handle after another, each opened without following.
    Handles,
}
