//! Records used as lists: `ipairs(r)`, `#r`, `r[1]` and functions of lists, where `r` has fields and no items; and lists
//! used as records: `xs.result`.
//!
//! To Lua the record is an empty list, and the field is nil, so that the plan ends well and says that nothing was found.

use std::collections::{BTreeSet, HashSet};

use emmylua_code_analysis::LuaType;
use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaBinaryExpr, LuaCallExpr, LuaExpr, LuaIndexExpr,
    LuaIndexKey, LuaUnaryExpr, LuaVarExpr, UnaryOperator,
};

use luaplan_base::{ErrorCode, Value};

use super::super::guards::is_target;
use super::fields::FAILURE;
use super::kinds::{Fields, ValueKind, name_of};
use super::operands::{OF_FAILURE, Operands, shown};
use super::question::TypeFinding;
use crate::Severity;

/// Functions of the library `list` that take any table.
const OF_TABLES: [&str; 5] = ["list.keys", "list.values", "list.is_list", "list.range", "list.empty"];
/// Functions of lists outside the libraries `list` and `stats`.
const OF_LISTS: [&str; 7] =
    ["ipairs", "table.concat", "table.sort", "table.unpack", "table.remove", "text.join", "csv.encode"];
/// Functions that give a table items.
const FILLING: [&str; 4] = ["table.insert", "table.move", "rawset", "setmetatable"];

/// Fields that a help names.
const SHOWN_MAX: usize = 8;

pub(super) fn judge(operands: &Operands<'_, '_>) -> Vec<TypeFinding> {
    let root = operands.typed.model.get_root();
    let records = Records { operands, filled: filled(operands) };
    let mut verdicts = Vec::new();
    for call in root.descendants::<LuaCallExpr>() {
        verdicts.extend(records.call(&call));
    }
    for unary in root.descendants::<LuaUnaryExpr>() {
        let is_length = unary.get_op_token().is_some_and(|token| token.get_op() == UnaryOperator::OpLen);
        let value = unary.get_expr().filter(|_| is_length);
        verdicts.extend(value.and_then(|value| records.verdict(&value, "which `#` does not count")));
    }
    for index in root.descendants::<LuaIndexExpr>() {
        verdicts.extend(records.item(&index));
        verdicts.extend(records.field_of_list(&index));
        verdicts.extend(records.before_the_first(&index));
    }
    verdicts
}

struct Records<'a, 'o, 't> {
    operands: &'a Operands<'o, 't>,
    /// Values that the plan gives items, as written.
    filled: HashSet<String>,
}

impl Records<'_, '_, '_> {
    fn call(&self, call: &LuaCallExpr) -> Vec<TypeFinding> {
        let Some(callee) = self.operands.function_of(call) else { return Vec::new() };
        let library = callee.split_once('.').map(|(library, _)| library);
        let takes_lists = OF_LISTS.contains(&callee.as_str())
            || matches!(library, Some("list" | "stats")) && !OF_TABLES.contains(&callee.as_str());
        if !takes_lists {
            return Vec::new();
        }
        let arguments = call.get_args_list().into_iter().flat_map(|list| list.get_args());
        let lists = match callee.as_str() {
            "list.concat" => usize::MAX,
            "list.zip" | "stats.correlation" => 2,
            _ => 1,
        };
        let says = format!("which `{callee}` cannot go over as a list");
        arguments.take(lists).filter_map(|value| self.verdict(&value, &says)).collect()
    }

    /// `r[1]`, `r[i]`, `r[#r]`.
    fn item(&self, index: &LuaIndexExpr) -> Option<TypeFinding> {
        let is_place = match index.get_index_key()? {
            LuaIndexKey::Integer(_) => true,
            LuaIndexKey::Expr(key) => {
                let kinds = self.operands.typed.kinds_of(&key)?;
                let is_integer = |kind: &ValueKind| {
                    matches!(kind, ValueKind::Known(Value::Integer(_)) | ValueKind::Plain("integer"))
                };
                !kinds.is_empty() && kinds.iter().all(is_integer)
            }
            _ => false,
        };
        let value = index.get_prefix_expr().filter(|_| is_place)?;
        if is_alternative(index, &value) {
            return None;
        }
        self.verdict(&value, "which has no items")
    }

    /// `xs[0]`, where `xs` is a list that the plan did not make.
    fn before_the_first(&self, index: &LuaIndexExpr) -> Option<TypeFinding> {
        let is_zero =
            matches!(index.get_index_key()?, LuaIndexKey::Integer(_)) && index.get_text().ends_with("[0]");
        let value = index.get_prefix_expr().filter(|_| is_zero && !is_target(index))?;
        let kinds = self.operands.kinds(&value).filter(|_| !self.filled.contains(&value.get_text()))?;
        if !are_of_a_list(&kinds) {
            return None;
        }
        let text = shown(&value);
        Some(TypeFinding {
            code: ErrorCode::PlanUnknownField,
            severity: Severity::Error,
            span: self.operands.typed.span(index),
            message: format!("`{text}` is a list, which begins at 1"),
            help: format!("the first item is `{text}[1]`"),
        })
    }

    /// `xs.result`, where `xs` is a list.
    fn field_of_list(&self, index: &LuaIndexExpr) -> Option<TypeFinding> {
        let name = match index.get_index_key()? {
            LuaIndexKey::Name(name) => name.get_name_text().to_owned(),
            LuaIndexKey::String(text) => text.get_value(),
            _ => return None,
        };
        let value = index.get_prefix_expr()?;
        let is_method =
            index.syntax().parent().and_then(LuaCallExpr::cast).is_some_and(|call| call.is_colon_call());
        if is_method || is_target(index) || is_alternative(index, &value) || self.operands.writes(&name) {
            return None;
        }
        // A plan that gives the variable another value may make a list of either form.
        let LuaExpr::NameExpr(variable) = &value else { return None };
        if self.operands.typed.question.assigned.contains(&variable.get_name_text()?) {
            return None;
        }
        let kinds = self.operands.kinds(&value)?;
        let may_fail = kinds.contains(&ValueKind::Failure);
        if !are_of_a_list(&kinds) {
            return None;
        }
        if may_fail && FAILURE.contains(&name.as_str()) || OF_FAILURE.contains(&name.as_str()) {
            return None;
        }
        let text = shown(&value);
        Some(TypeFinding {
            code: ErrorCode::PlanUnknownField,
            severity: Severity::Error,
            span: self.operands.typed.span(index),
            message: format!("`{text}` is a list, which has no field `{name}`"),
            help: format!("use its items: `for _, item in ipairs({text}) do … end`, `{text}[1]`, `#{text}`"),
        })
    }

    fn verdict(&self, value: &LuaExpr, says: &str) -> Option<TypeFinding> {
        if self.filled.contains(&value.get_text()) {
            return None;
        }
        let kinds = self.operands.kinds(value)?;
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for kind in &kinds {
            match kind {
                ValueKind::Fields(fields) if is_record(fields) => {
                    names.extend(fields.names.iter().map(String::as_str));
                }
                ValueKind::Failure => {}
                _ => return None,
            }
        }
        if names.is_empty() {
            return None;
        }
        let text = shown(value);
        let more = if names.len() > SHOWN_MAX { ", …" } else { "" };
        let listed: Vec<String> = names.iter().take(SHOWN_MAX).map(|name| format!("`{name}`")).collect();
        let listed = format!("{}{more}", listed.join(", "));
        let lists = self.lists_of(value);
        let help = match lists.as_slice() {
            [] => format!("use one of its fields ({listed}), or `pairs({text})` for names and values"),
            lists => {
                let fields: Vec<String> = lists.iter().map(|name| format!("`{text}.{name}`")).collect();
                format!("did you mean {}?", fields.join(" or "))
            }
        };
        Some(TypeFinding {
            code: ErrorCode::PlanWrongKind,
            severity: Severity::Error,
            span: self.operands.typed.span(value),
            message: format!("`{text}` is a record with the fields {listed}, {says}"),
            help,
        })
    }

    /// The fields of a record that are lists.
    fn lists_of(&self, value: &LuaExpr) -> Vec<String> {
        let Ok(lua) = self.operands.typed.model.infer_expr(value.clone()) else { return Vec::new() };
        let types = match lua {
            LuaType::Union(types) => types.into_vec(),
            other => vec![other],
        };
        let mut lists: Vec<String> = Vec::new();
        for lua in &types {
            let members = self.operands.typed.model.get_member_infos(lua).unwrap_or_default();
            for member in members {
                if let (Some(name), true) = (name_of(&member.key), is_list(&member.typ)) {
                    lists.push(name);
                }
            }
        }
        lists.sort_unstable();
        lists.dedup();
        lists.truncate(SHOWN_MAX);
        lists
    }
}

