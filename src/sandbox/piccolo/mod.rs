//! The second engine, on piccolo: Lua in Rust, without use of the host's stack.
//!
//! It runs the same prelude, natives and plan library as the first one. Where piccolo differs from Lua
//! 5.4, the source is rewritten before piccolo sees it (`rewrite`), with our helpers; what piccolo cannot
//! do at all is refused by name.
//!
//! piccolo can panic, and a panic inside it ends the run; a VM of this engine is not `Send`. So it
//! belongs in a worker process.

mod callbacks;
mod codec;
mod concat;
mod coroutines;
mod cycles;
mod depth;
mod drive;
mod engine;
mod fault;
mod globals;
mod host;
mod iterate;
mod keys;
mod lib_host;
mod library;
mod maths;
mod members;
mod natives;
mod numbers;
mod operators;
mod order;
mod parts;
mod prelude;
mod protect;
mod report;
mod rewrite;
mod store;
mod tables;
mod values;
mod vm;

pub use parts::compiles_on_piccolo;
pub use vm::PiccoloVm;

#[cfg(test)]
mod tests;
