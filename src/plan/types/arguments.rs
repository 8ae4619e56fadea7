//! Judges arguments of tool calls by their types, where the source does not show their values.

use std::collections::HashMap;

use emmylua_code_analysis::{LuaMemberKey, LuaSemanticDeclId, LuaType};
use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaExpr, LuaIndexKey, LuaTableField};

use luaplan_base::{ErrorCode, nearest};
use luaplan_catalog::ToolSpec;
use luaplan_syntax::Span;

use super::super::report::Report;
use super::super::{Severity, arguments as literal};
use super::kinds::{Typed, ValueKind, name_of};
use super::question::TypeFinding;
use crate::names::calls::ToolCall;

pub(super) fn judge(typed: &Typed<'_>) -> Vec<TypeFinding> {
    let mut verdicts = Vec::new();
    let by_span: HashMap<Span, &ToolCall> =
        typed.question.calls.iter().map(|call| (call.span, call)).collect();
    for call in typed.model.get_root().descendants::<LuaCallExpr>() {
        let span = typed.span(&call);
        let known = by_span.get(&span);
        match known {
            Some(known) => {
                if let Some(spec) = typed.question.catalog.get(&known.tool) {
                    Checker { typed, spec, call: &call, verdicts: &mut verdicts }.arguments(known.skip);
                }
            }
            None => {
                if let Some(spec) = renamed(typed, &call) {
                    verdicts.extend(literals(typed, spec, &call));
                    Checker { typed, spec, call: &call, verdicts: &mut verdicts }.arguments(0);
                }
            }
        }
    }
    verdicts
}

/// The tool behind a call by another name: a local variable, or a member of a table.
fn renamed<'a>(typed: &'a Typed<'_>, call: &LuaCallExpr) -> Option<&'a ToolSpec> {
    if call.is_colon_call() {
        return None;
    }
    let callee = call.get_prefix_expr()?;
    // The judge of names has resolved global names.
    if matches!(&callee, LuaExpr::NameExpr(name) if typed.question.defined.contains(&name.get_name_text()?)) {
        return None;
    }
    if !matches!(callee, LuaExpr::NameExpr(_) | LuaExpr::IndexExpr(_)) {
        return None;
    }
    match typed.model.infer_expr(callee).ok()? {
        LuaType::Signature(id) => {
            let name = typed.tools.get(&id)?;
            typed.question.catalog.get(name).map(AsRef::as_ref)
        }
        _ => None,
    }
}

/// Judges the literal arguments of a call that the judge of names could not see.
fn literals(typed: &Typed<'_>, spec: &ToolSpec, call: &LuaCallExpr) -> Vec<TypeFinding> {
    let mut report = Report::new(&typed.masked.text);
    literal::check(spec, call, 0, &mut report);
    report
        .into_findings()
        .into_iter()
        .map(|finding| TypeFinding {
            code: ErrorCode::PlanBadArgument,
            severity: finding.severity,
            span: typed.masked.original(finding.span),
            message: finding.message,
            help: finding.help,
        })
        .collect()
}

struct Checker<'a, 't> {
    typed: &'a Typed<'t>,
    spec: &'a ToolSpec,
    call: &'a LuaCallExpr,
    verdicts: &'a mut Vec<TypeFinding>,
}

impl Checker<'_, '_> {
    fn arguments(&mut self, skip: usize) {
        let Some(list) = self.call.get_args_list() else { return };
        let arguments: Vec<LuaExpr> = list.get_args().skip(skip).collect();
        match arguments.as_slice() {
            [LuaExpr::TableExpr(table)] => {
                // A hidden key may turn the names into something else.
                if table.get_fields().any(|field| matches!(field.get_field_key(), Some(LuaIndexKey::Expr(_))))
                {
                    return;
                }
                let fields: Vec<(String, LuaExpr)> = table
                    .get_fields()
                    .filter(LuaTableField::is_assign_field)
                    .filter_map(|field| match field.get_field_key()? {
                        LuaIndexKey::Name(name) => {
                            Some((name.get_name_text().to_owned(), field.get_value_expr()?))
                        }
                        LuaIndexKey::String(text) => Some((text.get_value(), field.get_value_expr()?)),
                        _ => None,
                    })
                    .collect();
                if !fields.is_empty()
                    && self.spec.takes_as_named(fields.iter().map(|(name, _)| name.as_str()))
                {
                    for (name, value) in &fields {
                        self.value(name, value);
                    }
                    return;
                }
            }
            [only] if self.table_of_names(only) => return,
            _ => {}
        }
        self.by_position(&arguments);
    }

