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
const WORDS: &str = "luaplan: param";
/// The detail of an error with the names of the parameters that are missing.
pub const MISSING: &str = "missing";
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

/// The parameters that a plan declares, in order, each once. Comments that declare none are passed over: the check finds
/// them.
#[must_use]
pub fn parameters(source: &str) -> Vec<PlanParameter> {
    let mut known: Vec<PlanParameter> = Vec::new();
    for (_, found) in declared(source) {
        if let Ok(parameter) = found
            && known.iter().all(|other| other.name != parameter.name)
        {
            known.push(parameter);
        }
    }
    known
}

/// What is wrong with the comments that are meant for parameters. `comments` are the places of all comments.
pub(crate) fn faults(source: &str, comments: impl Iterator<Item = Span>) -> Vec<ParameterFault> {
    let mut names: Vec<String> = Vec::new();
    let mut faults = late(source, comments);
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

/// The declarations below the first statement.
fn late(source: &str, comments: impl Iterator<Item = Span>) -> Vec<ParameterFault> {
    const MESSAGE: &str = "this parameter is declared below the first statement, where nothing reads it; move it to the \
                           plan's first lines";
    let code_from = declarations_end(source);
    let mut found = Vec::new();
    for (start, end) in comments.filter(|(_, end)| *end > code_from) {
        let mut at = start;
        for line in source.get(start..end).unwrap_or_default().split_inclusive('\n') {
            let span = (at, at + line.trim_end().len());
            at += line.len();
            let text = line.trim_start_matches(|c: char| c.is_whitespace() || c == '-');
            let is_meant = text.strip_prefix(WORDS).is_some_and(|rest| rest.trim_start().starts_with('('));
            if span.0 >= code_from && is_meant {
                found.push(ParameterFault { span, message: MESSAGE.to_owned() });
            }
        }
    }
    found
}

/// The context of a run of the plan: what is given, and the defaults of the rest.
///
/// # Errors
/// `bad_request` for parameters without a default that are not given, all at once, or a context that can hold none.
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
    let mut missing = Vec::new();
    for PlanParameter { name, default, description } in parameters {
        if members.contains_key(&name) {
            continue;
        }
        if let Some(default) = default {
            members.insert(name, default);
        } else {
            let what = if description.is_empty() { String::new() } else { format!(" ({description})") };
            missing.push((format!("`{name}`{what}"), name));
        }
    }
    if missing.is_empty() {
        return Ok(Value::Object(members));
    }
    let told: Vec<&str> = missing.iter().map(|(told, _)| told.as_str()).collect();
    let names: Vec<&str> = missing.iter().map(|(_, name)| name.as_str()).collect();
    let what = if told.len() == 1 { "it as a member" } else { "them as members" };
    Err(Error::new(ErrorCode::BadRequest, format!("the plan needs {}", told.join(" and ")))
        .with_help(format!("give {what} of `context`"))
        .with_detail(MISSING, names))
}

/// The context that a check holds the plan against: with the defaults of what is not given. `None` where parameters are
/// missing, as the shape of the context is then not known, and for an empty context, which tells nothing.
#[must_use]
pub fn context_of_check(source: &str, context: Option<&Value>) -> Option<Value> {
    let context =
        context.filter(|context| !matches!(context, Value::Object(members) if members.is_empty()))?;
    with_defaults(source, context.clone()).ok()
}

/// A parameter as the command line writes it, `NAME=VALUE`: JSON, or else a text, of the kind of its default. It is a text
/// in any case where the default is one. `@FILE` is what the file holds, by `read`; `@@` begins a text with `@`.
///
/// # Errors
/// `usage` for a text without `=`, for a name that the plan does not declare, and for a value of another kind than the
/// default; as `read`.
pub fn given(source: &str, text: &str, read: impl Fn(&str) -> Result<String>) -> Result<(String, Value)> {
    let refused = |message: String, help: String| Err(Error::new(ErrorCode::Usage, message).with_help(help));
    let Some((name, value)) = text.split_once('=') else {
        return refused(format!("`--param {text}` has no `=`"), "write `--param NAME=VALUE`".to_owned());
    };
    let known = parameters(source);
    let Some(parameter) = known.iter().find(|known| known.name == name) else {
        let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
        let fault = declared(source).find_map(|(_, found)| found.err());
        let help = match (nearest(name.trim(), names.iter().copied()), fault) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, Some(fault)) => fault,
            (None, None) if names.is_empty() => {
                format!("declare it in the plan's first lines: `{MARK}({}, DEFAULT)`", name.trim())
            }
            (None, None) => format!("it has {}", names.join(", ")),
        };
        return refused(format!("the plan has no parameter `{name}`"), help);
    };
    let text = match value.strip_prefix('@') {
        Some(at) if at.starts_with('@') => at.to_owned(),
        Some(file) => read(file)?,
        None => value.to_owned(),
    };
    let read = || Value::from_json_text(&text).unwrap_or_else(|_| Value::from(text.as_str()));
    let value = match &parameter.default {
        Some(Value::String(_)) => Value::from(text.as_str()),
        None | Some(Value::Null) => read(),
        Some(default) => {
            let value = read();
            if kind(&value) != kind(default) {
                return refused(
                    format!(
                        "the parameter `{name}` takes {}, as its default is one, and got {}",
                        kind(default),
                        kind(&value)
                    ),
                    format!("its default is `{}`", default.to_json()),
                );
            }
            value
        }
    };
    Ok((parameter.name.clone(), value))
}

/// What a value is; all numbers are of one kind.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        Value::String(_) | Value::Bytes(_) | Value::Failure(_) => "a text",
    }
}

/// Where the comments before the first statement end.
fn declarations_end(source: &str) -> usize {
    source.split_inclusive('\n').take_while(|line| is_before_code(line)).map(str::len).sum()
}

fn is_before_code(line: &str) -> bool {
    line.trim().is_empty() || line.starts_with("--")
}

/// The comments that are meant for parameters, and what each declares.
fn declared(source: &str) -> impl Iterator<Item = (Span, Result<PlanParameter, String>)> + '_ {
    let mut start = 0;
    let lines = source.split_inclusive('\n').map(move |line| {
        let span = (start, start + line.trim_end().len());
        start += line.len();
        (span, line.trim_end())
    });
    let before_code = lines.take_while(|(_, line)| is_before_code(line));
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
                .ok_or_else(|| format!("the default of `{name}` is no JSON{}; {FORM}", quoted(rest)))?;
            let default = Value::from_json(default).map_err(|error| error.message().to_owned())?;
            (Some(default), description)
        }
    };
    Ok(PlanParameter { name: name.to_owned(), default, description: description.trim().to_owned() })
}

/// What to write for a default that is a text without quotes.
fn quoted(rest: &str) -> String {
    let text = rest.split(')').next().unwrap_or_default().trim();
    let is_text = !text.is_empty() && !text.starts_with(['"', '{', '[', '\'']);
    if is_text { format!(": put quotes around a text, `\"{text}\"`") } else { String::new() }
}

/// The JSON before a closing bracket, and what follows that: the default may hold brackets itself.
fn default_and_rest(rest: &str) -> Option<(serde_json::Value, &str)> {
    let read = |(end, _)| Some((serde_json::from_str(rest.get(..end)?).ok()?, rest.get(end + 1..)?));
    rest.match_indices(')').take(BRACKETS_MAX).find_map(read)
}
