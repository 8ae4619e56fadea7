//! The engine on mlua: Lua 5.4 in C, with our prelude, meter and conversion around it.

mod bytecode;
mod codec;
mod compiled;
mod fault;
mod ffi;
mod host;
mod lib_host;
mod library;
mod lua_chunk;
mod pool;
mod prelude;
mod report;
mod vm;

pub use ffi::freed::keep_freed_memory;
pub use pool::VmPool;
pub use vm::Vm;
