//! The arguments a person puts in place of those a call waits with.

use indexmap::IndexMap;
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, Value};
use luaplan_journal::ApprovalState;

use crate::ApprovalAnswer;

/// One argument that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentChange {
    /// The parameter.
    pub name: String,
    /// What the call waits with, where it is given, in exact form.
    pub before: Option<Json>,
    /// What would be put in its place, where it is given, in exact form.
    pub after: Option<Json>,
}

impl ApprovalAnswer {
    /// The arguments this answer puts in place of those of `request`; `None` where it leaves them.
    ///
    /// # Errors
    /// `bad_request` for a merge that is no object, and for arguments that stay as they are.
    pub fn arguments(&self, request: &ApprovalState) -> Result<Option<Value>> {
        let edited = match self {
            Self::Once | Self::For(_) | Self::Deny(_) => return Ok(None),
            Self::Edit(whole) => whole.clone(),
            Self::Merge(patch @ Value::Object(_)) => merged(waiting(request)?, patch.clone()),
            Self::Merge(other) => {
                let message = format!("what is merged into the arguments is {}, not an object", other.kind());
                return Err(Error::new(ErrorCode::BadRequest, message)
                    .with_help("give an object by parameter name: `{\"to\": \"a@example.com\"}`"));
            }
            Self::Set(values) => {
                let mut arguments = waiting(request)?.as_object().cloned().unwrap_or_default();
                for (name, value) in values {
                    match value {
                        Value::Null => drop(arguments.shift_remove(name)),
                        value => drop(arguments.insert(name.clone(), value.clone())),
                    }
                }
                Value::Object(arguments)
            }
        };
        Ok(Some(edited))
    }
}

/// What an edit changes, argument by argument, those of the call first.
#[must_use]
pub fn argument_changes(request: &ApprovalState, edited: &Value) -> Vec<ArgumentChange> {
    let edited = edited.to_exact_json();
    let (before, after) = (request.arguments.as_object(), edited.as_object());
    let names = before.into_iter().flatten().map(|(name, _)| name);
    let new = after.into_iter().flatten().map(|(name, _)| name);
    let new = new.filter(|name| before.is_none_or(|before| !before.contains_key(*name)));
    names
        .chain(new)
        .map(|name| ArgumentChange {
            name: name.clone(),
            before: before.and_then(|before| before.get(name)).cloned(),
            after: after.and_then(|after| after.get(name)).cloned(),
        })
        .filter(|change| change.before != change.after)
        .collect()
}

fn waiting(request: &ApprovalState) -> Result<Value> {
    Value::from_exact_json(request.arguments.clone())
}

/// JSON Merge Patch (RFC 7396): objects are merged, null takes a member out, all else replaces.
fn merged(target: Value, patch: Value) -> Value {
    let Value::Object(changes) = patch else { return patch };
    let mut members = match target {
        Value::Object(members) => members,
        _ => IndexMap::new(),
    };
    for (name, change) in changes {
        match change {
            Value::Null => drop(members.shift_remove(&name)),
            change => {
                let old = members.get(&name).cloned().unwrap_or_default();
                members.insert(name, merged(old, change));
            }
        }
    }
    Value::Object(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 7396, appendix A.
    #[test]
    fn a_merge_gives_what_the_standard_says() {
        for (original, patch, result) in [
            (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
            (r#"{"a":"b"}"#, r#"{"a":null}"#, r#"{}"#),
            (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
            (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
            (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
            (r#"{"a":{"b":"c"}}"#, r#"{"a":{"b":"d","c":null}}"#, r#"{"a":{"b":"d"}}"#),
            (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
            (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
            (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
            (r#"{"a":"foo"}"#, "null", "null"),
            (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"e":null,"a":1}"#),
            (r#"[1,2]"#, r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
            (r#"{}"#, r#"{"a":{"bb":{"ccc":null}}}"#, r#"{"a":{"bb":{}}}"#),
        ] {
            let [original, patch, result] =
                [original, patch, result].map(|text| Value::from_json_text(text).unwrap());
            assert_eq!(merged(original.clone(), patch.clone()), result, "{original:?} {patch:?}");
        }
    }
}
