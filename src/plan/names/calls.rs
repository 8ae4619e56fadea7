//! Which calls of tools and of the library a plan makes.

use luaplan_syntax::Span;

/// The calls that the judge of names has found.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) tools: Vec<ToolCall>,
    /// Those of library functions, under `library.member`.
    pub(crate) library: Vec<ToolCall>,
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub(crate) struct ToolCall {
    /// The tool's name.
    pub(crate) tool: String,
    /// The whole call, as in `tool{…}` or `pcall(tool, …)`.
    pub(crate) span: Span,
    /// So many of its first arguments are not the tool's.
    pub(crate) skip: usize,
}
