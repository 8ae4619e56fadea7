//! Values used as what they are not: a table joined to a text, a field of a text, a loop over what is no function.
//!
//! Nothing is reported where the value may be anything else: a variable that a loop assigns, a field that the plan
//! itself writes, a value whose type the plan tests, and any value in a plan that sets metatables.

use std::collections::HashSet;

use emmylua_parser::{
    BinaryOperator, LuaAssignStat, LuaAstNode, LuaBinaryExpr, LuaCallExpr, LuaExpr, LuaForRangeStat,
    LuaForStat, LuaFuncStat, LuaGotoStat, LuaIndexExpr, LuaIndexKey, LuaNameExpr, LuaRepeatStat,
    LuaUnaryExpr, LuaVarExpr, LuaWhileStat, UnaryOperator,
};

use luaplan_base::{ErrorCode, Value, nearest};
use luaplan_syntax::Span;

use super::super::guards::{Use, is_target, use_of};
use super::kinds::{Typed, ValueKind};
use super::question::TypeFinding;
use super::records;
use crate::Severity;
use crate::names::globals;

/// Functions that test what a value is.
const ASKING: [&str; 4] = ["type", "math.type", "list.is_list", "getmetatable"];
/// Members of failed calls that plans read on any result.
pub(super) const OF_FAILURE: [&str; 3] = ["error", "code", "retryable"];

pub(super) fn judge(typed: &Typed<'_>) -> Vec<TypeFinding> {
    let root = typed.model.get_root();
    // Metatables can redefine every operator.
    let mut names = root.descendants::<LuaNameExpr>();
    if names.any(|name| name.get_name_text().as_deref() == Some("setmetatable")) {
        return Vec::new();
    }
    let operands = Operands::of(typed);
    let mut verdicts = Vec::new();
    verdicts.extend(root.descendants::<LuaBinaryExpr>().filter_map(|binary| operands.binary(&binary)));
    verdicts.extend(root.descendants::<LuaUnaryExpr>().filter_map(|unary| operands.unary(&unary)));
    verdicts.extend(root.descendants::<LuaIndexExpr>().filter_map(|index| operands.index(&index)));
    verdicts.extend(root.descendants::<LuaCallExpr>().filter_map(|call| operands.call(&call)));
    verdicts.extend(root.descendants::<LuaForRangeStat>().filter_map(|each| operands.each(&each)));
    verdicts.extend(records::judge(&operands));
    verdicts
}

/// The facts that decide whether the kind of a value is certain.
pub(super) struct Operands<'a, 't> {
    pub(super) typed: &'a Typed<'t>,
    /// Names of fields that the plan assigns.
    written: HashSet<String>,
    /// Whether it assigns fields by computed keys.
    writes_hidden: bool,
    has_goto: bool,
    /// Values whose type the plan tests, as written.
    asked: HashSet<String>,
    /// Calls of tools and of library functions.
    known_calls: HashSet<Span>,
}

impl<'a, 't> Operands<'a, 't> {
    pub(super) fn of(typed: &'a Typed<'t>) -> Self {
        let root = typed.model.get_root();
        let mut written = HashSet::new();
        let mut writes_hidden = false;
        let assigned = root.descendants::<LuaAssignStat>().flat_map(|it| it.get_var_and_expr_list().0);
        let defined = root.descendants::<LuaFuncStat>().filter_map(|it| it.get_func_name());
        for target in assigned.chain(defined) {
            let LuaVarExpr::IndexExpr(index) = target else { continue };
            match key_of(&index) {
                Some(name) => drop(written.insert(name)),
                None => writes_hidden = true,
            }
        }
        let mut asked = HashSet::new();
        for call in root.descendants::<LuaCallExpr>() {
            let callee = call.get_prefix_expr().map(|callee| callee.get_text()).unwrap_or_default();
            if ASKING.contains(&callee.as_str()) {
                let arguments = call.get_args_list().into_iter().flat_map(|list| list.get_args());
                asked.extend(arguments.map(|argument| argument.get_text()));
            }
        }
        let question = typed.question;
        Self {
            typed,
            written,
            writes_hidden,
            has_goto: root.descendants::<LuaGotoStat>().next().is_some(),
            asked,
            known_calls: question.calls.iter().chain(&question.library_calls).map(|call| call.span).collect(),
        }
    }

    /// Whether the plan assigns fields of that name.
    pub(super) fn writes(&self, field: &str) -> bool {
        self.written.contains(field)
    }

