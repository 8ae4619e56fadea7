//! What the binding cannot do safely or fast enough, on the Lua state itself.
//!
//! The only `unsafe` of the crate is in this folder, each block with its reason. Lua raises by
//! `longjmp`, which drops nothing: so no frame of ours that Lua may jump over owns anything.

pub(super) mod age;
mod alloc;
pub(super) mod bell;
pub(super) mod call;
mod compare;
pub(super) mod coroutine;
pub(super) mod drive;
pub(super) mod freed;
pub(super) mod hook;
mod layout;
pub(super) mod native;
pub(super) mod put_in;
mod rehash;
pub(super) mod stock;
pub(super) mod tables;
pub(super) mod take_out;
pub(super) mod watch;
