//! Results that are known better than by the manifest of their tool: those of a tool that takes the schema of its answer
//! as an argument, those of which somebody told, as a database of the columns of a statement, and tables of such results.

use std::collections::HashMap;

use emmylua_parser::{
    LuaAssignStat, LuaAstNode, LuaCallExpr, LuaChunk, LuaExpr, LuaFuncStat, LuaIndexKey, LuaLocalName,
    LuaParamName, LuaStat,
};
use serde_json::{Map, Value as Json, json};

use luaplan_catalog::lua_type;
use luaplan_syntax::Span;

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
    let mut results = Results::default();
    let mut known: HashMap<Span, String> = HashMap::new();
    let mut side_by_side: Vec<LuaCallExpr> = Vec::new();
    for call in chunk.descendants::<LuaCallExpr>() {
        if call.get_prefix_expr().is_some_and(|callee| callee.get_text() == "parallel") {
            side_by_side.push(call);
            continue;
        }
        let span = span_of(&call);
        let Some((_, spec, parameter, told)) = typed.iter().find(|(known, ..)| *known == span) else {
            continue;
        };
        let schema = match (told, parameter.map(|parameter| given(spec, &call, 0, parameter))) {
            (Some(told), _) => told.schema.clone(),
            (None, Some(Given::Absent)) => spec.result.clone(),
            (None, Some(Given::Shown(schema))) => schema.to_json(),
            (None, Some(Given::Hidden) | None) => continue,
        };
        let lua = format!("({})|ToolError", lua_type(&schema));
        results.cast(&call, &lua);
        results.schemas.push(schema);
        known.insert(span, lua);
    }
    if is_declared(chunk, "parallel") {
        side_by_side.clear();
    }
    for call in &side_by_side {
        if let Some((lua, schema)) = of_branches(call, &known) {
            results.cast(call, &lua);
            results.schemas.push(schema);
        }
    }
    results
}

impl Results {
    fn cast(&mut self, call: &LuaCallExpr, lua: &str) {
        // A cast belongs to the innermost expression before it: in `tool{…}` that is the table, but for brackets.
        let bare = call.get_args_list().filter(|list| list.syntax().text().char_at(0.into()) != Some('('));
        let end = if bare.is_some() { ")" } else { "" };
        self.casts.extend(bare.map(|list| (span_of(&list).0, "(".to_owned())));
        self.casts.push((span_of(call).1, format!("{end}--[[@as {lua}]]")));
    }
}

/// Whether the plan gives the name another meaning somewhere.
fn is_declared(chunk: &LuaChunk, name: &str) -> bool {
    let locals = chunk.descendants::<LuaLocalName>().filter_map(|local| local.get_name_token());
    let parameters = chunk.descendants::<LuaParamName>().filter_map(|param| param.get_name_token());
    let targets = chunk.descendants::<LuaAssignStat>().flat_map(|it| it.get_var_and_expr_list().0);
    let functions = chunk.descendants::<LuaFuncStat>().filter_map(|function| function.get_func_name());
    locals.chain(parameters).any(|token| token.get_name_text() == name)
        || targets.chain(functions).any(|target| target.get_text() == name)
}

/// The result of `parallel{name = function() … end}`: a table with the results under the names of the branches.
fn of_branches(call: &LuaCallExpr, known: &HashMap<Span, String>) -> Option<(String, Json)> {
    let arguments: Vec<LuaExpr> = call.get_args_list()?.get_args().collect();
    let [LuaExpr::TableExpr(table)] = arguments.as_slice() else { return None };
    let (mut fields, mut properties) = (Vec::new(), Map::new());
    for field in table.get_fields() {
        let Some(LuaIndexKey::Name(name)) = field.get_field_key() else { return None };
        let name = name.get_name_text().to_owned();
        let result = field.get_value_expr().and_then(|branch| returned(&branch));
        let lua = result.and_then(|span| known.get(&span)).map_or("any", String::as_str);
        fields.push(format!("{name}: {lua}"));
        properties.insert(name, Json::Bool(true));
    }
    let lua = format!("{{ {} }}", fields.join(", "));
    (!fields.is_empty()).then(|| (lua, json!({ "type": "object", "properties": properties })))
}

/// The call that is all a function does.
fn returned(branch: &LuaExpr) -> Option<Span> {
    let LuaExpr::ClosureExpr(closure) = branch else { return None };
    let statements: Vec<LuaStat> = closure.get_block()?.get_stats().collect();
    let [LuaStat::ReturnStat(only)] = statements.as_slice() else { return None };
    let values: Vec<LuaExpr> = only.get_expr_list().collect();
    match values.as_slice() {
        [LuaExpr::CallExpr(call)] => Some(span_of(call)),
        _ => None,
    }
}
