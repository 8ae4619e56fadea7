//! Plans that are not run: checked, explained, and held against the policy, on threads of their own.

pub(crate) mod analysis_pool;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod held;
mod models;
pub(crate) mod policy;
mod results;
mod statements;
pub(crate) mod steering;
mod texts;
mod world;
