//! Results whose schema stands in the call: those of a tool that takes the schema of its answer as an argument.

use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaChunk};

use luaplan_catalog::{Catalog, lua_type};

use crate::arguments::{Given, given};
use crate::names::calls::ToolCall;
use crate::names::found::span_of;

/// The casts to insert: places in the plan, and the text there. What is called through another function has none, as its
/// result is one of several.
pub(super) fn casts(chunk: &LuaChunk, calls: &[ToolCall], catalog: &Catalog) -> Vec<(usize, String)> {
    let typed: Vec<_> = calls
        .iter()
        .filter(|call| call.skip == 0)
        .filter_map(|call| {
            let spec = catalog.get(&call.tool)?;
            Some((call.span, spec, spec.result_schema_parameter()?))
        })
        .collect();
    if typed.is_empty() {
        return Vec::new();
    }
    let of_call = |call: LuaCallExpr| {
        let span = span_of(&call);
        let (_, spec, parameter) = typed.iter().find(|(known, _, _)| *known == span)?;
        let result = match given(spec, &call, 0, parameter) {
            Given::Absent => lua_type(&spec.result),
            Given::Shown(schema) => lua_type(&schema.to_json()),
            Given::Hidden => return None,
        };
        let cast = format!("--[[@as ({result})|ToolError]]");
        // A cast belongs to the innermost expression before it: in `tool{…}` that is the table.
        let arguments = span_of(&call.get_args_list()?);
        let is_bare = call.get_args_list()?.syntax().text().char_at(0.into()) != Some('(');
        Some(match is_bare {
            true => vec![(arguments.0, "(".to_owned()), (span.1, format!("){cast}"))],
            false => vec![(span.1, cast)],
        })
    };
    chunk.descendants::<LuaCallExpr>().filter_map(of_call).flatten().collect()
}
