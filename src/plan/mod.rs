//! Rank 2: plans, and the only way to a checked one.
//!
//! [`check()`] goes from tokens over pairing and depth to the syntax tree, walks it once to resolve
//! names, and judges every global against the [`globals`] of the sandbox and the tools.
//!
//! **Never here:** running Lua, I/O. A check reads source and a catalog and nothing else.

mod arguments;
mod blocks;
mod check;
mod checked;
mod depth;
mod engine;
mod finding;
mod found;
pub mod globals;
mod judge;
mod report;
mod scope;
mod syntax;
mod tokens;
mod tree;
mod walk;

pub use check::{CheckReport, check};
pub use checked::CheckedPlan;
pub use engine::unsupported_on_piccolo;
pub use finding::{Finding, Severity};
pub use tree::{SyntaxFault, syntax_tree};

#[cfg(test)]
mod tests;
