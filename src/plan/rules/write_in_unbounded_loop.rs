//! Calls that change the world inside a loop that nothing bounds.

use emmylua_parser::LuaAstNode;

use luaplan_base::Effect;

use super::loops::{Loop, LoopBound};
use super::repeats::Repeats;
use super::{Plan, Raised};
use crate::names::found::span_of;

const BOUND_IT: &str = "count the turns, as in `while more and turns < 100`, or go over a list with `for`";

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let mut found = Vec::new();
    let repeats = Repeats::of(plan.chunk);
    for call in plan.calls.iter().filter(|call| call.spec.effect != Effect::Read) {
        let loops = Loop::around(call.expression.syntax());
        let bounds: Vec<LoopBound> = loops.iter().map(Loop::bound).collect();
        let (name, effect) = (&call.spec.name, call.spec.effect.as_str());
        let span = span_of(&call.expression);
        if bounds.contains(&LoopBound::Never) {
            let message = format!("`{name}` (effect: {effect}) is called in a loop that never ends");
            let help =
                "count the turns and leave the loop after a fixed number, or go over a list with `for`";
            found.push(Raised::error(span, message, help));
        } else if bounds.contains(&LoopBound::ByData) {
            let message =
                format!("`{name}` (effect: {effect}) is called in a loop without a bound of its own");
            found.push(Raised::warning(span, message, BOUND_IT));
        } else if let Some(how) = repeats.how(call.expression.syntax()) {
            let message = format!("`{name}` (effect: {effect}) is called {how}");
            found.push(Raised::warning(span, message, BOUND_IT));
        }
    }
    found
}
