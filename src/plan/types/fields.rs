//! Fields that a result or the context does not have.

use std::collections::{BTreeSet, HashSet};

use emmylua_code_analysis::LuaType;
use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaBinaryExpr, LuaCallExpr, LuaExpr, LuaIndexExpr,
    LuaIndexKey, LuaTableField, LuaVarExpr,
};
use serde_json::Value as Json;

use luaplan_base::{ErrorCode, nearest};

use super::super::Severity;
use super::super::guards::{Use, is_target, use_of};
use super::kinds::{Fields, Typed, ValueKind, is_context, name_of};
use super::question::TypeFinding;

/// Members of a failed call besides `error`, `code` and `retryable`.
pub(super) const FAILURE: [&str; 38] = [
    "error",
    "code",
    "retryable",
    "status",
    "url",
    "retry_after_ms",
    "timeout_ms",
    "limit",
    "limit_ms",
    "max_wait_ms",
    "attempts",
    "cause",
    "observed",
    "parameter",
    "body",
    "response",
    "recipient",
    "refused",
    "smtp_code",
    "help",
    "database",
    "failed_code",
    "sqlstate",
    "hint",
    "position",
    "errno",
    "sqlite_code",
    "unit",
    "line",
    "answer",
    "reason",
    "exit_code",
    "exit_status",
    "signal",
    "stdout",
    "stderr",
    "mcp_code",
    "server",
];

pub(super) fn judge(typed: &Typed<'_>) -> Vec<TypeFinding> {
    let root = typed.model.get_root();
    let Some(written) = Written::of(typed) else { return Vec::new() };
    let looked: HashSet<String> = root
        .descendants::<LuaIndexExpr>()
        .filter(|index| matches!(use_of(root, &LuaExpr::IndexExpr(index.clone())), Use::Looked))
        .map(|index| index.syntax().text().to_string())
        .collect();
    let mut verdicts = Vec::new();
    for index in root.descendants::<LuaIndexExpr>() {
        let name = match index.get_index_key() {
            Some(LuaIndexKey::Name(name)) => name.get_name_text().to_owned(),
            Some(LuaIndexKey::String(text)) => text.get_value(),
            _ => continue,
        };
        if is_target(&index) || written.names.contains(&name) {
            continue;
        }
        if let Some(verdict) = unknown(typed, &written, &looked, &index, &name) {
            verdicts.push(verdict);
        }
    }
    verdicts
}

fn unknown(
    typed: &Typed<'_>,
    written: &Written,
    looked: &HashSet<String>,
    index: &LuaIndexExpr,
    name: &str,
) -> Option<TypeFinding> {
    let prefix = index.get_prefix_expr()?;
    let kinds = typed.kinds_of(&prefix)?;
    let mut tables: Vec<&Fields> = Vec::new();
    let mut may_fail = false;
    for kind in &kinds {
        match kind {
            ValueKind::Fields(fields) if fields.open || fields.names.contains(name) => return None,
            ValueKind::Fields(fields) => {
                if written.is_open(fields) {
                    return None;
                }
                tables.push(fields);
            }
            ValueKind::Failure => may_fail = true,
            ValueKind::Nil => {}
            _ => return None,
        }
    }
    if may_fail && FAILURE.contains(&name) || tables.is_empty() && !may_fail {
        return None;
    }
    let of_context = tables.iter().any(|fields| fields.class.as_deref().is_some_and(is_context));
    let of_tool = may_fail || tables.iter().any(|fields| belongs_to_a_tool(typed, fields));
    let known: BTreeSet<&str> =
        tables.iter().flat_map(|fields| fields.names.iter().map(String::as_str)).collect();
    let known_or_failure =
        known.iter().copied().chain(may_fail.then_some(["error", "code", "retryable"]).into_iter().flatten());
    let near = nearest(name, known_or_failure);
    let used = use_of(typed.model.get_root(), &LuaExpr::IndexExpr(index.clone()));
    let is_compared = of_tool && !of_context && is_compared(index);
    let severity = match (used, near) {
        (Use::Looked, None) if !is_compared => return None,
        // The plan tests it elsewhere, so it knows that the field may be absent.
        (_, None) if of_context && looked.contains(&index.syntax().text().to_string()) => return None,
        (Use::Looked, _) => Severity::Warning,
        // A later run's context may have what this one lacks; a result never will.
        (Use::HandedOn, None) if of_context => Severity::Warning,
        (Use::HandedOn | Use::Raises, _) => Severity::Error,
    };
    // The result of a failed call raises for any other member.
    let severity = if tables.is_empty() { Severity::Error } else { severity };
    let severity = if of_context || of_tool { severity } else { Severity::Warning };
    let whose = if tables.is_empty() {
        format!("`{}` is the result of a failed call, which", prefix.get_text())
    } else if of_context && prefix.get_text().chars().count() > 60 {
        "this part of the context".to_owned()
    } else {
        let text: String = prefix.get_text().chars().take(60).collect();
        format!("`{}`", text.lines().next().unwrap_or_default())
    };
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if tables.is_empty() => "a failed call has `error`, `code` and `retryable`".to_owned(),
        None if of_context => format!("the context given has {} there", listed(&known)),
        None => format!("it has {}", listed(&known)),
    };
    Some(TypeFinding {
        code: ErrorCode::PlanUnknownField,
        severity,
        span: typed.span(index),
        message: format!("{whose} has no field `{name}`"),
        help,
    })
}