    fn by_position(&mut self, arguments: &[LuaExpr]) {
        let spec = self.spec;
        let open_ended = arguments.last().is_some_and(|last| matches!(last, LuaExpr::CallExpr(_)));
        let certain = arguments.len() - usize::from(open_ended && arguments.len() > 1);
        for ((name, _), value) in spec.parameters().zip(&arguments[..certain]) {
            self.value(name, value);
        }
    }

    /// Judges a single argument that may hold named arguments; false where it surely holds none.
    fn table_of_names(&mut self, only: &LuaExpr) -> bool {
        let Some(kinds) = self.typed.kinds_of(only) else { return true };
        let [ValueKind::Made(made)] = kinds.as_slice() else {
            // A table of unknown content may hold the names.
            return kinds
                .iter()
                .any(|kind| matches!(kind, ValueKind::Made(_) | ValueKind::Table | ValueKind::Fields(_)));
        };
        let Some(members) = self.typed.model.get_member_infos(made) else { return true };
        let names: Vec<String> = members.iter().filter_map(|member| name_of(&member.key)).collect();
        if names.len() < members.len() || !self.spec.takes_as_named(names.iter().map(String::as_str)) {
            return true;
        }
        let call_start = self.call.get_position();
        let parameters: Vec<&str> = self.spec.parameters().map(|(name, _)| name).collect();
        for member in &members {
            let Some(name) = name_of(&member.key) else { continue };
            let is_before = match &member.property_owner_id {
                Some(LuaSemanticDeclId::Member(id)) => id.get_position() < call_start,
                _ => false,
            };
            if self.spec.parameter(&name).is_none() && is_before && !self.spec.takes_unknown_names() {
                self.refuse(only, self.spec.unknown_name_message(&name));
            }
        }
        let may_be_given = |wanted: &str| {
            names.iter().any(|name| {
                name == wanted
                    || self.spec.parameter(name).is_none()
                        && nearest(name, parameters.iter().copied()) == Some(wanted)
            })
        };
        let choice = self.spec.choice_fault(may_be_given, |_| false);
        let required = parameters.iter().filter(|name| self.spec.is_required(name) && !may_be_given(name));
        let missing: Vec<String> = required.map(|name| self.spec.missing_message(name)).collect();
        for message in choice.into_iter().chain(missing) {
            self.refuse(only, message);
        }
        true
    }

    fn value(&mut self, name: &str, value: &LuaExpr) {
        if self.spec.parameter(name).is_none() || literal::is_shown(value) {
            return;
        }
        let Some(kinds) = self.typed.kinds_of(value) else { return };
        // Uses of a failed call's result are judged elsewhere, and nil counts as absent.
        let mut meant =
            kinds.iter().filter(|kind| !matches!(kind, ValueKind::Nil | ValueKind::Failure)).peekable();
        if meant.peek().is_none() || meant.any(|kind| self.fits(name, kind)) {
            return;
        }
        let known = match kinds.as_slice() {
            [ValueKind::Known(known)] => self.spec.fault_of(name, known),
            _ => None,
        };
        let message = known.unwrap_or_else(|| {
            let expected = self.spec.parameter_type(name).unwrap_or_default();
            let mut words: Vec<&str> = kinds.iter().map(ValueKind::word).collect();
            words.dedup();
            format!(
                "`{}`: parameter `{name}` must be {expected}; {} comes",
                self.spec.name,
                words.join(" or ")
            )
        });
        self.refuse(value, message);
    }

    fn fits(&self, name: &str, kind: &ValueKind) -> bool {
        if let ValueKind::Known(value) = kind {
            return self.spec.fault_of(name, value).is_none();
        }
        let made_is_list = match kind {
            ValueKind::Made(made) => self.is_list(made),
            _ => None,
        };
        kind.json_kinds(made_is_list).iter().any(|json| self.spec.parameter_accepts(name, json))
    }

    /// Whether a table made in the plan is a list; `None` where it may be either.
    fn is_list(&self, made: &LuaType) -> Option<bool> {
        let members = self.typed.model.get_member_infos(made)?;
        let named = members.iter().any(|member| matches!(member.key, LuaMemberKey::Name(_)));
        let placed = members.iter().any(|member| matches!(member.key, LuaMemberKey::Integer(_)));
        match (named, placed) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    }

    fn refuse(&mut self, value: &LuaExpr, message: String) {
        self.verdicts.push(TypeFinding {
            code: ErrorCode::PlanBadArgument,
            severity: Severity::Error,
            span: self.typed.span(value),
            message,
            help: format!("the parameters are {}", literal::signature(self.spec)),
        });
    }
}
