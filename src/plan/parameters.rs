//! Parameters of a saved plan, in comments before its first statement:
//!
//! ```text
//! -- luaplan: param(month, "2026-05") the month to report
//! -- luaplan: param(recipient) who gets it
//! ```
//!
//! A parameter is a member of the context that a run starts with. Its default, a JSON value, is taken where the context
//! does not have it; without a default it has to be given.

use luaplan_base::{Error, ErrorCode, Result, Value, nearest};
use luaplan_catalog::is_lua_identifier;
use luaplan_syntax::Span;

const MARK: &str = "-- luaplan: param";
/// The most brackets among which that behind a default is looked for.
const BRACKETS_MAX: usize = 64;

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanParameter {
    /// The member of the context.
    pub name: String,
    /// Its value where none is given.
    pub default: Option<Value>,
    /// What it is for.
    pub description: String,
}

/// A comment that is meant to declare a parameter and does not.
pub(crate) struct ParameterFault {
    pub(crate) span: Span,
    pub(crate) message: String,
}

/// The parameters that a plan declares, in order. Comments that declare none are passed over: the check finds them.
#[must_use]
pub fn parameters(source: &str) -> Vec<PlanParameter> {
    declared(source).filter_map(|(_, found)| found.ok()).collect()
}

pub(crate) fn faults(source: &str) -> Vec<ParameterFault> {
    let mut names: Vec<String> = Vec::new();
    let mut faults = Vec::new();
    for (span, found) in declared(source) {
        let message = match found {
            Err(message) => message,
            Ok(parameter) if names.contains(&parameter.name) => {
                format!("the parameter `{}` is declared twice", parameter.name)
            }
            Ok(parameter) => {
                names.push(parameter.name);
                continue;
            }
        };
        faults.push(ParameterFault { span, message });
    }
    faults
}

/// The context of a run of the plan: what is given, and the defaults of the rest.
///
/// # Errors
/// `bad_request` for a parameter without a default that is not given, or a context that can hold none.
pub fn with_defaults(source: &str, context: Value) -> Result<Value> {
    let parameters = parameters(source);
    if parameters.is_empty() {
        return Ok(context);
    }
    let mut members = match context {
        Value::Object(members) => members,
        other => {
            let message = format!("the plan has parameters, and the context is {}", other.kind());
            return Err(Error::new(ErrorCode::BadRequest, message)
                .with_help("give an object, whose members the parameters are"));
        }
    };
    for PlanParameter { name, default, description } in parameters {
        if members.contains_key(&name) {
            continue;
        }
        let Some(default) = default else {
            let what = if description.is_empty() { String::new() } else { format!(" ({description})") };
            return Err(Error::new(ErrorCode::BadRequest, format!("the plan needs `{name}`{what}"))
                .with_help(format!("give it: `--param {name}=VALUE`, or as a member of the context")));
        };
        members.insert(name, default);
    }
    Ok(Value::Object(members))
}

/// A parameter as the command line writes it, `NAME=VALUE`: the value is JSON, or else a text. It is a text in any case
/// where the default is one.
///
/// # Errors
/// `usage` for a text without `=`, and for a name that the plan does not declare.
pub fn given(source: &str, text: &str) -> Result<(String, Value)> {
    let refused = |message: String, help: String| Err(Error::new(ErrorCode::Usage, message).with_help(help));
    let Some((name, value)) = text.split_once('=') else {
        return refused(format!("`--param {text}` has no `=`"), "write `--param NAME=VALUE`".to_owned());
    };
    let known = parameters(source);
    let Some(parameter) = known.iter().find(|known| known.name == name.trim()) else {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let help = match (nearest(name.trim(), names.iter().copied()), names.is_empty()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, true) => {
                format!("declare it in the plan's first lines: `{MARK}({}, DEFAULT)`", name.trim())
            }
            (None, false) => format!("it has {}", names.join(", ")),
        };
        return refused(format!("the plan has no parameter `{}`", name.trim()), help);
    };
    let value = match &parameter.default {
        Some(Value::String(_)) => Value::from(value),
        _ => Value::from_json_text(value).unwrap_or_else(|_| Value::from(value)),
    };
    Ok((parameter.name.clone(), value))
}

/// The comments that are meant for parameters, and what each declares.
fn declared(source: &str) -> impl Iterator<Item = (Span, Result<PlanParameter, String>)> + '_ {
    let mut start = 0;
    let lines = source.split_inclusive('\n').map(move |line| {
        let span = (start, start + line.trim_end().len());
        start += line.len();
        (span, line.trim_end())
    });
    let before_code = lines.take_while(|(_, line)| line.trim().is_empty() || line.starts_with("--"));
    before_code.filter_map(|(span, line)| Some((span, parameter(line.strip_prefix(MARK)?))))
}

/// Reads `(NAME, DEFAULT) description`.
fn parameter(rest: &str) -> Result<PlanParameter, String> {
    const FORM: &str = "write `-- luaplan: param(NAME, DEFAULT) what it is for`, the default as JSON";
    let inside = rest.trim_start().strip_prefix('(').ok_or_else(|| FORM.to_owned())?;
    let end = inside.find([',', ')']).ok_or_else(|| FORM.to_owned())?;
    let (name, rest) = inside.split_at(end);
    let name = name.trim();
    if !is_lua_identifier(name) {
        return Err(format!("`{name}` is no name of a member; {FORM}"));
    }
    let (default, description) = match rest.strip_prefix(',') {
        None => (None, rest.get(1..).unwrap_or_default()),
        Some(rest) => {
            let (default, description) = default_and_rest(rest)
                .ok_or_else(|| format!("the default of `{name}` is no JSON; {FORM}"))?;
            let default = Value::from_json(default).map_err(|error| error.message().to_owned())?;
            (Some(default), description)
        }
    };
    Ok(PlanParameter { name: name.to_owned(), default, description: description.trim().to_owned() })
}

/// The JSON before a closing bracket, and what follows that: the default may hold brackets itself.
fn default_and_rest(rest: &str) -> Option<(serde_json::Value, &str)> {
    let read = |(end, _)| Some((serde_json::from_str(rest.get(..end)?).ok()?, rest.get(end + 1..)?));
    rest.match_indices(')').take(BRACKETS_MAX).find_map(read)
}
