//! Rank 2: plans, and the only way to a checked one.
//!
//! [`check()`] parses the source (tokens, pairing, depth, tree), walks the tree once to resolve names, and
//! judges every global against the [`globals`] of the sandbox and the tools. Then `types` infers what
//! values are and judges arguments, fields and nils, and `rules` inspects the tree with one rule a file;
//! comments in the plan can allow what a rule finds.
//!
//! **Never here:** running Lua, I/O. A check reads source, a catalog and the shape of a context, and
//! nothing else.

#![cfg_attr(not(feature = "types"), allow(dead_code, reason = "what the typed check alone looks at"))]

mod arguments;
mod check;
mod checked;
mod declarations;
pub mod draw;
mod finding;
pub mod flow;
mod guards;
mod input;
mod names;
pub mod parameters;
mod piccolo_subset;
pub mod preview;
mod report;
mod rules;
mod shape;
pub mod steps;
mod written;

#[cfg(feature = "types")]
mod types;
#[cfg(not(feature = "types"))]
#[path = "types_absent.rs"]
mod types;

pub use check::{ArgumentShape, CheckReport, admit_accepted, check, check_with};
pub use checked::CheckedPlan;
pub use finding::{Finding, Remark, Severity};
pub use input::{CheckInput, KnownResult};
pub use names::globals;
pub use piccolo_subset::unsupported_on_piccolo;
pub use rules::rule_codes;
pub use shape::{kinds, shape};
pub use written::{WrittenText, is_written, written_text};

#[cfg(test)]
#[cfg(feature = "types")]
mod tests;
