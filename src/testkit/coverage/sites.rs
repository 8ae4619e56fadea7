//! The places where a plan calls tools, and the outcomes of these calls.

use emmylua_parser::{
    LuaAstNode, LuaCallExpr, LuaClosureExpr, LuaExpr, LuaIndexKey, LuaReturnStat, LuaSyntaxNode,
};
use serde_json::{Value as Json, json};

use luaplan_catalog::Catalog;

use super::lines::LineStarts;
use crate::recorder::CallRecord;

/// A place that calls a tool, or passes it to a function that does, as `retry` and `pcall` do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) line: u32,
    pub(crate) tool: String,
    /// The last line of the call.
    last_line: u32,
    /// For a tail call, the first line of the function that makes it: Lua has left the function when the
    /// call runs, so the trace shows another line.
    returned_from: Option<u32>,
    /// How often it was called, over all tests.
    pub(crate) calls: u64,
    /// How often that failed.
    pub(crate) failures: u64,
}

impl Site {
    /// How far the tests covered it.
    pub(crate) fn state(&self) -> &'static str {
        match (self.calls, self.failures) {
            (0, _) => "never called",
            (_, 0) => "called",
            _ => "failed path taken",
        }
    }

    pub(super) fn to_json(&self) -> Json {
        json!({
            "line": self.line,
            "tool": self.tool,
            "calls": self.calls,
            "failures": self.failures,
            "state": self.state(),
        })
    }
}

/// The places in `tree`, in order.
pub(super) fn sites(tree: &LuaSyntaxNode, source: &str, catalog: &Catalog) -> Vec<Site> {
    let lines = LineStarts::of(source);
    let mut found = Vec::new();
    for call in tree.descendants().filter_map(LuaCallExpr::cast) {
        let arguments = call.get_args_list().into_iter().flat_map(|list| list.get_args().collect::<Vec<_>>());
        for expression in call.get_prefix_expr().into_iter().chain(arguments) {
            let Some(tool) = path(&expression).filter(|name| catalog.get(name).is_some()) else { continue };
            let line_of = |offset| lines.of_offset(usize::from(offset));
            let line = line_of(expression.get_range().start());
            let last_line = line_of(call.get_range().end()).max(line);
            let returned_from = is_returned(&call).then(|| {
                let closure = call.syntax().ancestors().find_map(LuaClosureExpr::cast)?;
                Some(line_of(closure.get_range().start()))
            });
            let returned_from = returned_from.flatten();
            found.push(Site { line, tool, last_line, returned_from, calls: 0, failures: 0 });
        }
    }
    found.sort_by_key(|site| site.line);
    found
}

/// Whether the call is in tail position.
fn is_returned(call: &LuaCallExpr) -> bool {
    let statement = call.syntax().parent().and_then(LuaReturnStat::cast);
    statement.is_some_and(|statement| statement.get_expr_list().count() == 1)
}

/// `name`, or `server.name`.
fn path(expression: &LuaExpr) -> Option<String> {
    match expression {
        LuaExpr::NameExpr(name) => name.get_name_text(),
        LuaExpr::IndexExpr(index) => {
            let LuaExpr::NameExpr(server) = index.get_prefix_expr()? else { return None };
            let LuaIndexKey::Name(tool) = index.get_index_key()? else { return None };
            Some(format!("{}.{}", server.get_name_text()?, tool.get_name_text()))
        }
        _ => None,
    }
}

/// The place of a call of `tool` at `line`.
pub(super) fn place_of(sites: &[Site], tool: &str, line: u32) -> Option<usize> {
    let of_tool = || sites.iter().enumerate().filter(|(_, site)| site.tool == tool);
    let spanning = of_tool()
        .filter(|(_, site)| (site.line..=site.last_line).contains(&line))
        .min_by_key(|(_, site)| (site.line.abs_diff(line), site.last_line - site.line, site.calls));
    let returned = || of_tool().filter(|(_, site)| site.returned_from.is_some());
    let by_function = || returned().find(|(_, site)| site.returned_from == Some(line));
    // The line is that of the function's caller, which is unambiguous with one such place.
    let only = || returned().next().filter(|_| returned().count() == 1);
    spanning.or_else(by_function).or_else(only).map(|(place, _)| place)
}

/// Counts a call at its place; where the plan calls a tool by another name the place is a new one.
pub(super) fn count(sites: &mut Vec<Site>, call: &CallRecord) {
    let Some(line) = call.line() else { return };
    let failed = u64::from(call.has_failed());
    match place_of(sites, call.tool(), line) {
        Some(place) => {
            sites[place].calls += 1;
            sites[place].failures += failed;
        }
        None => {
            let tool = call.tool().to_owned();
            sites.push(Site { line, tool, last_line: line, returned_from: None, calls: 1, failures: failed });
            sites.sort_by_key(|site| site.line);
        }
    }
}
