//! The result of a tool call that the plan ignores.
//!
//! A failed call then ends the run with `tool_error_ignored`, after everything else is done.

use emmylua_parser::{LuaAstNode, LuaCallExprStat, LuaClosureExpr, LuaExpr, LuaLocalStat, LuaNameExpr};

use super::{Call, Plan, Raised};
use crate::names::found::span_of;

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    // Most plans need no result of a sleep; a failed sleep fails the run.
    let calls = plan.calls.iter().filter(|call| call.spec.sleeps_max.is_none());
    calls.filter_map(|call| unused(plan, call)).collect()
}

/// A protected call of the tool itself whose second result the plan drops: a failed call is a value and
/// raises nothing, so the failure is lost.
fn hidden_by_pcall(call: &Call) -> Option<Raised> {
    let callee = call.expression.get_prefix_expr()?.get_text();
    if call.is_direct || callee != "pcall" {
        return None;
    }
    let name = &call.spec.name;
    let parent = call.expression.syntax().parent()?;
    let allow = "where a failure may be lost, say why: `-- luaplan: allow(plan_result_unused) REASON`";
    if LuaCallExprStat::can_cast(parent.kind().into()) {
        let message = format!("`pcall` hides whether this `{name}` succeeded");
        let help = format!("write `local result = {name}…` and test `result.error`; {allow}");
        return Some(Raised::warning(span_of(&call.expression), message, help));
    }
    let local = LuaLocalStat::cast(parent)?;
    let variables: Vec<_> = local.get_local_name_list().collect();
    let (ok, true) = (variables.first()?, variables.len() == 1) else { return None };
    let ok = ok.get_name_token()?;
    let ok = emmylua_parser::LuaNameToken::get_name_text(&ok).to_owned();
    let message = format!("`{ok}` is true also where `{name}` failed: a failed call raises nothing");
    let help = format!("write `local result = {name}…` and test `result.error`; {allow}");
    Some(Raised::warning(span_of(&call.expression), message, help))
}

fn unused(plan: &Plan<'_>, call: &Call) -> Option<Raised> {
    let name = &call.spec.name;
    if let Some(raised) = hidden_by_pcall(call) {
        return Some(raised);
    }
    let parent = call.expression.syntax().parent()?;
    if LuaCallExprStat::can_cast(parent.kind().into()) {
        let message = format!("the result of this `{name}` is never checked");
        let help = format!(
            "write `local result = {name}…` and test `result.error`, or else a failure ends the run only when all is done"
        );
        return Some(Raised::warning(span_of(&call.expression), message, help));
    }
    let local = LuaLocalStat::cast(parent)?;
    let variable =
        local.get_local_name_by_value(LuaExpr::CallExpr(call.expression.clone()))?.get_name_token()?;
    let variable = emmylua_parser::LuaNameToken::get_name_text(&variable).to_owned();
    let scope = call.expression.ancestors::<LuaClosureExpr>().last();
    let mut names: Box<dyn Iterator<Item = LuaNameExpr>> = match &scope {
        Some(function) => Box::new(function.descendants::<LuaNameExpr>()),
        None => Box::new(plan.chunk.descendants::<LuaNameExpr>()),
    };
    if variable == "_" || names.any(|used| used.get_name_text().as_deref() == Some(variable.as_str())) {
        return None;
    }
    let message = format!("the result of `{name}` is kept in `{variable}`, which is never looked at");
    let help = format!("test `{variable}.error`, or else a failure ends the run only when all is done");
    Some(Raised::warning(span_of(&call.expression), message, help))
}
