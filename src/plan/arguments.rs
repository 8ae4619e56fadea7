//! Checks the arguments of a tool call as far as the source shows them.

use emmylua_parser::{
    LuaAstNode, LuaAstToken, LuaCallExpr, LuaExpr, LuaIndexKey, LuaLiteralToken, LuaTableExpr, NumberResult,
    UnaryOperator,
};
use indexmap::IndexMap;

use luaplan_base::{ErrorCode, Value, nearest};
use luaplan_catalog::ToolSpec;
use luaplan_syntax::Span;

use super::report::Report;
use crate::names::found::span_of;

/// What the source shows of a value.
enum Shown {
    /// All of it.
    Value(Value),
    /// A function, which no tool can take.
    Function,
    /// Too little to judge.
    Hidden,
}

/// A table constructor whose keys are all plain names.
struct NamedFields(Vec<NamedField>);

struct NamedField {
    name: String,
    /// Where the name stands.
    span: Span,
    value: LuaExpr,
}

/// Checks `call` against the parameters of `spec`; the tool's arguments start after the first `skip`.
pub(super) fn check(spec: &ToolSpec, call: &LuaCallExpr, skip: usize, report: &mut Report<'_>) {
    let Some(list) = call.get_args_list() else { return };
    let arguments: Vec<LuaExpr> = list.get_args().skip(skip).collect();
    let checker = Checker { spec, call_span: span_of(call) };
    if let [LuaExpr::TableExpr(table)] = arguments.as_slice() {
        match fields(table) {
            Fields::Named(named) if spec.takes_as_named(named.0.iter().map(|field| field.name.as_str())) => {
                checker.named(&named, report);
                return;
            }
            // A hidden key may turn the names into something else.
            Fields::Hidden => return,
            Fields::Named(named) => checker.taken_whole(&named, report),
            Fields::List => {}
        }
    }
    checker.by_position(&arguments, report);
}

/// The name of the function given as an argument, as in `pcall(name, …)`.
pub(super) fn name_at(call: &LuaCallExpr, place: usize) -> Option<String> {
    match call.get_args_list()?.get_args().nth(place)? {
        name @ (LuaExpr::NameExpr(_) | LuaExpr::IndexExpr(_)) => Some(name.get_text()),
        _ => None,
    }
}

/// Where an argument stands.
pub(super) fn span_at(call: &LuaCallExpr, place: usize) -> Option<Span> {
    call.get_args_list()?.get_args().nth(place).map(|argument| span_of(&argument))
}

struct Checker<'a> {
    spec: &'a ToolSpec,
    call_span: Span,
}

