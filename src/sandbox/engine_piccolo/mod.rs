//! The second engine, on piccolo: Lua in Rust without a stack of its own.
//!
//! It runs the same prelude, natives and plan library as the first one. What piccolo does otherwise
//! than Lua 5.4 is put right before it sees the source (`rewrite`) and by helpers of ours; what it
//! cannot do at all is refused by name.
//!
//! piccolo can panic, and a panic inside it ends the run; a VM of this engine is not `Send`. So it
//! belongs into a worker process.

mod codec;
mod concat;
mod coroutines;
mod cycles;
mod depth;
mod drive;
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
