//! The tools of generated programs: pure, so that every engine gets the same answers.

use luaplan::base::{CallOutcome, ErrorCode, ToolFailure, Value};

pub(crate) const NAMES: [&str; 4] = ["weigh", "label", "shaky", "collect"];

/// What the tool answers.
pub(crate) fn answer(tool: &str, arguments: &[Value]) -> CallOutcome {
    match (tool, arguments.first()) {
        ("weigh", Some(Value::Integer(number))) => Ok(Value::Integer(number.rem_euclid(97) + 1)),
        ("weigh", _) => Ok(Value::Integer(5)),
        ("label", Some(text)) => {
            let mut bytes = b"<".to_vec();
            bytes.extend_from_slice(text.as_bytes().unwrap_or(b"?"));
            bytes.push(b'>');
            Ok(Value::from_lua_bytes(bytes))
        }
        ("label", None) => Ok(Value::Null),
        ("shaky", Some(Value::Integer(number))) if number % 2 == 0 => Ok(Value::Integer(*number)),
        ("shaky", _) => Err(ToolFailure::new(ErrorCode::FetchFailed, "it shook").retryable()),
        _ => {
            let members = [
                ("count".to_owned(), Value::Integer(i64::try_from(arguments.len()).unwrap_or(0))),
                ("first".to_owned(), arguments.first().cloned().unwrap_or(Value::Bool(false))),
                ("list".to_owned(), Value::Array(vec![Value::Float(0.5), Value::Integer(2)])),
            ];
            Ok(Value::Object(members.into_iter().collect()))
        }
    }
}

/// One call as a line.
pub(crate) fn describe(tool: &str, arguments: &[Value]) -> String {
    format!("{tool}{}", Value::Array(arguments.to_vec()).to_json())
}
