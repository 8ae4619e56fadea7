//! Turns the arguments a plan wrote into named arguments, or refuses them before any call.

use indexmap::IndexMap;
use serde_json::Value as Json;

use luaplan_base::{CallArguments, ErrorCode, ToolFailure, Value, nearest};

use super::schema::{accepts_in, conform, for_validation};
use super::{ToolSpec, fault};

impl ToolSpec {
    /// The arguments by name, checked against the parameters; always an object.
    ///
    /// A single table is read as names and values where [`ToolSpec::takes_as_named`] says so;
    /// otherwise arguments fill the parameters in their order. For an optional parameter, null is the
    /// same as an absent argument. Defaults are not filled in.
    ///
    /// # Errors
    /// `bad_arguments`, naming the parameter, what came and what is expected; `tool_error_used`
    /// where an argument is, or holds, the result of a failed call.
    pub fn bind(&self, arguments: &CallArguments) -> Result<Value, ToolFailure> {
        for (index, value) in arguments.0.iter().enumerate() {
            if let Some((path, failure)) = find_failure(value) {
                return Err(self.failure_used(index, &path, failure));
            }
        }
        self.check_named(self.named(arguments)?)
    }

    /// The arguments by name as [`ToolSpec::bind`] reads them, valid or not, to show a reader what the plan asks
    /// for. `None` where some have no name.
    #[must_use]
    pub fn by_name(&self, arguments: &CallArguments) -> Option<Value> {
        let named = self.named(arguments).ok()?;
        Some(Value::Object(self.conformed(named)))
    }

    /// As [`ToolSpec::bind`], for arguments by name: an object.
    ///
    /// # Errors
    /// As [`ToolSpec::bind`]; `bad_arguments` for anything but an object.
    pub fn bind_named(&self, arguments: Value) -> Result<Value, ToolFailure> {
        match arguments {
            Value::Object(named) => self.check_named(named),
            Value::Array(items) if items.is_empty() => self.check_named(IndexMap::new()),
            other => {
                Err(refuse(None, format!("`{}` takes arguments by name; {} came", self.name, other.kind())))
            }
        }
    }

