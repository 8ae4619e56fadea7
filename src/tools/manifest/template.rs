//! Texts and documents with placeholders for arguments: `{name}`.

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value as Json;

use luaplan_base::{ErrorCode, ToolFailure, Value};

/// The arguments of a call by name, with the defaults of absent ones. Null counts as absent.
pub(crate) type Arguments = IndexMap<String, Value>;

/// A text with places for arguments. `{{` and `}}` stand for the braces themselves.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Template {
    parts: Vec<TextPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TextPart {
    Text(String),
    Argument(String),
}

impl TryFrom<String> for Template {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl Template {
    /// Reads the text.
    ///
    /// # Errors
    /// In words, where braces do not match or hold no name.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else {
                let inside = from.strip_prefix('{').and_then(|from| from.split_once('}'));
                let Some((name, after)) = inside.filter(|(name, _)| is_name(name)) else {
                    return Err(format!(
                        "`{text}` has a brace that is no place for an argument; write `{{name}}`, or `{{{{` and `}}}}` for braces"
                    ));
                };
                if !literal.is_empty() {
                    parts.push(TextPart::Text(std::mem::take(&mut literal)));
                }
                parts.push(TextPart::Argument(name.to_owned()));
                rest = after;
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() || parts.is_empty() {
            parts.push(TextPart::Text(literal));
        }
        Ok(Self { parts })
    }

    /// The arguments it names, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            TextPart::Argument(name) => Some(name.as_str()),
            TextPart::Text(_) => None,
        })
    }

    /// The argument that is all of it.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [TextPart::Argument(name)] => Some(name),
            _ => None,
        }
    }

    /// The text, where it has no place for an argument.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [TextPart::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Whether an argument decides its first character.
    pub(crate) fn begins_with_argument(&self) -> bool {
        matches!(self.parts.first(), Some(TextPart::Argument(_)))
    }

    /// The text with its arguments; `None` where one of them is not given.
    ///
    /// # Errors
    /// `bad_arguments` for an argument that is not text, a number, true or false.
    pub(crate) fn fill(
        &self,
        arguments: &Arguments,
        encode: impl Fn(&str) -> String,
    ) -> Result<Option<String>, ToolFailure> {
        let mut filled = String::new();
        for part in &self.parts {
            match part {
                TextPart::Text(text) => filled.push_str(text),
                TextPart::Argument(name) => match arguments.get(name) {
                    None => return Ok(None),
                    Some(value) => filled.push_str(&encode(&as_text(name, value)?)),
                },
            }
        }
        Ok(Some(filled))
    }

    /// As [`Template::fill`], as it is. A list that is all of it gives a text for each item.
    ///
    /// # Errors
    /// As [`Template::fill`].
    pub(crate) fn fill_each(&self, arguments: &Arguments) -> Result<Vec<String>, ToolFailure> {
        if let Some(name) = self.only()
            && let Some(Value::Array(items)) = arguments.get(name)
        {
            return items.iter().map(|item| as_text(name, item)).collect();
        }
        Ok(self.fill(arguments, str::to_owned)?.into_iter().collect())
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// An argument as text.
///
/// # Errors
/// `bad_arguments` for what is not text, a number, true or false.
pub(crate) fn as_text(name: &str, value: &Value) -> Result<String, ToolFailure> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        other => Err(bad_arguments(format!(
            "`{name}` has to be text, a number, true or false here, not {}",
            other.kind()
        ))),
    }
}

/// The failure of a call whose arguments cannot be used; nothing was done.
pub(crate) fn bad_arguments(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ErrorCode::BadArguments, message)
}

/// A JSON document with placeholders for arguments. A text that is only a placeholder becomes the argument
/// itself, whatever its type; a member or item whose argument is absent is omitted.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
pub(crate) enum DocumentTemplate {
    Plain(Json),
    Text(Template),
    List(Vec<DocumentTemplate>),
    Members(IndexMap<String, DocumentTemplate>),
}

impl TryFrom<Json> for DocumentTemplate {
    type Error = String;

