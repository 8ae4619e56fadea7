//! Calls of library functions: too many or too few arguments, and kinds they refuse. Only advice, as
//! the libraries report wrong arguments at run time.

use std::collections::HashMap;
use std::sync::OnceLock;

use emmylua_parser::{LuaAstNode, LuaCallExpr, LuaExpr, LuaLiteralToken};

use luaplan_base::{ErrorCode, Value};
use luaplan_syntax::Span;

use super::super::{Severity, declarations};
use super::kinds::{Typed, ValueKind};
use super::question::TypeFinding;
use crate::names::calls::ToolCall;

/// A function as declared.
struct Function {
    parameters: Vec<Parameter>,
    /// Whether it takes any number of further arguments.
    is_open: bool,
    /// Whether every parameter has a type, so that those without `?` are needed.
    is_typed: bool,
}

struct Parameter {
    name: &'static str,
    /// Its declared type, if any.
    lua: Option<&'static str>,
    is_optional: bool,
}

impl Function {
    fn signature(&self, path: &str) -> String {
        let shown = |parameter: &Parameter| {
            format!("{}{}", parameter.name, if parameter.is_optional { "?" } else { "" })
        };
        let mut names: Vec<String> = self.parameters.iter().map(shown).collect();
        if self.is_open {
            names.push("…".to_owned());
        }
        format!("{path}({})", names.join(", "))
    }
}

pub(super) fn judge(typed: &Typed<'_>) -> Vec<TypeFinding> {
    let mut verdicts = Vec::new();
    let by_span: HashMap<Span, &ToolCall> =
        typed.question.library_calls.iter().map(|call| (call.span, call)).collect();
    for call in typed.model.get_root().descendants::<LuaCallExpr>() {
        let Some(known) = by_span.get(&typed.span(&call)) else { continue };
        let path = known.tool.as_str();
        if let Some(function) = declared().get(path) {
            let arguments: Vec<LuaExpr> =
                call.get_args_list().into_iter().flat_map(|list| list.get_args()).collect();
            count(typed, &call, path, function, &arguments, &mut verdicts);
            for (parameter, value) in function.parameters.iter().zip(&arguments) {
                verdicts.extend(kind(typed, path, function, parameter, value));
            }
        }
    }
    verdicts
}

fn advice(typed: &Typed<'_>, node: &impl LuaAstNode, message: String, help: String) -> TypeFinding {
    let span = typed.span(node);
    TypeFinding { code: ErrorCode::PlanBadArgument, severity: Severity::Warning, span, message, help }
}

/// Too many arguments, or too few.
fn count(
    typed: &Typed<'_>,
    call: &LuaCallExpr,
    path: &str,
    function: &Function,
    arguments: &[LuaExpr],
    verdicts: &mut Vec<TypeFinding>,
) {
    let open_ended = arguments.last().is_some_and(|last| match last {
        LuaExpr::CallExpr(_) => true,
        LuaExpr::LiteralExpr(literal) => matches!(literal.get_literal(), Some(LuaLiteralToken::Dots(_))),
        _ => false,
    });
    let help = || format!("it is declared as `{}`", function.signature(path));
    let most = function.parameters.len();
    if !function.is_open && arguments.len() > most {
        let message = format!("`{path}` takes at most {most} argument(s), and {} are given", arguments.len());
        verdicts.push(advice(typed, call, message, help()));
    }
    if function.is_typed && !open_ended {
        let missing =
            function.parameters.iter().skip(arguments.len()).find(|parameter| !parameter.is_optional);
        if let Some(missing) = missing {
            let message = format!("`{path}` needs `{}`, which is not given", missing.name);
            verdicts.push(advice(typed, call, message, help()));
        }
    }
}

/// An argument of a kind the function refuses.
fn kind(
    typed: &Typed<'_>,
    path: &str,
    function: &Function,
    parameter: &Parameter,
    value: &LuaExpr,
) -> Option<TypeFinding> {
    let wanted = parameter.lua?;
    let kinds = typed.kinds_of(value)?;
    // Failed calls and nils are judged elsewhere.
    let meant: Vec<&ValueKind> =
        kinds.iter().filter(|kind| !matches!(kind, ValueKind::Nil | ValueKind::Failure)).collect();
    if meant.is_empty() || meant.iter().any(|kind| alternatives(wanted).any(|one| takes(one, kind))) {
        return None;
    }
    let mut words: Vec<&str> = meant.iter().map(|kind| kind.word()).collect();
    words.dedup();
    let shown = match meant.as_slice() {
        [ValueKind::Known(Value::String(text))] => format!("{text:?}"),
        _ => words.join(" or "),
    };
    let message = format!("`{path}`: `{}` must be {wanted}; {shown} comes", parameter.name);
    Some(advice(typed, value, message, format!("it is declared as `{}`", function.signature(path))))
}