    /// The library function or `ipairs` that a call calls.
    pub(super) fn function_of(&self, call: &LuaCallExpr) -> Option<String> {
        let span = self.typed.span(call);
        if let Some(known) = self.typed.question.library_calls.iter().find(|known| known.span == span) {
            return Some(known.tool.clone());
        }
        call.get_prefix_expr().map(|callee| callee.get_text()).filter(|name| name == "ipairs")
    }

    /// What a value certainly is, apart from nil; `None` where it may be anything else.
    pub(super) fn kinds(&self, value: &LuaExpr) -> Option<Vec<ValueKind>> {
        if self.asked.contains(&value.get_text()) || self.may_change(value) {
            return None;
        }
        let mut kinds = self.typed.kinds_of(value)?;
        kinds.retain(|kind| *kind != ValueKind::Nil);
        (!kinds.is_empty()).then_some(kinds)
    }

    /// The kinds of a result that is a text where the call does not fail, also where the plan asks which of them it is.
    fn text_or_failure(&self, value: &LuaExpr) -> Option<Vec<ValueKind>> {
        if !matches!(value, LuaExpr::NameExpr(_)) || self.may_change(value) {
            return None;
        }
        let kinds = self.typed.kinds_of(value)?;
        let is_it = |kind: &ValueKind| matches!(kind, ValueKind::Plain("string") | ValueKind::Failure);
        (kinds.contains(&ValueKind::Plain("string")) && kinds.iter().all(is_it)).then_some(kinds)
    }

    /// Whether something outside type inference may have changed the value.
    fn may_change(&self, value: &LuaExpr) -> bool {
        let question = self.typed.question;
        let repeats = self.has_goto || is_in_loop(value);
        let by_name =
            value.descendants::<LuaNameExpr>().filter_map(|name| name.get_name_text()).any(|name| {
                question.defined.contains(&name)
                    || question.changing.contains(&name)
                    || repeats && question.assigned.contains(&name)
            });
        let by_field = value.descendants::<LuaIndexExpr>().any(|index| match key_of(&index) {
            Some(name) => self.written.contains(&name),
            None => self.writes_hidden,
        });
        let by_call = !question.changing.is_empty()
            && value
                .descendants::<LuaCallExpr>()
                .any(|call| !self.known_calls.contains(&self.typed.span(&call)));
        by_name || by_field || by_call
    }

    fn binary(&self, binary: &LuaBinaryExpr) -> Option<TypeFinding> {
        use BinaryOperator as Operator;
        let operator = binary.get_op_token()?.get_op();
        let (left, right) = binary.get_exprs()?;
        let (is_wrong, sign): (fn(&ValueKind) -> bool, &str) = match operator {
            Operator::OpConcat => (|kind| !is_text_or_number(kind), ".."),
            Operator::OpAdd
            | Operator::OpSub
            | Operator::OpMul
            | Operator::OpDiv
            | Operator::OpIDiv
            | Operator::OpMod
            | Operator::OpPow
            | Operator::OpBAnd
            | Operator::OpBOr
            | Operator::OpBXor
            | Operator::OpShl
            | Operator::OpShr => (|kind| !may_be_number(kind), "arithmetic"),
            Operator::OpLt | Operator::OpLe | Operator::OpGt | Operator::OpGe => {
                return self.comparison(&left, &right);
            }
            _ => return None,
        };
        [left, right].iter().find_map(|operand| {
            let kinds = self.kinds(operand)?;
            let is_sure = kinds.iter().all(is_wrong);
            let says =
                if sign == ".." { "which `..` cannot join" } else { "which cannot be calculated with" };
            is_sure.then(|| self.verdict(operand, &kinds, says, instead(operand, &kinds, sign)))
        })
    }

    fn comparison(&self, left: &LuaExpr, right: &LuaExpr) -> Option<TypeFinding> {
        let says = "which has no order";
        let [left_kinds, right_kinds] = [left, right].map(|operand| self.kinds(operand));
        for (operand, kinds) in [(left, &left_kinds), (right, &right_kinds)] {
            if let Some(kinds) = kinds.as_ref().filter(|kinds| !kinds.iter().any(is_text_or_number)) {
                return Some(self.verdict(operand, kinds, says, instead(operand, kinds, "<")));
            }
        }
        let (left_kinds, right_kinds) = (left_kinds?, right_kinds?);
        let are = |kinds: &[ValueKind], is_it: fn(&ValueKind) -> bool| {
            kinds.iter().filter(|kind| **kind != ValueKind::Failure).all(is_it)
        };
        let text = match (are(&left_kinds, is_text), are(&right_kinds, is_text)) {
            (true, false) if are(&right_kinds, is_number) => (left, left_kinds),
            (false, true) if are(&left_kinds, is_number) => (right, right_kinds),
            _ => return None,
        };
        let help = format!("write `tonumber({})`, and test that it is not nil", shown(text.0));
        Some(self.verdict(text.0, &text.1, "which has no order among numbers", help))
    }

