//! Which process may write to a run: a lock on one machine, a lease among several nodes.

pub(crate) mod hold;
pub(crate) mod local_lock;