/// Whether one alternative of a declared type takes a kind. A type not known here takes anything.
fn takes(wanted: &str, kind: &ValueKind) -> bool {
    if let Some(text) = wanted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        return match kind {
            ValueKind::Known(Value::String(known)) => known == text,
            kind => matches!(kind, ValueKind::Plain("string")),
        };
    }
    let is_number = matches!(kind, ValueKind::Known(Value::Integer(_) | Value::Float(_)))
        || matches!(kind, ValueKind::Plain("integer" | "number"));
    let is_text = matches!(kind, ValueKind::Known(Value::String(_)) | ValueKind::Plain("string"));
    let is_table =
        matches!(kind, ValueKind::List | ValueKind::Fields(_) | ValueKind::Made(_) | ValueKind::Table);
    match wanted {
        // Lua converts texts that hold numbers, and numbers to texts.
        "string" => is_text || is_number,
        "integer" | "number" => match kind {
            ValueKind::Known(Value::String(text)) => text.trim().parse::<f64>().is_ok(),
            _ => is_number || is_text,
        },
        "boolean" => matches!(kind, ValueKind::Known(Value::Bool(_)) | ValueKind::Plain("boolean")),
        "nil" => false,
        "table" => is_table,
        wanted if wanted.starts_with("fun(") => *kind == ValueKind::Function,
        wanted if wanted.ends_with("[]") || wanted.starts_with(['{', '(']) => is_table,
        _ => true,
    }
}

/// The parts of a union.
fn alternatives(lua: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let split = move |c: char| {
        depth += match c {
            '(' | '{' | '<' | '[' => 1,
            ')' | '}' | '>' | ']' => -1,
            _ => 0,
        };
        c == '|' && depth == 0
    };
    let parts: Vec<&str> = lua.split(split).map(str::trim).collect();
    // What follows a function's arguments is its result.
    let function = parts.iter().position(|part| part.starts_with("fun("));
    let end = function.map_or(parts.len(), |place| place + 1);
    parts.into_iter().take(end)
}

/// The functions of all libraries, by `library.member`.
fn declared() -> &'static HashMap<&'static str, Function> {
    static DECLARED: OnceLock<HashMap<&'static str, Function>> = OnceLock::new();
    DECLARED.get_or_init(|| {
        let mut functions = HashMap::new();
        for (_, text) in declarations::all() {
            let mut types: HashMap<&'static str, (&'static str, bool)> = HashMap::new();
            let mut has_overloads = false;
            for line in text.lines() {
                if let Some(parameter) = line.strip_prefix("---@param ") {
                    let (name, lua) = parameter.split_once(' ').unwrap_or((parameter, "any"));
                    let plain = name.trim_end_matches('?');
                    types.insert(plain, (type_of(lua), plain != name));
                } else if line.starts_with("---@overload") {
                    has_overloads = true;
                } else if let Some(head) = line.strip_prefix("function ") {
                    if let (Some((path, list)), false) = (head.split_once('('), has_overloads) {
                        let names = list.split(')').next().unwrap_or_default();
                        functions.insert(path, function(names, &types));
                    }
                    types.clear();
                    has_overloads = false;
                }
            }
        }
        functions
    })
}

fn function(names: &'static str, types: &HashMap<&'static str, (&'static str, bool)>) -> Function {
    let all: Vec<&'static str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let parameters: Vec<Parameter> = all
        .iter()
        .filter(|name| **name != "...")
        .map(|name| {
            let declared = types.get(name);
            let is_optional = declared.is_some_and(|(lua, marked)| *marked || lua.ends_with('?'));
            Parameter { name, lua: declared.map(|(lua, _)| *lua), is_optional }
        })
        .collect();
    let is_typed = parameters.iter().all(|parameter| parameter.lua.is_some());
    Function { parameters, is_open: all.contains(&"..."), is_typed }
}

/// The type at the start of a line; the rest is prose.
fn type_of(rest: &'static str) -> &'static str {
    let mut depth = 0_i32;
    let mut quoted = false;
    let is_end = |c: char| {
        match c {
            '"' => quoted = !quoted,
            '(' | '{' | '<' | '[' => depth += 1,
            ')' | '}' | '>' | ']' => depth -= 1,
            _ => {}
        }
        c == ' ' && depth == 0 && !quoted
    };
    let end = rest.find(is_end).unwrap_or(rest.len());
    let lua = rest.get(..end).unwrap_or(rest);
    // `fun(item: any): any` continues after its colon.
    if lua.ends_with("):") { rest } else { lua }
}
