//! Puts the findings of a JSON Schema validator into words.

use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use serde_json::Value as Json;

use super::ToolSpec;

/// A fault in the arguments of a call.
pub(super) struct ArgumentFault {
    /// The parameter concerned, if it is one.
    pub(super) parameter: Option<String>,
    /// What came and what is expected.
    pub(super) message: String,
}

/// Words for the first thing the validator found.
pub(super) fn describe(spec: &ToolSpec, error: &ValidationError<'_>) -> ArgumentFault {
    let steps: Vec<String> = error
        .instance_path()
        .as_str()
        .split('/')
        .skip(1)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    let (parameter, place) = match steps.split_first() {
        None => (None, format!("`{}`", spec.name)),
        Some((name, rest)) => {
            let path: String = rest.iter().map(|step| lua_step(step)).collect();
            (Some(name.clone()), format!("`{}`: parameter `{name}{path}`", spec.name))
        }
    };
    // The whole type is shorter and says more than the one alternative the validator tried.
    let declared = match steps.as_slice() {
        [name] => spec.parameter_type(name),
        _ => None,
    };
    ArgumentFault { message: format!("{place} {}", words(error, declared.as_deref())), parameter }
}

fn lua_step(step: &str) -> String {
    match step.parse::<usize>() {
        Ok(index) => format!("[{}]", index.saturating_add(1)),
        Err(_) => format!(".{step}"),
    }
}

fn words(error: &ValidationError<'_>, declared: Option<&str>) -> String {
    use ValidationErrorKind as Kind;
    let came = seen(error.instance());
    match error.kind() {
        Kind::Type { kind } => {
            let expected = with_article(&declared.map_or_else(|| types(kind), str::to_owned));
            format!("must be {expected}, but is {came}")
        }
        Kind::Enum { options } => format!("must be one of {}, but is {came}", list(options)),
        Kind::Constant { expected_value } => format!("must be {expected_value}, but is {came}"),
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => alternatives(context, &came, declared),
        Kind::OneOfMultipleValid { .. } => "fits more than one of its forms; say which is meant".to_owned(),
        Kind::Required { property } => format!("lacks {property}"),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!("has no place for {}", quoted(unexpected))
        }
        Kind::Minimum { limit } => format!("must be at least {limit}, but is {came}"),
        Kind::ExclusiveMinimum { limit } => format!("must be above {limit}, but is {came}"),
        Kind::Maximum { limit } => format!("must be at most {limit}, but is {came}"),
        Kind::ExclusiveMaximum { limit } => format!("must be below {limit}, but is {came}"),
        Kind::MultipleOf { multiple_of, .. } => format!("must be a multiple of {multiple_of}, but is {came}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} members"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} members"),
        Kind::UniqueItems => "must not hold the same item twice".to_owned(),
        Kind::Pattern { pattern } => format!("must match the pattern `{pattern}`"),
        Kind::Format { format } => format!("must be of the format `{format}`"),
        Kind::FalseSchema => "is not allowed".to_owned(),
        other => format!("does not fit its schema (`{}`)", other.keyword()),
    }
}

/// Of several alternatives, the one whose type fits says what is wrong with the rest.
fn alternatives(context: &[Vec<ValidationError<'static>>], came: &str, declared: Option<&str>) -> String {
    let is_type = |error: &ValidationError<'_>| matches!(error.kind(), ValidationErrorKind::Type { .. });
    let meant = context.iter().filter_map(|errors| errors.first()).find(|error| !is_type(error));
    if let Some(error) = meant {
        return words(error, None);
    }
    let expected = declared.map_or_else(
        || {
            let mut names: Vec<String> = Vec::new();
            for error in context.iter().filter_map(|errors| errors.first()) {
                if let ValidationErrorKind::Type { kind } = error.kind() {
                    names.push(types(kind));
                }
            }
            names.dedup();
            names.join(" or ")
        },
        str::to_owned,
    );
    format!("must be {expected}, but is {came}")
}

/// A type's name alone, as in "an integer"; anything longer as it is.
fn with_article(expected: &str) -> String {
    match expected {
        "integer" | "array" | "object" => format!("an {expected}"),
        "boolean" | "function" | "number" | "string" | "table" => format!("a {expected}"),
        other => other.to_owned(),
    }
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => kind.to_string(),
        TypeKind::Multiple(kinds) => {
            kinds.iter().map(|kind| kind.to_string()).collect::<Vec<_>>().join(" or ")
        }
    }
}

/// The kind of the value, without its text: arguments may hold secrets.
fn seen(value: &Json) -> String {
    match value {
        Json::Null => "nil".to_owned(),
        Json::Bool(value) => format!("the boolean {value}"),
        Json::Number(number) => format!("the number {number}"),
        Json::String(text) => match text.chars().count() {
            1 => "a string of 1 character".to_owned(),
            count => format!("a string of {count} characters"),
        },
        Json::Array(items) => format!("a list of {}", items.len()),
        Json::Object(_) => "a table".to_owned(),
    }
}

fn list(options: &Json) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    options.iter().map(Json::to_string).collect::<Vec<_>>().join(", ")
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
