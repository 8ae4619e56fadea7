//! Rank 1: files below allowed folders.
//!
//! [`Grounds`] judges a path by its text: which allowed folder it lies in, and whether a block covers it. [`Grounds::read`],
//! [`Grounds::create`] and [`Grounds::replace`] then open it below that folder without following any link, so that the name
//! that was judged is the name that is opened, whatever is renamed or linked in between. Allowed is only what is named;
//! a block outweighs an allowed folder.
//!
//! **Never here:** async, the bus, configuration, a path of a plan that reaches the system unjudged.

#[cfg(unix)]
mod access;
mod fault;
#[cfg(unix)]
mod open;
mod rules;

pub use fault::FileFault;
pub use rules::{BLOCKED_BY_DEFAULT, GroundRules, Grounds, Place, Purpose};

#[cfg(test)]
mod tests;