impl Checker<'_> {
    fn named(&self, given: &NamedFields, report: &mut Report<'_>) {
        for NamedField { name, span, value } in &given.0 {
            if self.spec.parameter(name).is_some() {
                self.value(name, value, report);
            } else if !self.spec.takes_unknown_names() {
                self.refuse(*span, self.spec.unknown_name_message(name), report);
            }
        }
        let names: Vec<&str> = self.spec.parameters().map(|(name, _)| name).collect();
        let is_given = |name: &str| {
            given.0.iter().any(|NamedField { name: given, value, .. }| {
                // A misspelt name is reported as such and not again as missing.
                given == name && !(is_nil(value) && self.nil_is_absent(name))
                    || !names.contains(&given.as_str()) && nearest(given, names.iter().copied()) == Some(name)
            })
        };
        let shows = |name: &str| {
            given.0.iter().any(|given| given.name == name && is_plain(&given.value) && !is_nil(&given.value))
        };
        self.choice(is_given, shows, report);
        self.missing(is_given, report);
    }

    /// Advice on a table with names of parameters that is yet the first argument, as other names are no parameters.
    fn taken_whole(&self, given: &NamedFields, report: &mut Report<'_>) {
        let Some((first, _)) = self.spec.parameters().next() else { return };
        let (known, others): (Vec<&NamedField>, Vec<&NamedField>) =
            given.0.iter().partition(|field| self.spec.parameter(&field.name).is_some());
        let fits = |field: &&NamedField| match shown(&field.value) {
            Shown::Value(value) => self.spec.fault_of(&field.name, &value).is_none(),
            Shown::Function => false,
            Shown::Hidden => true,
        };
        let Some(other) = others.first().filter(|_| !known.is_empty() && known.iter().all(fits)) else {
            return;
        };
        let message = format!(
            "`{}`: the whole table is taken as `{first}`, with `{}` in it, as `{}` is no parameter",
            self.spec.name, known[0].name, other.name
        );
        let help = format!("write `{first} = …`; the parameters are {}", signature(self.spec));
        report.warning(ErrorCode::PlanBadArgument, other.span, message, help);
    }

    fn by_position(&self, arguments: &[LuaExpr], report: &mut Report<'_>) {
        // A call or `...` at the end may give any number of values.
        let open_ended = arguments.last().is_some_and(gives_many);
        let nils = arguments.iter().rev().take_while(|argument| is_nil(argument)).count();
        let given = &arguments[..arguments.len() - if open_ended { 0 } else { nils }];
        let names: Vec<&str> = self.spec.parameters().map(|(name, _)| name).collect();
        let certain = given.len() - usize::from(open_ended);
        if certain > names.len() {
            let span = given.get(names.len()).map_or(self.call_span, span_of);
            self.refuse(span, self.spec.too_many_message(certain), report);
            return;
        }
        for (name, value) in names.iter().zip(&given[..certain]) {
            self.value(name, value, report);
        }
        // One argument that is a variable may be the table of names.
        let may_be_named = given.len() == 1 && given.first().is_some_and(|only| !is_plain(only));
        if open_ended || may_be_named {
            return;
        }
        let is_given = |name: &str| {
            let place = names.iter().position(|known| *known == name);
            place
                .and_then(|place| given.get(place))
                .is_some_and(|value| !(is_nil(value) && self.nil_is_absent(name)))
        };
        self.choice(is_given, |_| false, report);
        self.missing(is_given, report);
    }

    fn nil_is_absent(&self, name: &str) -> bool {
        // A required parameter that takes null is given by nil too; the call itself decides.
        self.spec.fault_of(name, &Value::Null).is_some() || !self.spec.is_required(name)
    }

    /// Parameters among which the manifest offers a choice: `may_be` says which may be given, `is` which surely are.
    fn choice(&self, may_be: impl Fn(&str) -> bool, is: impl Fn(&str) -> bool, report: &mut Report<'_>) {
        if let Some(message) = self.spec.choice_fault(may_be, is) {
            self.refuse(self.call_span, message, report);
        }
    }

    fn missing(&self, is_given: impl Fn(&str) -> bool, report: &mut Report<'_>) {
        for (name, _) in self.spec.parameters() {
            if self.spec.is_required(name) && !is_given(name) {
                self.refuse(self.call_span, self.spec.missing_message(name), report);
            }
        }
    }

    fn value(&self, name: &str, value: &LuaExpr, report: &mut Report<'_>) {
        match shown(value) {
            // An optional nil counts as absent; a required one is reported as missing.
            Shown::Hidden | Shown::Value(Value::Null) => {}
            Shown::Function => {
                let message =
                    format!("`{}`: parameter `{name}` is a function, which no tool can take", self.spec.name);
                self.refuse(span_of(value), message, report);
            }
            Shown::Value(literal) => {
                if let Some(message) = self.spec.fault_of(name, &literal) {
                    self.refuse(span_of(value), message, report);
                }
            }
        }
    }

    fn refuse(&self, span: Span, message: String, report: &mut Report<'_>) {
        let help = format!("the parameters are {}", signature(self.spec));
        report.error(ErrorCode::PlanBadArgument, span, message, help);
    }
}

/// The tool with its parameters and their types, on one line.
pub(super) fn signature(spec: &ToolSpec) -> String {
    let parameters: Vec<String> = spec
        .parameters()
        .map(|(name, _)| {
            let optional = if spec.is_required(name) { "" } else { "?" };
            format!("{name}{optional}: {}", spec.parameter_type(name).unwrap_or_default())
        })
        .collect();
    format!("{}({})", spec.name, parameters.join(", "))
}

/// What the source shows of one argument of a call.
pub(super) enum Given {
    /// It is not given.
    Absent,
    /// It is given, and this is all of it.
    Shown(Value),
    /// It may be given, or the source does not show all of it.
    Hidden,
}

/// The argument `name` of `call`; the tool's arguments start after the first `skip`.
pub(super) fn given(spec: &ToolSpec, call: &LuaCallExpr, skip: usize, name: &str) -> Given {
    let arguments: Vec<LuaExpr> =
        call.get_args_list().into_iter().flat_map(|list| list.get_args()).skip(skip).collect();
    let seen = |value: Option<&LuaExpr>| match value.map(literal) {
        None | Some(Some(Value::Null)) => Given::Absent,
        Some(Some(value)) => Given::Shown(value),
        Some(None) => Given::Hidden,
    };
    match arguments.as_slice() {
        [LuaExpr::TableExpr(table)] => match fields(table) {
            Fields::Named(named) if spec.takes_as_named(named.0.iter().map(|field| field.name.as_str())) => {
                seen(named.0.iter().find(|field| field.name == name).map(|field| &field.value))
            }
            Fields::Hidden => Given::Hidden,
            Fields::Named(_) | Fields::List => Given::Absent,
        },
        // It may be the table of names.
        [only] if !is_plain(only) => Given::Hidden,
        arguments => match spec.parameters().position(|(parameter, _)| parameter == name) {
            Some(place) if place >= arguments.len() && arguments.last().is_some_and(gives_many) => {
                Given::Hidden
            }
            place => seen(place.and_then(|place| arguments.get(place))),
        },
    }
}

