//! The walk over a plan: which local, global or function each name is, and what is judged of the globals.

pub(crate) mod calls;
pub(crate) mod found;
pub mod globals;
pub(crate) mod judge;
pub(crate) mod scope;
pub(crate) mod walk;
