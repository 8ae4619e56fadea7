//! Rank 4: worker processes, in which a VM can fail without harm to anything else.
//!
//! A worker is this program started as `luaplan worker`: it confines itself, makes a VM, and exchanges
//! the pauses of the sandbox over its standard input and output. The host keeps some ready, enforces the
//! protocol and the time limit of each, and reports a worker's failure as the error of the run it served.
//!
//! **Never here:** how a call is answered (the bus), how long a run may take (the engine), what runs.

mod confine;
mod descriptors;
mod frame;
mod gate;
mod message;
mod parent;
mod pool;
mod process;
mod serve;
mod session;
mod signal;
mod value_codec;
mod worker_main;

pub use confine::{ConfineSettings, Confinement, ConfinementLayer, confined};
pub use descriptors::raise_descriptor_limit;
pub use pool::{PoolSettings, WorkerPool};
pub use process::{WorkerProgram, is_violation};
pub use session::{Pause, WorkerRun, WorkerStart};
pub use signal::WorkerSignals;
pub use worker_main::{WorkerRole, worker_main};

#[cfg(test)]
mod tests;
