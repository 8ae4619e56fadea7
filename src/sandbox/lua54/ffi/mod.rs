//! Operations on the Lua state itself that the binding cannot do safely or fast enough.
//!
//! The only `unsafe` of the crate is in this folder, each block with its reason. Lua raises by
//! `longjmp`, which drops nothing: so no frame of ours that Lua may jump over owns anything.

mod alloc;
pub(super) mod call;
pub(super) mod call_interrupt;
mod compare;
pub(super) mod coroutine;
pub(super) mod creation_order;
pub(super) mod drive;
mod duty;
pub(super) mod freed;
mod hook;
mod layout;
pub(super) mod metered_builtins;
pub(super) mod native;
pub(super) mod push;
pub(super) mod read;
mod rehash;
mod state;
pub(super) mod tables;
pub(super) mod watch;
