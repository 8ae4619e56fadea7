//! Tools called by a computed name: a reviewer cannot tell beforehand which tool it will be.

use emmylua_parser::{
    LuaAssignStat, LuaAstNode, LuaCallExpr, LuaExpr, LuaIndexExpr, LuaIndexKey, LuaLocalStat, LuaTableExpr,
    LuaVarExpr,
};

use super::{Plan, Raised};
use crate::names::found::span_of;

const HELP: &str = "call the tool by its name; with `if` or a table of functions that each call one tool";

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let mut found = Vec::new();
    for index in plan.chunk.descendants::<LuaIndexExpr>() {
        let Some(prefix) = index.get_prefix_expr() else { continue };
        if !matches!(index.get_index_key(), Some(LuaIndexKey::Expr(_))) {
            continue;
        }
        let name = prefix.get_text();
        if matches!(name.as_str(), "_G" | "_ENV") && !plan.walk.writes.iter().any(|write| write.name == name)
        {
            let message = format!("`{name}[…]` is a name worked out while the plan runs");
            found.push(Raised::warning(span_of(&index), message, HELP));
        } else if is_called(&index) && holds_tools(plan, &prefix) {
            let message = format!("which tool `{name}[…]` calls is worked out while the plan runs");
            found.push(Raised::warning(span_of(&index), message, HELP));
        }
    }
    found
}

fn is_called(index: &LuaIndexExpr) -> bool {
    let call = index.syntax().parent().and_then(LuaCallExpr::cast);
    call.and_then(|call| call.get_prefix_expr()).is_some_and(|callee| callee.syntax() == index.syntax())
}

/// Whether a name is a server of tools, or a variable whose table holds a tool.
fn holds_tools(plan: &Plan<'_>, prefix: &LuaExpr) -> bool {
    let LuaExpr::NameExpr(name) = prefix else { return false };
    let Some(name) = name.get_name_text() else { return false };
    let is_local = |table: &LuaTableExpr| names_a_tool(plan, table);
    let is_server =
        plan.input.catalog.names().any(|tool| tool.split_once('.').is_some_and(|(own, _)| own == name));
    let in_locals = plan.chunk.descendants::<LuaLocalStat>().any(|local| {
        local.get_value_exprs().any(|value| {
            let own = local.get_local_name_by_value(value.clone()).and_then(|own| own.get_name_token());
            own.is_some_and(|own| own.get_name_text() == name)
                && matches!(&value, LuaExpr::TableExpr(table) if is_local(table))
        })
    });
    let in_assignments = plan.chunk.descendants::<LuaAssignStat>().any(|assignment| {
        let (targets, values) = assignment.get_var_and_expr_list();
        targets.iter().zip(&values).any(|(target, value)| {
            matches!(target, LuaVarExpr::NameExpr(own) if own.get_name_text().as_deref() == Some(name.as_str()))
                && matches!(value, LuaExpr::TableExpr(table) if is_local(table))
        })
    });
    is_server || in_locals || in_assignments
}

fn names_a_tool(plan: &Plan<'_>, table: &LuaTableExpr) -> bool {
    table.get_fields().filter_map(|field| field.get_value_expr()).any(|value| {
        matches!(&value, LuaExpr::NameExpr(_) | LuaExpr::IndexExpr(_))
            && plan.input.catalog.get(&value.get_text()).is_some()
    })
}
