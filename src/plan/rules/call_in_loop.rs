//! Calls in a loop, one after another, that could be one call or run in parallel.

use emmylua_parser::{LuaAstNode, LuaBreakStat, LuaExpr, LuaGotoStat, LuaReturnStat};

use luaplan_base::Effect;

use super::loops::Loop;
use super::{Call, Plan, Raised};
use crate::names::found::span_of;

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let reads = plan.calls.iter().filter(|call| call.spec.effect == Effect::Read && call.is_direct);
    let reads = reads.filter(|call| call.spec.sleeps_max.is_none());
    reads.filter_map(in_loop).collect()
}

fn in_loop(call: &Call) -> Option<Raised> {
    // A computation has no waiting time to save, and a person is best asked one thing at a time.
    if call.spec.capability.starts_with("data.") || call.spec.capability.starts_with("person.") {
        return None;
    }
    let Some(Loop::Each(each)) = Loop::around(call.expression.syntax()).into_iter().next() else {
        return None;
    };
    let block = each.get_block()?;
    // A loop that may end early calls only as often as it needs.
    if block.descendants::<LuaBreakStat>().next().is_some()
        || block.descendants::<LuaReturnStat>().next().is_some()
        || block.descendants::<LuaGotoStat>().any(|jump| {
            jump.get_label_name_token().is_none_or(|label| {
                !label.get_name_text().contains("continue") && !label.get_name_text().contains("next")
            })
        })
    {
        return None;
    }
    let name = &call.spec.name;
    let first = call.spec.parameters().next().map(|(parameter, _)| parameter.to_owned())?;
    let takes_many = call.spec.parameter_accepts(&first, "array")
        && call.spec.parameter_accepts(&first, "string")
        && takes_first_alone(call);
    let (message, help) = if takes_many {
        (
            format!("`{name}` is called once a turn, one call after another"),
            format!("collect the values in a list and call `{name}` once with it"),
        )
    } else {
        (
            format!("`{name}` is called once a turn, one call after another"),
            "make the calls side by side: `parallel(list.map(items, function(item) return function() … end end))`"
                .to_owned(),
        )
    };
    Some(Raised::warning(span_of(&call.expression), message, help))
}

/// Whether the first parameter is given by a plain value, so that a list could stand there.
fn takes_first_alone(call: &Call) -> bool {
    let arguments: Vec<LuaExpr> =
        call.expression.get_args_list().into_iter().flat_map(|list| list.get_args()).collect();
    matches!(arguments.first(), Some(LuaExpr::NameExpr(_) | LuaExpr::IndexExpr(_) | LuaExpr::BinaryExpr(_)))
}
