//! What people decide: which calls wait for them, who may decide, what they change, and what they grant for later.

pub(crate) mod approvers;
pub(crate) mod edit;
pub(crate) mod grants;
pub(crate) mod pending;
pub(crate) mod service;