/// Whether a value is compared with another, and not asked whether it is there.
fn is_compared(index: &LuaIndexExpr) -> bool {
    let Some(binary) = index.syntax().parent().and_then(LuaBinaryExpr::cast) else { return false };
    let operator = binary.get_op_token().map(|token| token.get_op());
    let is_nil = |side: LuaExpr| matches!(side.get_text().as_str(), "nil" | "null");
    matches!(operator, Some(BinaryOperator::OpEq | BinaryOperator::OpNe))
        && binary.get_exprs().is_some_and(|(left, right)| !is_nil(left) && !is_nil(right))
}

fn listed(names: &BTreeSet<&str>) -> String {
    const SHOWN_MAX: usize = 12;
    let shown: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN_MAX { " and more" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Whether the fields are those of a tool's result or of a table inside one.
fn belongs_to_a_tool(typed: &Typed<'_>, fields: &Fields) -> bool {
    fields.class.as_ref().is_some_and(|class| !is_context(class))
        || typed.question.catalog.iter().any(|spec| has_object(&spec.result, &fields.names))
        || typed.question.schemas.iter().any(|schema| has_object(schema, &fields.names))
}

fn has_object(schema: &Json, names: &BTreeSet<String>) -> bool {
    let own = schema.get("properties").and_then(Json::as_object);
    own.is_some_and(|own| own.len() == names.len() && own.keys().all(|name| names.contains(name)))
        || match schema {
            Json::Object(members) => members.values().any(|inner| has_object(inner, names)),
            Json::Array(items) => items.iter().any(|inner| has_object(inner, names)),
            _ => false,
        }
}

/// What the plan itself adds to tables.
pub(super) struct Written {
    /// Names of fields it assigns, whatever the table.
    pub(super) names: HashSet<String>,
    /// Classes to which it adds fields by computed names.
    open: HashSet<String>,
    /// The fields of tables without a class to which it does.
    open_tables: Vec<BTreeSet<String>>,
    /// Whether it adds items of its own to lists that it was given.
    fills_lists: bool,
}

impl Written {
    /// `None` where the plan adds fields to unknown tables.
    pub(super) fn of(typed: &Typed<'_>) -> Option<Self> {
        let root = typed.model.get_root();
        let mut written =
            Self { names: HashSet::new(), open: HashSet::new(), open_tables: Vec::new(), fills_lists: false };
        for assignment in root.descendants::<LuaAssignStat>() {
            let (targets, _) = assignment.get_var_and_expr_list();
            for target in targets {
                let LuaVarExpr::IndexExpr(index) = target else { continue };
                match index.get_index_key()? {
                    LuaIndexKey::Name(name) => {
                        written.names.insert(name.get_name_text().to_owned());
                    }
                    LuaIndexKey::String(text) => {
                        written.names.insert(text.get_value());
                    }
                    _ => written.opened(typed, &index.get_prefix_expr()?)?,
                }
            }
        }
        for function in root.descendants::<emmylua_parser::LuaFuncStat>() {
            if let Some(LuaVarExpr::IndexExpr(index)) = function.get_func_name()
                && let Some(LuaIndexKey::Name(name)) = index.get_index_key()
            {
                written.names.insert(name.get_name_text().to_owned());
            }
        }
        for call in root.descendants::<LuaCallExpr>() {
            let callee = call.get_prefix_expr().map(|callee| callee.get_text());
            if matches!(callee.as_deref(), Some("rawset" | "setmetatable" | "table.insert" | "table.move"))
                && let Some(table) = call.get_args_list().and_then(|list| list.get_args().next())
            {
                written.opened(typed, &table)?;
            }
        }
        if written.fills_lists {
            // Any table made in the plan may be such an item.
            let made =
                root.descendants::<LuaTableField>().filter_map(|field| match field.get_field_key()? {
                    LuaIndexKey::Name(name) => Some(name.get_name_text().to_owned()),
                    LuaIndexKey::String(text) => Some(text.get_value()),
                    _ => None,
                });
            written.names.extend(made);
        }
        Some(written)
    }

    /// Whether a table with these fields may get others.
    pub(super) fn is_open(&self, fields: &Fields) -> bool {
        match &fields.class {
            Some(class) => self.open.contains(class),
            None => self.open_tables.contains(&fields.names),
        }
    }

    fn opened(&mut self, typed: &Typed<'_>, table: &LuaExpr) -> Option<()> {
        match typed.model.infer_expr(table.clone()) {
            Ok(LuaType::Ref(id) | LuaType::Def(id)) => {
                self.open.insert(id.get_name().to_owned());
                Some(())
            }
            Ok(LuaType::Array(_)) => {
                self.fills_lists = true;
                Some(())
            }
            Ok(LuaType::Object(object)) => {
                self.open_tables.push(object.get_fields().keys().filter_map(name_of).collect());
                Some(())
            }
            Ok(LuaType::TableConst(_) | LuaType::Tuple(_) | LuaType::Table | LuaType::TableGeneric(_)) => {
                Some(())
            }
            _ => None,
        }
    }
}
