//! The named steps of a plan, as far as its source shows them.

use serde::Serialize;

use emmylua_parser::{LuaCallExpr, LuaClosureExpr, LuaExpr};

use luaplan_base::Value;
use luaplan_syntax::{Lines, Span, parse};

use crate::arguments::{literal, named_fields};
use crate::names::found::{Walk, span_of};
use crate::names::walk;
use crate::report::Report;

/// The function that declares a step.
const STEP: &str = "step";

/// A step whose name stands in the plan as a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NamedStep {
    /// Its name.
    pub name: String,
    /// The line that declares it.
    pub line: u32,
    /// The steps it depends on, as far as they stand there as texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The bytes of its function, where that is written in the call.
    #[serde(skip)]
    pub function: Option<Span>,
}

/// The steps of a plan whose names stand there as texts, in the order of the source, each name once.
#[must_use]
pub fn named_steps(source: &str) -> Vec<NamedStep> {
    // Most plans have none, and need no second look.
    if !source.contains(STEP) {
        return Vec::new();
    }
    let Ok(chunk) = parse(source) else { return Vec::new() };
    let walk = walk::walk(&chunk, &mut Report::new(source));
    let lines = Lines::new(source);
    let mut steps: Vec<NamedStep> = Vec::new();
    for declared in declared(&walk) {
        let Some((name, _)) = declared.name() else { continue };
        if steps.iter().any(|step| step.name == name) {
            continue;
        }
        steps.push(NamedStep {
            name,
            line: lines.line(span_of(&declared.call).0),
            depends_on: declared.depends_on().into_iter().map(|(name, _)| name).collect(),
            function: declared.function().map(|function| span_of(&function)),
        });
    }
    steps
}

/// The calls of `step`, in the order of the source. None where the plan has a global of that name.
pub(crate) fn declared(walk: &Walk) -> Vec<Declared> {
    if walk.writes.iter().any(|write| write.name == STEP) {
        return Vec::new();
    }
    let uses = walk.uses.iter().filter(|used| used.name == STEP && used.member.is_none());
    let calls = uses.filter_map(|used| used.call.clone());
    let mut declared: Vec<Declared> = calls.map(|call| Declared { call }).collect();
    declared.sort_by_key(|declared| span_of(&declared.call));
    declared
}

/// A call of `step`.
pub(crate) struct Declared {
    pub(crate) call: LuaCallExpr,
}

impl Declared {
    pub(crate) fn argument(&self, place: usize) -> Option<LuaExpr> {
        self.call.get_args_list()?.get_args().nth(place)
    }

    /// The name, where it stands there as a text.
    pub(crate) fn name(&self) -> Option<(String, Span)> {
        text(&self.argument(0)?)
    }

    /// The function, where it is written in the call.
    pub(crate) fn function(&self) -> Option<LuaClosureExpr> {
        match self.argument(1)? {
            LuaExpr::ClosureExpr(function) => Some(function),
            _ => None,
        }
    }

    /// The options by their names, where the source shows them all.
    pub(crate) fn options(&self) -> Option<Vec<(String, Span, LuaExpr)>> {
        match self.argument(2) {
            None => Some(Vec::new()),
            Some(LuaExpr::TableExpr(table)) if table.get_fields().next().is_none() => Some(Vec::new()),
            Some(LuaExpr::TableExpr(table)) => named_fields(&table),
            Some(_) => None,
        }
    }

    /// The steps it depends on, as far as they stand there as texts.
    pub(crate) fn depends_on(&self) -> Vec<(String, Span)> {
        let options = self.options().unwrap_or_default();
        let Some((_, _, value)) = options.into_iter().find(|(name, ..)| name == "depends_on") else {
            return Vec::new();
        };
        match &value {
            LuaExpr::TableExpr(table) => {
                let items = table.get_fields().filter_map(|field| field.get_value_expr());
                items.filter_map(|item| text(&item)).collect()
            }
            other => text(other).into_iter().collect(),
        }
    }
}

fn text(expression: &LuaExpr) -> Option<(String, Span)> {
    match literal(expression)? {
        Value::String(text) => Some((text, span_of(expression))),
        _ => None,
    }
}
