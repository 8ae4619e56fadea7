//! What people decide: which calls and plans wait for them, who may decide, what they change, and what they grant for later.

pub(crate) mod approvers;
pub(crate) mod edit;
pub(crate) mod grants;
pub(crate) mod pending;
pub(crate) mod plan;
pub(crate) mod questions;
pub(crate) mod service;
