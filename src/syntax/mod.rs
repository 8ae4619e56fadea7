//! Rank 1: Lua source as a syntax tree, or the one fault that a reviewer would name.
//!
//! [`parse`] checks tokens, pairing and depth before it builds the tree: no tree it returns is too deep to walk.
//! The check, the second engine and the coverage of plan tests read the same trees.
//!
//! **Never here:** what a plan may do or call. Findings are made in `plan`.

mod blocks;
mod braces;
mod depth;
mod environment;
mod lines;
mod parse;
mod tokens;

pub use environment::swapped_environment;
pub use lines::{Lines, Span};
pub use parse::{SyntaxFault, parse, syntax_tree};

#[cfg(test)]
mod tests;
