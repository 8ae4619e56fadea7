//! The data a template sees.

use minijinja::value::Value as JinjaValue;

use luaplan_base::{ErrorCode, ToolFailure, Value};

const DEPTH_MAX: usize = 64;
const INPUT_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// Refuses what cannot be rendered: too deep, too large, or a failed result inside.
///
/// # Errors
/// `value_too_deep`, `value_too_large`, `bad_arguments`.
pub(super) fn check(input: &Value) -> Result<(), ToolFailure> {
    check_depth(input, 0)?;
    let size_bytes = input.approximate_bytes();
    if size_bytes > INPUT_BYTES_MAX {
        return Err(ToolFailure::new(ErrorCode::ValueTooLarge, "the input is too large to transform")
            .with_detail("limit", number(INPUT_BYTES_MAX))
            .with_detail("observed", number(size_bytes)));
    }
    Ok(())
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn check_depth(value: &Value, depth: usize) -> Result<(), ToolFailure> {
    if depth > DEPTH_MAX {
        return Err(ToolFailure::new(
            ErrorCode::ValueTooDeep,
            format!("the input is nested deeper than {DEPTH_MAX}"),
        )
        .with_detail("limit", DEPTH_MAX as i64)
        .with_detail("observed", depth as i64));
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_depth(item, depth + 1)),
        Value::Object(members) => members.values().try_for_each(|member| check_depth(member, depth + 1)),
        Value::Failure(failure) => Err(ToolFailure::new(
            ErrorCode::BadArguments,
            format!("the input holds a failed result: {}", failure.message),
        )),
        _ => Ok(()),
    }
}

/// The variables of a template: `input`; `rows` and `items` where it is a list; its keys where it
/// is a table.
pub(super) fn variables(input: &Value) -> JinjaValue {
    let whole = to_jinja(input);
    let mut variables = Vec::new();
    match input {
        Value::Array(_) => {
            variables.push(("rows".to_owned(), whole.clone()));
            variables.push(("items".to_owned(), whole.clone()));
        }
        Value::Object(members) => {
            let named = members.iter().filter(|(name, _)| is_identifier(name));
            variables.extend(named.map(|(name, member)| (name.clone(), to_jinja(member))));
        }
        _ => {}
    }
    variables.push(("input".to_owned(), whole));
    JinjaValue::from_pairs(variables)
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn to_jinja(value: &Value) -> JinjaValue {
    match value {
        Value::Null => JinjaValue::from(()),
        Value::Bool(value) => JinjaValue::from(*value),
        Value::Integer(value) => JinjaValue::from(*value),
        Value::Float(value) => JinjaValue::from(*value),
        Value::String(text) => JinjaValue::from(text.as_str()),
        Value::Bytes(_) | Value::Failure(_) => JinjaValue::from(text_of(value)),
        Value::Array(items) => items.iter().map(to_jinja).collect(),
        Value::Object(members) => {
            JinjaValue::from_pairs(members.iter().map(|(name, member)| (name.clone(), to_jinja(member))))
        }
    }
}

/// A value as plain text: null is nothing, bytes are their size, lists and tables compact JSON.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::String(text) => text.clone(),
        Value::Bytes(bytes) => format!("[{} bytes]", bytes.len()),
        Value::Failure(failure) => failure.message.clone(),
        Value::Array(_) | Value::Object(_) => value.to_json().to_string(),
    }
}
