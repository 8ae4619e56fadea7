//! Results that are known better than by the manifest of their tool: those of a tool that takes the schema of its answer
//! as an argument, and those of which somebody told, as a database of the columns of a statement.

use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaChunk};

use serde_json::Value as Json;

use luaplan_catalog::lua_type;

use crate::CheckInput;
use crate::arguments::{Given, given};
use crate::names::calls::ToolCall;
use crate::names::found::span_of;

/// What the schemas in calls say.
#[derive(Default)]
pub(super) struct Results {
    /// The casts to insert: places in the plan, and the text there.
    pub(super) casts: Vec<(usize, String)>,
    pub(super) schemas: Vec<Json>,
}

/// The results of calls that show their schema. What is called through another function is left as it is, as its result is one
/// of several.
pub(super) fn results(chunk: &LuaChunk, calls: &[ToolCall], input: &CheckInput<'_>) -> Results {
    let typed: Vec<_> = calls
        .iter()
        .filter(|call| call.skip == 0)
        .filter_map(|call| {
            let spec = input.catalog.get(&call.tool)?;
            let told = input.results.iter().find(|result| result.call == call.span);
            let parameter = spec.result_schema_parameter();
            (told.is_some() || parameter.is_some()).then_some((call.span, spec, parameter, told))
        })
        .collect();
    if typed.is_empty() {
        return Results::default();
    }
    let mut results = Results::default();
    for call in chunk.descendants::<LuaCallExpr>() {
        let (span, arguments) = (span_of(&call), call.get_args_list());
        let Some((_, spec, parameter, told)) = typed.iter().find(|(known, ..)| *known == span) else {
            continue;
        };
        let schema = match (told, parameter.map(|parameter| given(spec, &call, 0, parameter))) {
            (Some(told), _) => told.schema.clone(),
            (None, Some(Given::Absent)) => spec.result.clone(),
            (None, Some(Given::Shown(schema))) => schema.to_json(),
            (None, Some(Given::Hidden) | None) => continue,
        };
        // A cast belongs to the innermost expression before it: in `tool{…}` that is the table, but for brackets.
        let bare = arguments.filter(|list| list.syntax().text().char_at(0.into()) != Some('('));
        let end = if bare.is_some() { ")" } else { "" };
        results.casts.extend(bare.map(|list| (span_of(&list).0, "(".to_owned())));
        results.casts.push((span.1, format!("{end}--[[@as ({})|ToolError]]", lua_type(&schema))));
        results.schemas.push(schema);
    }
    results
}
