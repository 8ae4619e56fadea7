//! Values that are, or may be, nil where nil raises.

use std::collections::HashSet;

use emmylua_parser::{
    LuaAssignStat, LuaAstNode, LuaCallExpr, LuaExpr, LuaIndexExpr, LuaLocalName, LuaLocalStat, LuaUnaryExpr,
    LuaVarExpr,
};

use luaplan_base::ErrorCode;

use super::super::Severity;
use super::super::guards::{Use, is_target, use_of};
use super::kinds::{Typed, ValueKind, is_context};
use super::question::TypeFinding;

pub(super) fn judge(typed: &Typed<'_>) -> Vec<TypeFinding> {
    let root = typed.model.get_root();
    let indexed = root.descendants::<LuaIndexExpr>();
    let mut advised: HashSet<String> = HashSet::new();
    let mut verdicts: Vec<TypeFinding> = indexed
        .filter_map(|index| {
            let verb = if is_target(&index) { "written to" } else { "indexed" };
            let value = index.get_prefix_expr()?;
            let verdict = nil(typed, &value, verb)?;
            // Reported once for each value, and not where the plan tests it.
            let is_said = verdict.severity == Severity::Error
                || !is_looked_at_before(typed, &value) && advised.insert(value.get_text());
            is_said.then_some(verdict)
        })
        .collect();
    let called = root.descendants::<LuaCallExpr>();
    verdicts.extend(called.filter_map(|call| match call.get_prefix_expr()? {
        callee @ LuaExpr::NameExpr(_) => nil(typed, &callee, "called"),
        _ => None,
    }));
    verdicts
}

/// The finding on `value`, which is indexed or called.
fn nil(typed: &Typed<'_>, value: &LuaExpr, verb: &str) -> Option<TypeFinding> {
    // Inference is certain of locals, fields and results; a global has its own finding.
    if matches!(value, LuaExpr::NameExpr(name) if is_global(typed, &name.get_name_text()?)) {
        return None;
    }
    let kinds = typed.kinds_of(value)?;
    if !kinds.contains(&ValueKind::Nil) {
        return None;
    }
    let text: String = value.get_text().lines().next().unwrap_or_default().chars().take(60).collect();
    let is_certain = kinds.iter().all(|kind| *kind == ValueKind::Nil);
    let of_context = is_certain && is_null_of_context(typed, value);
    // The inference does not follow what inner loops, closures and other functions store or return.
    if is_certain && !of_context && !is_plainly_nil(typed, value) {
        return None;
    }
    // Of tables of which nothing is known, plans make lists whose length they know.
    if !is_certain && kinds.iter().all(|kind| matches!(kind, ValueKind::Nil | ValueKind::Table)) {
        return None;
    }
    // Nor what a loop assigned in an earlier turn.
    if is_certain && matches!(value, LuaExpr::NameExpr(name) if is_assigned(typed, &name.get_name_text()?)) {
        return None;
    }
    let (severity, message) = match (is_certain, of_context) {
        (true, true) => (Severity::Error, format!("`{text}` is {verb}, and is nil in the context given")),
        (true, false) => (Severity::Warning, format!("`{text}` is {verb}, and is always nil here")),
        (false, _) => (Severity::Warning, format!("`{text}` is {verb}, and may be nil")),
    };
    Some(TypeFinding {
        code: ErrorCode::PlanNilIndex,
        severity,
        span: typed.span(value),
        message,
        help: format!("test it first, for example `if {text} then … end`"),
    })
}

/// Whether the plan tests the value, or the length of its list, further up.
fn is_looked_at_before(typed: &Typed<'_>, value: &LuaExpr) -> bool {
    let LuaExpr::IndexExpr(item) = value else { return false };
    let root = typed.model.get_root();
    let (place, text) = (value.get_position(), value.get_text());
    let list = item.get_prefix_expr().map(|list| format!("#{}", list.get_text()));
    let counts = root
        .descendants::<LuaUnaryExpr>()
        .any(|length| length.get_position() < place && Some(length.get_text()) == list);
    counts
        || root.descendants::<LuaIndexExpr>().any(|other| {
            other.get_position() < place
                && other.get_text() == text
                && use_of(root, &LuaExpr::IndexExpr(other)) == Use::Looked
        })
}

/// Whether a variable of that name is assigned something but nil somewhere after its declaration.
fn is_assigned(typed: &Typed<'_>, name: &str) -> bool {
    let assignments = typed.model.get_root().descendants::<LuaAssignStat>();
    assignments.map(|assignment| assignment.get_var_and_expr_list()).any(|(variables, values)| {
        let is_meant = |variable: &LuaVarExpr| matches!(variable, LuaVarExpr::NameExpr(other) if other.get_name_text().as_deref() == Some(name));
        variables.iter().any(is_meant) && values.iter().any(|value| value.syntax().text() != "nil")
    })
}

/// Whether the value is a variable, and none of that name is initialised with an item or field.
fn is_plainly_nil(typed: &Typed<'_>, value: &LuaExpr) -> bool {
    let LuaExpr::NameExpr(name) = value else { return false };
    let name = name.get_name_text();
    typed.model.get_root().descendants::<LuaLocalStat>().all(|local| {
        let values: Vec<LuaExpr> = local.get_value_exprs().collect();
        let is_it =
            |own: &LuaLocalName| own.get_name_token().map(|own| own.get_name_text().to_owned()) == name;
        let place = local.get_local_name_list().position(|own| is_it(&own));
        place.and_then(|place| values.get(place)).is_none_or(|given| !matches!(given, LuaExpr::IndexExpr(_)))
    })
}

fn is_global(typed: &Typed<'_>, name: &str) -> bool {
    typed.question.defined.contains(name)
}

/// Whether the value is a field of the context that holds null.
fn is_null_of_context(typed: &Typed<'_>, value: &LuaExpr) -> bool {
    let LuaExpr::IndexExpr(index) = value else { return false };
    let Some(kinds) = index.get_prefix_expr().and_then(|prefix| typed.kinds_of(&prefix)) else {
        return false;
    };
    kinds.iter().any(
        |kind| matches!(kind, ValueKind::Fields(fields) if fields.class.as_deref().is_some_and(is_context)),
    )
}
