//! Rank 2: plans, and the only way to a checked one.
//!
//! [`check()`] goes from tokens over pairing and depth to the syntax tree, walks it once to resolve
//! names, and judges every global against the [`globals`] of the sandbox and the tools. Then `types`
//! infers what values are and judges arguments, fields and nils, and `rules` looks at the tree with
//! one rule a file; comments in the plan allow what a rule found.
//!
//! **Never here:** running Lua, I/O. A check reads source, a catalog and the shape of a context, and
//! nothing else.

mod arguments;
mod check;
mod checked;
mod declarations;
pub mod draw;
mod engine;
mod finding;
pub mod flow;
mod found;
pub mod globals;
mod guards;
mod judge;
pub mod preview;
mod report;
mod rules;
mod scope;
mod shape;
mod types;
mod walk;

pub use check::{CheckInput, CheckReport, admit_accepted, check, check_with};
pub use checked::CheckedPlan;
pub use engine::unsupported_on_piccolo;
pub use finding::{Finding, Severity};
pub use rules::rule_codes;
pub use shape::shape;

#[cfg(test)]
mod tests;
