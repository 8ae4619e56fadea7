//! Steps that cannot work as they are written: names used twice, unknown or declared later, and circles.

use std::collections::{BTreeMap, HashSet};

use emmylua_parser::{LuaAstNode, LuaBlock, LuaClosureExpr, LuaExpr, LuaSyntaxNode};

use luaplan_base::{STEP_DEPENDS_MAX, STEP_NAME_BYTES_MAX, STEP_RETRIES_MAX, Value, nearest};
use luaplan_syntax::Span;

use super::loops::Loop;
use super::{Plan, Raised};
use crate::arguments::literal;
use crate::names::found::span_of;
use crate::steps::{Declared, declared};

const OPTIONS: [&str; 2] = ["depends_on", "retries"];

pub(super) fn find(plan: &Plan<'_>) -> Vec<Raised> {
    let steps = declared(plan.walk);
    let mut found = Vec::new();
    for step in &steps {
        found.extend(shape(plan, step));
    }
    found.extend(repeated(&steps));
    found.extend(dependencies(&steps));
    found
}

/// What is wrong with one call by itself.
fn shape(plan: &Plan<'_>, step: &Declared) -> Vec<Raised> {
    let mut found = Vec::new();
    match step.argument(0) {
        None => found.push(Raised::error(
            span_of(&step.call),
            "`step` is called without a name",
            "write `step(\"name\", function() … end)`",
        )),
        Some(name) => found.extend(name_fault(&name)),
    }
    match step.argument(1) {
        None if step.argument(0).is_some() => {
            found.push(no_function(span_of(&step.call), "without a function"));
        }
        Some(LuaExpr::CallExpr(call)) if plan.calls.iter().any(|tool| tool.expression == call) => {
            found.push(no_function(
                span_of(&call),
                "with the result of a call, which is made before the step",
            ));
        }
        Some(value) if literal(&value).is_some() => {
            found.push(no_function(span_of(&value), "without a function"));
        }
        _ => {}
    }
    for (name, span, value) in step.options().unwrap_or_default() {
        found.extend(option_fault(&name, span, &value));
    }
    found
}

fn no_function(span: Span, how: &str) -> Raised {
    let help = "write `step(\"name\", function() return … end)`";
    Raised::error(span, format!("`step` is called {how}"), help)
}

fn name_fault(name: &LuaExpr) -> Option<Raised> {
    let wrong = |message: String| {
        let help = format!("a name is a text of 1 to {STEP_NAME_BYTES_MAX} bytes without control characters");
        Some(Raised::error(span_of(name), message, help))
    };
    match literal(name)? {
        Value::String(text) if text.is_empty() => wrong("a step's name is empty".to_owned()),
        Value::String(text) if text.len() > STEP_NAME_BYTES_MAX => {
            wrong(format!("a step's name has {} bytes", text.len()))
        }
        Value::String(text) if text.chars().any(|c| c.is_ascii_control()) => {
            wrong("a step's name holds a control character".to_owned())
        }
        Value::String(_) => None,
        _ => wrong("a step's name is no text".to_owned()),
    }
}

fn option_fault(name: &str, span: Span, value: &LuaExpr) -> Option<Raised> {
    match name {
        "retries" => {
            let most = i64::from(STEP_RETRIES_MAX);
            match literal(value)? {
                Value::Integer(retries) if (0..=most).contains(&retries) => None,
                Value::Null => None,
                _ => Some(Raised::error(
                    span_of(value),
                    format!("`retries` of a step is a whole number from 0 to {most}"),
                    "write how many attempts may follow the first",
                )),
            }
        }
        "depends_on" => match value {
            LuaExpr::TableExpr(table) if table.get_fields().count() > STEP_DEPENDS_MAX => {
                Some(Raised::error(
                    span_of(value),
                    format!("a step depends on more than {STEP_DEPENDS_MAX} steps"),
                    "depend on the last of them alone: what it depends on is complete then",
                ))
            }
            _ => None,
        },
        _ => {
            let help = match nearest(name, OPTIONS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the options are {}", OPTIONS.join(" and ")),
            };
            Some(Raised::error(span, format!("a step has no option `{name}`"), help))
        }
    }
}

/// A name that is used again, or that a loop uses again.
fn repeated(steps: &[Declared]) -> Vec<Raised> {
    let mut found = Vec::new();
    let mut first: BTreeMap<String, Vec<&Declared>> = BTreeMap::new();
    for step in steps {
        let Some((name, span)) = step.name() else { continue };
        let help = "give each step a name of its own; a name may be made: `step(\"load \" .. i, …)`";
        let before = first.entry(name.clone()).or_default();
        let node = step.call.syntax();
        if before.iter().any(|other| both_run(other.call.syntax(), node)) {
            let message = format!("there is a step `{name}` before; the second fails where it is reached");
            found.push(Raised::error(span, message, help));
        } else if !Loop::around(node).is_empty() {
            let message = format!("a loop declares step `{name}`, which fails in its second turn");
            found.push(Raised::warning(span, message, help));
        }
        before.push(step);
    }
    found
}