/// The expression that `call` gives for the parameter `name`, where the source shows which it is; the tool's arguments
/// start after the first `skip`.
pub(super) fn expression(spec: &ToolSpec, call: &LuaCallExpr, skip: usize, name: &str) -> Option<LuaExpr> {
    let arguments: Vec<LuaExpr> = call.get_args_list()?.get_args().skip(skip).collect();
    if let [LuaExpr::TableExpr(table)] = arguments.as_slice() {
        match fields(table) {
            Fields::Named(named) if spec.takes_as_named(named.0.iter().map(|field| field.name.as_str())) => {
                return named.0.into_iter().find(|field| field.name == name).map(|field| field.value);
            }
            Fields::Hidden => return None,
            Fields::Named(_) | Fields::List => {}
        }
    }
    // One variable may be the table of names.
    if let [only] = arguments.as_slice()
        && !is_plain(only)
    {
        return None;
    }
    let place = spec.parameters().position(|(parameter, _)| parameter == name)?;
    arguments.into_iter().nth(place)
}

/// Whether the source shows the whole value, so that no type is needed to judge it.
pub(super) fn is_shown(expression: &LuaExpr) -> bool {
    !matches!(shown(expression), Shown::Hidden)
}

/// The entries of a table constructor whose keys are all plain names, each with the place of its name.
pub(super) fn named_fields(table: &LuaTableExpr) -> Option<Vec<(String, Span, LuaExpr)>> {
    let Fields::Named(NamedFields(named)) = fields(table) else { return None };
    Some(named.into_iter().map(|NamedField { name, span, value }| (name, span, value)).collect())
}

enum Fields {
    Named(NamedFields),
    List,
    Hidden,
}

fn fields(table: &LuaTableExpr) -> Fields {
    let mut named = Vec::new();
    let mut items = 0;
    for field in table.get_fields() {
        if field.is_value_field() {
            items += 1;
            continue;
        }
        let (name, range) = match field.get_field_key() {
            Some(LuaIndexKey::Name(name)) => (name.get_name_text().to_owned(), name.get_range()),
            Some(LuaIndexKey::String(text)) => (text.get_value(), text.get_range()),
            _ => return Fields::Hidden,
        };
        let Some(value) = field.get_value_expr() else { return Fields::Hidden };
        let span = (usize::from(range.start()), usize::from(range.end()));
        named.push(NamedField { name, span, value });
    }
    match (named.len(), items) {
        (_, 0) => Fields::Named(NamedFields(named)),
        (0, _) => Fields::List,
        _ => Fields::Hidden,
    }
}

fn shown(expression: &LuaExpr) -> Shown {
    match expression {
        LuaExpr::ClosureExpr(_) => Shown::Function,
        other => literal(other).map_or(Shown::Hidden, Shown::Value),
    }
}

/// The value of an expression that the source shows whole.
pub(super) fn literal(expression: &LuaExpr) -> Option<Value> {
    match expression {
        LuaExpr::ParenExpr(inner) => literal(&inner.get_expr()?),
        LuaExpr::LiteralExpr(value) => match value.get_literal()? {
            LuaLiteralToken::String(text) => Some(Value::String(text.get_value())),
            LuaLiteralToken::Bool(value) => Some(Value::Bool(value.is_true())),
            LuaLiteralToken::Nil(_) => Some(Value::Null),
            LuaLiteralToken::Number(number) => match number.get_number_value() {
                NumberResult::Int(integer) => Some(Value::Integer(integer)),
                NumberResult::Float(float) if float.is_finite() => Some(Value::Float(float)),
                _ => None,
            },
            _ => None,
        },
        LuaExpr::UnaryExpr(operation) if operation.get_op_token()?.get_op() == UnaryOperator::OpUnm => {
            match literal(&operation.get_expr()?)? {
                Value::Integer(integer) => Some(Value::Integer(integer.wrapping_neg())),
                Value::Float(float) => Some(Value::Float(-float)),
                _ => None,
            }
        }
        LuaExpr::TableExpr(table) => match fields(table) {
            Fields::Hidden => None,
            Fields::List => {
                let items = table.get_fields().map(|field| literal(&field.get_value_expr()?));
                items.collect::<Option<Vec<Value>>>().map(Value::Array)
            }
            Fields::Named(named) => {
                let members = named.0.iter().map(|field| Some((field.name.clone(), literal(&field.value)?)));
                members.collect::<Option<IndexMap<String, Value>>>().map(Value::Object)
            }
        },
        _ => None,
    }
}

fn is_nil(expression: &LuaExpr) -> bool {
    matches!(literal(expression), Some(Value::Null))
}

/// Whether the expression can only be a single value, not a table of named arguments.
fn is_plain(expression: &LuaExpr) -> bool {
    matches!(expression, LuaExpr::LiteralExpr(_) | LuaExpr::TableExpr(_) | LuaExpr::ClosureExpr(_))
}

fn gives_many(expression: &LuaExpr) -> bool {
    match expression {
        LuaExpr::CallExpr(_) => true,
        LuaExpr::LiteralExpr(literal) => literal.syntax().text() == "...",
        _ => false,
    }
}