    fn unary(&self, unary: &LuaUnaryExpr) -> Option<TypeFinding> {
        let value = unary.get_expr()?;
        let kinds = self.kinds(&value)?;
        let (is_wrong, says): (fn(&ValueKind) -> bool, &str) = match unary.get_op_token()?.get_op() {
            UnaryOperator::OpLen => (|kind| !is_table(kind) && !is_text(kind), "which has no length"),
            UnaryOperator::OpUnm | UnaryOperator::OpBNot => {
                (|kind| !may_be_number(kind), "which cannot be calculated with")
            }
            _ => return None,
        };
        kinds.iter().all(is_wrong).then(|| self.verdict(&value, &kinds, says, instead(&value, &kinds, "#")))
    }

    fn index(&self, index: &LuaIndexExpr) -> Option<TypeFinding> {
        let value = index.get_prefix_expr()?;
        let kinds = self.kinds(&value).or_else(|| self.text_or_failure(&value))?;
        let key = key_of(index);
        // `fields` judges the result of a failed call.
        if kinds.iter().any(|kind| is_table(kind) || *kind == ValueKind::Function)
            || kinds == [ValueKind::Failure]
        {
            return None;
        }
        let may_be_detail = kinds.contains(&ValueKind::Failure);
        if key.as_deref().is_some_and(|key| OF_FAILURE.contains(&key) || may_be_detail) {
            return None;
        }
        let says = match &key {
            Some(key) => format!("which has no field `{key}`"),
            None => "which has no fields".to_owned(),
        };
        let help = help_on_index(&value, &kinds, key.as_deref());
        if !kinds.iter().any(is_text) || is_target(index) {
            return Some(self.verdict(&value, &kinds, &says, help));
        }
        // A text has the functions of `string`; any other member is nil.
        let is_member =
            |key: &str| globals::library_members("string").is_some_and(|known| known.contains(&key));
        let whole = LuaExpr::IndexExpr(index.clone());
        let is_looked_at = use_of(self.typed.model.get_root(), &whole) == Use::Looked;
        let may_be_there = key.is_none() || key.as_deref().is_some_and(is_member) || is_looked_at;
        (!may_be_there).then(|| self.verdict(&value, &kinds, &says, help))
    }

    fn call(&self, call: &LuaCallExpr) -> Option<TypeFinding> {
        let callee = call.get_prefix_expr()?;
        if let Some(verdict) = self.iterated(&callee, call) {
            return Some(verdict);
        }
        // Names and fields that are nil have their own finding.
        let kinds = self.kinds(&callee)?;
        let is_sure = kinds.iter().all(|kind| *kind != ValueKind::Function);
        let help = "a result is not called; use the value itself, or one of its fields".to_owned();
        is_sure.then(|| self.verdict(&callee, &kinds, "which cannot be called", help))
    }

    /// `ipairs` and `pairs` of what is no table.
    fn iterated(&self, callee: &LuaExpr, call: &LuaCallExpr) -> Option<TypeFinding> {
        let name = callee.get_text();
        if !matches!(name.as_str(), "ipairs" | "pairs") {
            return None;
        }
        let value = call.get_args_list()?.get_args().next()?;
        let kinds = self.kinds(&value)?;
        let is_sure = !kinds.iter().any(is_table) && kinds != [ValueKind::Failure];
        let says = format!("which `{name}` cannot go over");
        is_sure.then(|| self.verdict(&value, &kinds, &says, instead(&value, &kinds, "for")))
    }

    /// `for … in` over a value itself.
    fn each(&self, each: &LuaForRangeStat) -> Option<TypeFinding> {
        let iterators: Vec<LuaExpr> = each.get_expr_list().collect();
        let [value] = iterators.as_slice() else { return None };
        let kinds = self.kinds(value)?;
        let is_sure = kinds.iter().all(|kind| *kind != ValueKind::Function);
        let help = format!("write `ipairs({0})`, or `pairs({0})` for names and values", shown(value));
        is_sure.then(|| self.verdict(value, &kinds, "which `for` cannot go over by itself", help))
    }

