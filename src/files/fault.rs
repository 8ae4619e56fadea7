//! Why a file was not read or written.

/// Why a file was not read or written. Paths stand as the caller wrote them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// The rules refuse the path, or what it names is no regular file with a single name.
    #[error("`{path}` is refused: {why}")]
    Refused {
        /// The path.
        path: String,
        /// The rule, for people.
        why: String,
    },
    /// There is nothing at that path.
    #[error("`{path}` is not there")]
    NotFound {
        /// The path.
        path: String,
    },
    /// The file is larger than one call may read or write.
    #[error("`{path}` has {observed} bytes; {limit} are allowed")]
    TooLarge {
        /// The path.
        path: String,
        /// The bytes that are allowed.
        limit: u64,
        /// The bytes there are, or one more than allowed where a file grew while it was read.
        observed: u64,
    },
    /// A file that was to be created is there already.
    #[error("`{path}` is there already; nothing was written")]
    Exists {
        /// The path.
        path: String,
    },
    /// A file that was to be replaced holds something else than the caller saw.
    #[error("`{path}` has changed since it was looked at; nothing was written")]
    Changed {
        /// The path.
        path: String,
    },
    /// The system refused.
    #[error("`{path}`: {why}")]
    System {
        /// The path.
        path: String,
        /// The system's words.
        why: String,
    },
}
