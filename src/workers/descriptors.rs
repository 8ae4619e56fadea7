//! The limit on this process's descriptors.

/// Raises the limit as far as the system allows, if it does: each worker takes four (three pipes and one
/// to watch its end), and the usual 1,024 are too few for hundreds of them.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        if let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE)
            && soft < hard
            && let Err(error) = setrlimit(Resource::RLIMIT_NOFILE, hard, hard)
        {
            tracing::warn!(%error, soft, hard, "the number of descriptors could not be raised");
        }
    }
}