    fn verdict(&self, value: &LuaExpr, kinds: &[ValueKind], says: &str, help: String) -> TypeFinding {
        let mut words: Vec<&str> =
            kinds.iter().filter(|kind| **kind != ValueKind::Failure).map(ValueKind::word).collect();
        if words.is_empty() {
            words.push(ValueKind::Failure.word());
        }
        words.sort_unstable();
        words.dedup();
        TypeFinding {
            code: ErrorCode::PlanWrongKind,
            severity: Severity::Error,
            span: self.typed.span(value),
            message: format!("`{}` is {}, {says}", shown(value), words.join(" or ")),
            help,
        }
    }
}

/// What to write in place of a value of the wrong kind.
fn instead(value: &LuaExpr, kinds: &[ValueKind], sign: &str) -> String {
    let value = shown(value);
    if kinds.iter().all(|kind| *kind == ValueKind::Failure) {
        return format!("a failed call has `{value}.error`, `{value}.code` and `{value}.retryable`");
    }
    match sign {
        ".." if kinds.iter().any(is_table) => format!("join one of its fields, or `json.encode({value})`"),
        ".." => format!("write `tostring({value})`"),
        "arithmetic" if kinds.iter().any(is_text) => "texts are joined by `..`, not by `+`".to_owned(),
        "arithmetic" | "<" if kinds.iter().any(is_table) => {
            format!("use one of its fields; `#{value}` is how many items a list has")
        }
        "for" if kinds.iter().any(is_text) => {
            format!("read it first, for example with `text.lines({value})` or `json.decode({value})`")
        }
        _ => "use a value of the kind that is needed".to_owned(),
    }
}

fn help_on_index(value: &LuaExpr, kinds: &[ValueKind], key: Option<&str>) -> String {
    let text = shown(value);
    let members = globals::library_members("string").unwrap_or_default();
    let usual = key.and_then(|key| globals::usual("string", Some(key)));
    match key.and_then(|key| nearest(key, members.iter().copied())) {
        _ if usual.is_some() => usual.unwrap_or_default().to_owned(),
        Some(near) if kinds.iter().any(is_text) => format!("did you mean `string.{near}`?"),
        _ if kinds.iter().any(is_text) => {
            format!("use the text itself; where it is JSON, read it first: `json.decode({text})`")
        }
        _ => format!("use `{text}` itself"),
    }
}

/// The start of a value as written.
pub(super) fn shown(value: &LuaExpr) -> String {
    value.get_text().lines().next().unwrap_or_default().chars().take(60).collect()
}

/// The key of an index; `None` where it is computed. A number counts as a key that the plan never writes.
fn key_of(index: &LuaIndexExpr) -> Option<String> {
    match index.get_index_key()? {
        LuaIndexKey::Name(name) => Some(name.get_name_text().to_owned()),
        LuaIndexKey::String(text) => Some(text.get_value()),
        _ => None,
    }
}

/// Whether a value stands in a loop, where it may come from an earlier turn.
fn is_in_loop(value: &LuaExpr) -> bool {
    value.syntax().ancestors().any(|node| {
        let kind = node.kind().into();
        LuaForStat::can_cast(kind)
            || LuaForRangeStat::can_cast(kind)
            || LuaWhileStat::can_cast(kind)
            || LuaRepeatStat::can_cast(kind)
    })
}

fn is_table(kind: &ValueKind) -> bool {
    matches!(kind, ValueKind::List | ValueKind::Fields(_) | ValueKind::Made(_) | ValueKind::Table)
}

fn is_text(kind: &ValueKind) -> bool {
    matches!(kind, ValueKind::Known(Value::String(_)) | ValueKind::Plain("string"))
}

fn is_number(kind: &ValueKind) -> bool {
    matches!(
        kind,
        ValueKind::Known(Value::Integer(_) | Value::Float(_)) | ValueKind::Plain("integer" | "number")
    )
}

fn is_text_or_number(kind: &ValueKind) -> bool {
    is_text(kind) || is_number(kind)
}

/// Whether arithmetic takes a kind: numbers, and texts that may hold one.
fn may_be_number(kind: &ValueKind) -> bool {
    match kind {
        ValueKind::Known(Value::String(text)) => {
            text.trim().parse::<f64>().is_ok() || text.trim().starts_with("0x")
        }
        kind => is_text_or_number(kind),
    }
}