    /// Whether a single table with the names `keys` means named arguments: every name is a parameter, or
    /// they include all required ones, or the first parameter takes no such table.
    #[must_use]
    pub fn takes_as_named<'a>(&self, keys: impl IntoIterator<Item = &'a str>) -> bool {
        let keys: Vec<&str> = keys.into_iter().collect();
        let first = self.parameters().next().map(|(_, schema)| schema);
        if keys.is_empty() {
            return first
                .is_none_or(|schema| !self.accepts(schema, "object") && !self.accepts(schema, "array"));
        }
        let mut required = self.parameters().filter(|(name, _)| self.is_required(name)).peekable();
        let all_required = required.peek().is_some() && required.all(|(name, _)| keys.contains(&name));
        all_required
            || keys.iter().all(|key| self.parameter(key).is_some())
            || first.is_none_or(|schema| !self.accepts(schema, "object"))
    }

    /// Whether the parameter `name` may take a value of `kind`, one of JSON Schema's seven type
    /// names. Errs on the side of yes.
    #[must_use]
    pub fn parameter_accepts(&self, name: &str, kind: &str) -> bool {
        self.parameter(name).is_none_or(|schema| self.accepts(schema, kind))
    }

    /// What is wrong with `value` as the parameter `name`, if anything is.
    #[must_use]
    pub fn fault_of(&self, name: &str, value: &Value) -> Option<String> {
        let schema = self.parameter(name)?;
        let validator = self.compiled.get(&self.params).ok()?;
        let instance = Json::Object(serde_json::Map::from_iter([(
            name.to_owned(),
            for_validation(&conform(value.clone(), schema, &self.params)),
        )]));
        validator
            .iter_errors(&instance)
            .find(|error| !error.instance_path().as_str().is_empty())
            .map(|error| fault::describe(self, &error).message)
    }

    /// What to say about an argument name the tool does not have.
    #[must_use]
    pub fn unknown_name_message(&self, name: &str) -> String {
        let names: Vec<&str> = self.parameters().map(|(name, _)| name).collect();
        match nearest(name, names.iter().copied()) {
            Some(near) => format!("`{}` has no parameter `{name}`; did you mean `{near}`?", self.name),
            None if names.is_empty() => format!("`{}` has no parameters, so no `{name}`", self.name),
            None => format!("`{}` has no parameter `{name}`; it has {}", self.name, listed(&names)),
        }
    }

    /// What to say about a parameter that is not given.
    #[must_use]
    pub fn missing_message(&self, name: &str) -> String {
        let expected = self.parameter_type(name).unwrap_or_default();
        format!("`{}` needs `{name}` ({expected}), which is not given", self.name)
    }

    /// What is wrong with the set of given parameters, where the manifest offers a choice of them: `oneOf` or `anyOf`
    /// of lists of `required` names. `may_be` says which may be given, `is` which surely are.
    #[must_use]
    pub fn choice_fault(&self, may_be: impl Fn(&str) -> bool, is: impl Fn(&str) -> bool) -> Option<String> {
        ["oneOf", "anyOf"].into_iter().find_map(|key| {
            let choices = self.choices(key)?;
            let fits = |given: &dyn Fn(&str) -> bool| {
                choices.iter().filter(|names| names.iter().all(|name| given(name))).count()
            };
            let named: Vec<String> = choices.iter().map(|names| listed(names)).collect();
            match (fits(&may_be), fits(&is)) {
                (0, _) => Some(format!("`{}` needs {}, and none is given", self.name, named.join(" or "))),
                (_, 2..) if key == "oneOf" => {
                    Some(format!("`{}` takes {}, and only one of them", self.name, named.join(" or ")))
                }
                _ => None,
            }
        })
    }

    /// The lists of parameters among which the manifest offers a choice, where it says nothing else of them.
    fn choices(&self, key: &str) -> Option<Vec<Vec<&str>>> {
        self.params.get(key)?.as_array()?.iter().map(required_alone).collect()
    }

    /// What to say about `count` positional arguments where the tool has fewer parameters.
    #[must_use]
    pub fn too_many_message(&self, count: usize) -> String {
        let names: Vec<&str> = self.parameters().map(|(name, _)| name).collect();
        match names.len() {
            0 => format!("`{}` takes no arguments; {count} came", self.name),
            most => {
                format!("`{}` takes at most {most} arguments ({}); {count} came", self.name, listed(&names))
            }
        }
    }

    fn accepts(&self, schema: &Json, kind: &str) -> bool {
        accepts_in(&self.params, schema, kind)
    }

    fn named(&self, arguments: &CallArguments) -> Result<IndexMap<String, Value>, ToolFailure> {
        let given = match arguments.0.iter().rposition(|value| *value != Value::Null) {
            Some(last) => &arguments.0[..=last],
            None => &[],
        };
        match given {
            [Value::Object(members)] if self.takes_as_named(members.keys().map(String::as_str)) => {
                Ok(members.clone())
            }
            [Value::Array(items)] if items.is_empty() && self.takes_as_named([]) => Ok(IndexMap::new()),
            positional => self.by_position(positional),
        }
    }

    fn by_position(&self, given: &[Value]) -> Result<IndexMap<String, Value>, ToolFailure> {
        let names: Vec<&str> = self.parameters().map(|(name, _)| name).collect();
        if given.len() > names.len() {
            return Err(refuse(None, self.too_many_message(given.len())));
        }
        Ok(names.into_iter().map(str::to_owned).zip(given.iter().cloned()).collect())
    }

    fn check_named(&self, named: IndexMap<String, Value>) -> Result<Value, ToolFailure> {
        if !self.takes_unknown_names()
            && let Some(name) = named.keys().find(|name| self.parameter(name).is_none())
        {
            return Err(refuse(Some(name), self.unknown_name_message(name)));
        }
        let arguments = self.conformed(named);
        for (name, _) in self.parameters() {
            if self.is_required(name) && !arguments.contains_key(name) {
                return Err(refuse(Some(name), self.missing_message(name)));
            }
        }
        let is_given = |name: &str| arguments.contains_key(name);
        if let Some(message) = self.choice_fault(is_given, is_given) {
            return Err(refuse(None, message));
        }
        let arguments = Value::Object(arguments);
        let validator = self.compiled.get(&self.params).map_err(|why| {
            refuse(None, format!("the parameters of `{}` cannot be checked: {why}", self.name))
        })?;
        let instance = for_validation(&arguments);
        super::effort::bounded(&self.params, &instance).map_err(|why| {
            refuse(None, format!("the arguments of `{}` cannot be checked: {why}", self.name))
        })?;
        let first = validator.iter_errors(&instance).next();
        match first.map(|error| fault::describe(self, &error)) {
            None => Ok(arguments),
            Some(fault) => Err(refuse(fault.parameter.as_deref(), fault.message)),
        }
    }

    /// The arguments in the forms that the parameters expect.
    fn conformed(&self, named: IndexMap<String, Value>) -> IndexMap<String, Value> {
        let kept = named.into_iter().filter_map(|(name, value)| {
            let Some(schema) = self.parameter(&name) else { return Some((name, value)) };
            let not_given =
                value == Value::Null && !(self.is_required(&name) && self.accepts(schema, "null"));
            (!not_given).then(|| (name, conform(value, schema, &self.params)))
        });
        kept.collect()
    }

    fn failure_used(&self, index: usize, path: &str, failure: &ToolFailure) -> ToolFailure {
        let message = format!(
            "argument {}{path} of `{}` is the result of a failed call ({}: {}); look at its `.error` first",
            index + 1,
            self.name,
            failure.code,
            failure.message
        );
        ToolFailure::new(ErrorCode::ToolErrorUsed, message).with_detail("failed_code", failure.code.as_str())
    }
}

fn refuse(parameter: Option<&str>, message: String) -> ToolFailure {
    let failure = ToolFailure::new(ErrorCode::BadArguments, message);
    match parameter {
        Some(name) => failure.with_detail("parameter", name),
        None => failure,
    }
}

/// The names a schema requires, where that is all it says.
fn required_alone(schema: &Json) -> Option<Vec<&str>> {
    let members = schema.as_object().filter(|members| members.len() == 1)?;
    members.get("required")?.as_array()?.iter().map(Json::as_str).collect()
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The first failure inside a value, with the path to it as Lua would write it.
fn find_failure(value: &Value) -> Option<(String, &ToolFailure)> {
    match value {
        Value::Failure(failure) => Some((String::new(), failure)),
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            find_failure(item).map(|(path, failure)| (format!("[{}]{path}", index + 1), failure))
        }),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            find_failure(member).map(|(path, failure)| (format!("[{name:?}]{path}"), failure))
        }),
        _ => None,
    }
}