    fn try_from(json: Json) -> Result<Self, String> {
        Ok(match json {
            Json::String(text) => Self::Text(Template::parse(&text)?),
            Json::Array(items) => {
                Self::List(items.into_iter().map(Self::try_from).collect::<Result<_, _>>()?)
            }
            Json::Object(members) => Self::Members(
                members
                    .into_iter()
                    .map(|(name, value)| Ok((name, Self::try_from(value)?)))
                    .collect::<Result<_, String>>()?,
            ),
            plain => Self::Plain(plain),
        })
    }
}

impl DocumentTemplate {
    /// Every text in it.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Plain(_) => Vec::new(),
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Members(members) => members.values().flat_map(Self::templates).collect(),
        }
    }

    /// The document with its arguments; `None` where all of it is an argument that is not given.
    ///
    /// # Errors
    /// `bad_arguments` for bytes, which JSON does not have, and as [`Template::fill`].
    pub(crate) fn fill(&self, arguments: &Arguments) -> Result<Option<Json>, ToolFailure> {
        Ok(match self {
            Self::Plain(plain) => Some(plain.clone()),
            Self::Text(text) => match text.only() {
                Some(name) => arguments.get(name).map(|value| as_json(name, value)).transpose()?,
                None => text.fill(arguments, str::to_owned)?.map(Json::String),
            },
            Self::List(items) => {
                let filled = items.iter().filter_map(|item| item.fill(arguments).transpose());
                Some(Json::Array(filled.collect::<Result<_, _>>()?))
            }
            Self::Members(members) => {
                let mut filled = serde_json::Map::new();
                for (name, value) in members {
                    if let Some(value) = value.fill(arguments)? {
                        filled.insert(name.clone(), value);
                    }
                }
                Some(Json::Object(filled))
            }
        })
    }
}

fn as_json(name: &str, value: &Value) -> Result<Json, ToolFailure> {
    fn has_no_json(value: &Value) -> bool {
        match value {
            Value::Bytes(_) | Value::Failure(_) => true,
            Value::Array(items) => items.iter().any(has_no_json),
            Value::Object(members) => members.values().any(has_no_json),
            _ => false,
        }
    }
    if has_no_json(value) {
        return Err(bad_arguments(format!(
            "`{name}` holds bytes that are not text, which JSON cannot carry"
        )));
    }
    Ok(value.to_json())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arguments(json: Json) -> Arguments {
        match Value::from_json(json).unwrap() {
            Value::Object(members) => members,
            _ => Arguments::new(),
        }
    }

    #[test]
    fn texts_are_filled_and_braces_can_be_meant() {
        let given = arguments(json!({"a": "x/y", "n": 3, "list": ["p", 2]}));
        let fill = |text: &str| Template::parse(text).unwrap().fill(&given, |text| text.replace('/', "_"));
        assert_eq!(fill("<{a}-{n}>").unwrap().as_deref(), Some("<x_y-3>"));
        assert_eq!(fill("{{{n}}}").unwrap().as_deref(), Some("{3}"));
        assert_eq!(fill("{absent}!").unwrap(), None);
        assert_eq!(fill("{list}!").unwrap_err().code, "bad_arguments");
        assert_eq!(Template::parse("{list}").unwrap().fill_each(&given).unwrap(), ["p", "2"]);
        for wrong in ["{", "}", "{}", "{a b}", "{a", "a}"] {
            assert!(Template::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_document_takes_arguments_with_their_types_and_leaves_out_what_is_absent() {
        let given = arguments(json!({"tags": ["a", 1], "name": "N", "deep": {"x": null}}));
        let document = DocumentTemplate::try_from(json!({
            "tags": "{tags}", "title": "Dear {name}", "gone": "{absent}", "also": ["{absent}", "{deep}"], "n": 1
        }));
        assert_eq!(
            document.unwrap().fill(&given).unwrap(),
            Some(json!({"tags": ["a", 1], "title": "Dear N", "also": [{"x": null}], "n": 1}))
        );
        let bytes: Arguments = [("b".to_owned(), Value::Bytes(vec![0xff].into()))].into_iter().collect();
        let refused = DocumentTemplate::try_from(json!("{b}")).unwrap().fill(&bytes).unwrap_err();
        assert_eq!(refused.code, "bad_arguments");
    }
}
