//! The sandbox as its users see it: source in, steps out.

mod calls;
mod cases;
mod conversion;
mod engines;
mod globals;
mod harness;
mod hostile;
mod limits;
mod lines;
mod repeat;
mod shared;
#[cfg(feature = "piccolo")]
mod steps;
mod tables;