/// Whether a part of the plan that runs `first` also runs `second`: the block of `first` holds both, and nothing
/// between them and it may be left out.
fn both_run(first: &LuaSyntaxNode, second: &LuaSyntaxNode) -> bool {
    let Some(block) = block_of(first) else { return false };
    block_of(second).is_some_and(|other| other == block)
}

fn block_of(node: &LuaSyntaxNode) -> Option<LuaSyntaxNode> {
    node.ancestors().skip(1).find(|outer| LuaBlock::can_cast(outer.kind().into()))
}

/// Names that no step has, that come later, or that make a circle.
fn dependencies(steps: &[Declared]) -> Vec<Raised> {
    let names: Vec<(String, &Declared)> =
        steps.iter().filter_map(|step| Some((step.name()?.0, step))).collect();
    // A name that is made while the plan runs may be any.
    let are_known = names.len() == steps.len();
    let known: HashSet<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    let mut edges: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, step) in &names {
        let depends_on = step.depends_on().into_iter().map(|(needed, _)| needed);
        edges.entry(name.as_str()).or_default().extend(depends_on);
    }
    let mut found = Vec::new();
    let mut in_circles: HashSet<String> = HashSet::new();
    for step in steps {
        let own = step.name().map(|(name, _)| name);
        for (needed, span) in step.depends_on() {
            if let Some(own) = own.as_deref()
                && let Some(way) = way(&edges, &needed, own)
            {
                // Each circle once.
                if !way.iter().any(|name| in_circles.contains(name)) {
                    let shown: Vec<String> = std::iter::once(own)
                        .chain(way.iter().map(String::as_str))
                        .map(|name| format!("`{name}`"))
                        .collect();
                    let message = format!("steps depend on each other in a circle: {}", shown.join(" → "));
                    let help = "a step runs after those it depends on; remove one of these dependencies";
                    found.push(Raised::error(span, message, help));
                }
                in_circles.extend(way);
                continue;
            }
            if !known.contains(needed.as_str()) {
                if are_known {
                    let mut candidates: Vec<&str> = known.iter().copied().collect();
                    candidates.sort_unstable();
                    let help = match nearest(&needed, candidates.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => "name a step of the plan".to_owned(),
                    };
                    found.push(Raised::error(span, format!("there is no step `{needed}`"), help));
                }
                continue;
            }
            if is_declared_later(&names, &needed, step) {
                let message = format!("step `{needed}` is declared after this one, which depends on it");
                let help = format!("move `step(\"{needed}\", …)` up: a step runs where it is called");
                found.push(Raised::error(span, message, help));
            }
        }
    }
    found
}

/// The names from `from` along dependencies to `to`, both included.
fn way(edges: &BTreeMap<&str, Vec<String>>, from: &str, to: &str) -> Option<Vec<String>> {
    let mut before: BTreeMap<String, Option<String>> = BTreeMap::from([(from.to_owned(), None)]);
    let mut open = std::collections::VecDeque::from([from.to_owned()]);
    while let Some(name) = open.pop_front() {
        if name == to {
            let mut way = vec![name.clone()];
            let mut at = before.get(&name).cloned().flatten();
            while let Some(earlier) = at {
                at = before.get(&earlier).cloned().flatten();
                way.push(earlier);
            }
            way.reverse();
            return Some(way);
        }
        for next in edges.get(name.as_str()).into_iter().flatten() {
            if !before.contains_key(next) {
                before.insert(next.clone(), Some(name.clone()));
                open.push_back(next.clone());
            }
        }
    }
    None
}

/// Every declaration of `needed` follows `step` in the same function, so that none of them can have run.
fn is_declared_later(names: &[(String, &Declared)], needed: &str, step: &Declared) -> bool {
    let own = function_of(step.call.syntax());
    let is_in_loop = !Loop::around(step.call.syntax()).is_empty();
    let follows = |other: &Declared| {
        function_of(other.call.syntax()) == own && span_of(&other.call).0 >= span_of(&step.call).1
    };
    !is_in_loop && names.iter().filter(|(name, _)| name == needed).all(|(_, other)| follows(other))
}

fn function_of(node: &LuaSyntaxNode) -> Option<LuaSyntaxNode> {
    node.ancestors().skip(1).find(|outer| LuaClosureExpr::can_cast(outer.kind().into()))
}