/// Whether a table with these fields has no items. A table inside a class may have others, at places.
fn is_record(fields: &Fields) -> bool {
    !fields.names.is_empty() && (fields.class.is_some() || !fields.open)
}

/// Whether a value is a list, or the failure that stands in its place.
fn are_of_a_list(kinds: &[ValueKind]) -> bool {
    let is_list = |kind: &ValueKind| matches!(kind, ValueKind::List | ValueKind::Failure);
    kinds.contains(&ValueKind::List) && kinds.iter().all(is_list)
}

fn is_list(lua: &LuaType) -> bool {
    match lua {
        LuaType::Array(_) => true,
        LuaType::Union(types) => {
            let types = types.into_vec();
            types.iter().any(is_list) && types.iter().all(|lua| is_list(lua) || matches!(lua, LuaType::Nil))
        }
        _ => false,
    }
}

/// Whether the value itself stands where the item is missing: `r[1] or r`.
fn is_alternative(item: &LuaIndexExpr, value: &LuaExpr) -> bool {
    let text = value.get_text();
    item.syntax().ancestors().filter_map(LuaBinaryExpr::cast).any(|binary| {
        let operator = binary.get_op_token().map(|token| token.get_op());
        let right = binary.get_exprs().map(|(_, right)| right);
        matches!(operator, Some(BinaryOperator::OpOr | BinaryOperator::OpAnd))
            && right.is_some_and(|right| right.get_text().contains(&text))
    })
}

/// Values that the plan gives items or another length.
fn filled(operands: &Operands<'_, '_>) -> HashSet<String> {
    let root = operands.typed.model.get_root();
    let targets = root.descendants::<LuaAssignStat>().flat_map(|it| it.get_var_and_expr_list().0);
    let by_place = targets.filter_map(|target| match target {
        LuaVarExpr::IndexExpr(index) => match index.get_index_key()? {
            LuaIndexKey::Name(_) | LuaIndexKey::String(_) => None,
            _ => index.get_prefix_expr().map(|prefix| prefix.get_text()),
        },
        LuaVarExpr::NameExpr(_) => None,
    });
    let by_call = root.descendants::<LuaCallExpr>().filter_map(|call| {
        let callee = call.get_prefix_expr()?.get_text();
        let arguments = call.get_args_list().filter(|_| FILLING.contains(&callee.as_str()))?;
        // `table.move` fills its last argument.
        Some(arguments.get_args().map(|argument| argument.get_text()).collect::<Vec<_>>())
    });
    by_place.chain(by_call.flatten()).collect()
}
