//! How many descriptors this process may have.

/// Takes as many as the system allows: each worker takes four (three pipes and a hold on its end),
/// and the usual 1,024 are few for hundreds of them. Where it cannot be raised, it stays.
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
