//! Values into the VM and out of it, by the rules of the first engine: see [`crate::lua54`].
//!
//! A table from outside has a metatable of ours: `[1]` the mark, and for objects `[2]` the keys in
//! order, `[3]` the set of keys, which `pairs` reads, and `[4]` the set of keys that were null.

mod failures;
mod path;
mod read;
mod shape;
mod write;

pub(super) use shape::Codec;

/// How deep values may be nested.
pub(super) const VALUE_DEPTH_MAX: usize = 128;

/// How many nodes one conversion may have; a shared table counts at each occurrence.
pub(super) const VALUE_NODES_MAX: u64 = 1_000_000;
