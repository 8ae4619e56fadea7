//! Mocks as data: which calls of which tool get which answer.
//!
//! A mock names a tool and, with `when`, arguments the call must have (others may be there too).
//! `returns` and `fails` answer every call; `sequence` answers the calls in turn and then has no
//! answer left. `delay_ms` waits before the answer. In a returned value, `{"$fails": …}` stands
//! for the error value of a part that failed, as in a batch.

use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Deserializer};
use serde_json::Value as Json;

use luaplan_base::{CallOutcome, Error, ErrorCode, Result, ToolFailure, Value, nearest};
use luaplan_catalog::Catalog;

/// The longest delay of one answer, in milliseconds.
const DELAY_MS_MAX: u64 = 60_000;

const PART_FAILED: &str = "$fails";

/// Which calls of a tool get which answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Mock {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) when: Option<Json>,
    #[serde(default, deserialize_with = "given")]
    returns: Option<Json>,
    #[serde(default)]
    fails: Option<InjectedFailure>,
    #[serde(default)]
    delay_ms: u64,
    #[serde(default)]
    pub(super) sequence: Option<Vec<MockAnswer>>,
}

/// One answer of a sequence.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MockAnswer {
    #[serde(default, deserialize_with = "given")]
    returns: Option<Json>,
    #[serde(default)]
    fails: Option<InjectedFailure>,
    #[serde(default)]
    delay_ms: u64,
}

/// A failure to inject, as the plan sees it: a code, or a table with it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Json")]
struct InjectedFailure {
    code: String,
    message: Option<String>,
    retryable: Option<bool>,
    details: IndexMap<String, Json>,
}

impl TryFrom<Json> for InjectedFailure {
    type Error = String;

    fn try_from(json: Json) -> std::result::Result<Self, String> {
        let mut details: IndexMap<String, Json> = match json {
            Json::String(code) => [("code".to_owned(), Json::String(code))].into_iter().collect(),
            Json::Object(members) => members.into_iter().collect(),
            _ => return Err("a failure is a code, or a table with `code`".to_owned()),
        };
        let mut text = |name: &str| match details.shift_remove(name) {
            None => Ok(None),
            Some(Json::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("`{name}` of a failure must be text, got {other}")),
        };
        let code = text("code")?.filter(|code| !code.is_empty());
        let code = code.ok_or_else(|| "a failure needs a `code`".to_owned())?;
        let (message, error) = (text("message")?, text("error")?);
        let retryable = match details.shift_remove("retryable") {
            None => None,
            Some(Json::Bool(retryable)) => Some(retryable),
            Some(other) => {
                return Err(format!("`retryable` of a failure must be true or false, got {other}"));
            }
        };
        Ok(Self { code, message: message.or(error), retryable, details })
    }
}

/// Distinguishes `null`, which is an answer, from an absent member.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<Json>, D::Error> {
    Json::deserialize(deserializer).map(Some)
}

impl Mock {
    /// Reads a JSON list of mocks.
    ///
    /// # Errors
    /// `bad_request`, naming the mock and what is wrong with it.
    pub(super) fn list_from_json(json: Json, catalog: &Catalog) -> Result<Vec<Self>> {
        let Json::Array(items) = json else { return Err(bad("mocks are a list".to_owned())) };
        let read = |(index, item): (usize, Json)| {
            let tool = item.get("tool").and_then(Json::as_str).map(|tool| format!(", of `{tool}`,"));
            let mock: Self = serde_json::from_value(item).map_err(|error| {
                bad(format!("mock {}{} cannot be read: {error}", index + 1, tool.unwrap_or_default()))
            })?;
            mock.check(catalog)?;
            Ok(mock)
        };
        items.into_iter().enumerate().map(read).collect()
    }

    fn check(&self, catalog: &Catalog) -> Result<()> {
        let tool = &self.tool;
        let Some(spec) = catalog.get(tool) else {
            let near = nearest(tool, catalog.names());
            let near = near.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
            return Err(bad(format!("there is no tool `{tool}` to mock{near}")));
        };
        match &self.when {
            None => {}
            Some(Json::Object(when)) => {
                let unknown = when.keys().find(|name| spec.parameter(name).is_none());
                if let Some(name) = unknown.filter(|_| !spec.takes_unknown_names()) {
                    return Err(bad(format!("the `when` of a mock: {}", spec.unknown_name_message(name))));
                }
            }
            // An empty Lua table is a list; it requires nothing.
            Some(Json::Array(items)) if items.is_empty() => {}
            Some(_) => {
                return Err(bad(format!("the `when` of the mock of `{tool}` must name arguments")));
            }
        }
        let own = self.own_answer();
        // Which calls it will answer, and with which schemas, is not known yet.
        let result = if spec.result_schema_parameter().is_some() { &Json::Null } else { &spec.result };
        match &self.sequence {
            Some(_) if own.returns.is_some() || own.fails.is_some() || own.delay_ms > 0 => Err(bad(format!(
                "the mock of `{tool}` has `sequence` beside `returns`, `fails` or `delay_ms`; give each \
                 answer of the sequence its own"
            ))),
            Some(answers) if answers.is_empty() => {
                Err(bad(format!("the sequence of the mock of `{tool}` is empty")))
            }
            Some(answers) => answers.iter().try_for_each(|answer| answer.check(tool, result)),
            None => own.check(tool, result),
        }
    }

    /// The answer of a mock without a sequence.
    pub(super) fn own_answer(&self) -> MockAnswer {
        MockAnswer { returns: self.returns.clone(), fails: self.fails.clone(), delay_ms: self.delay_ms }
    }

    /// A mock that answers every call of `tool` with `value`.
    pub(super) fn returning(tool: &str, value: Json) -> Self {
        Self {
            tool: tool.to_owned(),
            when: None,
            returns: Some(value),
            fails: None,
            delay_ms: 0,
            sequence: None,
        }
    }

    /// Whether the call's arguments have everything `when` asks for.
    pub(super) fn fits(&self, tool: &str, arguments: &Json) -> bool {
        self.tool == tool
            && match &self.when {
                None => true,
                Some(Json::Array(_)) => true,
                Some(when) => covers(arguments, when),
            }
    }
}

impl MockAnswer {
    fn check(&self, tool: &str, result: &Json) -> Result<()> {
        if self.delay_ms > DELAY_MS_MAX {
            return Err(
                bad(format!("the mock of `{tool}` waits too long")).with_limit(DELAY_MS_MAX, self.delay_ms)
            );
        }
        match (&self.returns, &self.fails) {
            (Some(_), Some(_)) => Err(bad(format!("the mock of `{tool}` has both `returns` and `fails`"))),
            (None, None) => {
                Err(bad(format!("the mock of `{tool}` has no answer: neither `returns` nor `fails`")))
            }
            (Some(value), None) => {
                read_returned(value.clone())?;
                check_kind(tool, value, result)
            }
            (None, Some(_)) => Ok(()),
        }
    }

    pub(super) fn outcome(&self) -> Result<(Duration, CallOutcome)> {
        let outcome = match &self.fails {
            Some(failure) => Err(failure.to_failure()?),
            None => Ok(read_returned(self.returns.clone().unwrap_or(Json::Null))?),
        };
        Ok((Duration::from_millis(self.delay_ms), outcome))
    }
}

impl InjectedFailure {
    fn to_failure(&self) -> Result<ToolFailure> {
        let mut details = IndexMap::new();
        for (name, value) in &self.details {
            details.insert(name.clone(), Value::from_json(value.clone())?);
        }
        Ok(ToolFailure {
            code: self.code.clone(),
            message: self.message.clone().unwrap_or_else(|| format!("injected failure `{}`", self.code)),
            retryable: self.retryable.unwrap_or_else(|| is_passing(&self.code)),
            details,
        })
    }
}

/// Whether failures of this code are retryable in the built-in tools.
fn is_passing(code: &str) -> bool {
    use ErrorCode as C;
    code.parse().is_ok_and(|code| {
        matches!(
            code,
            C::RateLimited
                | C::ToolTimeout
                | C::FetchFailed
                | C::DatabaseUnreachable
                | C::SmtpFailed
                | C::LlmRateLimited
                | C::LlmTimeout
                | C::LlmUnavailable
                | C::LlmStreamCut
        )
    })
}

/// Reads a returned value; `{"$fails": …}` inside it becomes an error value.
fn read_returned(json: Json) -> Result<Value> {
    Ok(match json {
        Json::Array(items) => Value::Array(items.into_iter().map(read_returned).collect::<Result<_>>()?),
        Json::Object(members) => {
            if let (1, Some(failure)) = (members.len(), members.get(PART_FAILED)) {
                let failure: InjectedFailure = serde_json::from_value(failure.clone())
                    .map_err(|error| bad(format!("`{PART_FAILED}` cannot be read: {error}")))?;
                return Ok(Value::Failure(Box::new(failure.to_failure()?)));
            }
            if members.len() == 1 {
                return match Value::from_json(Json::Object(members.clone()))? {
                    bytes @ Value::Bytes(_) => Ok(bytes),
                    _ => read_members(members),
                };
            }
            return read_members(members);
        }
        other => Value::from_json(other)?,
    })
}

fn read_members(members: serde_json::Map<String, Json>) -> Result<Value> {
    let read = members.into_iter().map(|(name, value)| Ok((name, read_returned(value)?)));
    Ok(Value::Object(read.collect::<Result<_>>()?))
}

/// Refuses a value of a kind the tool never returns: a test that passes with it proves nothing.
fn check_kind(tool: &str, value: &Json, result: &Json) -> Result<()> {
    let kinds: Vec<&str> = match result.get("type") {
        Some(Json::String(kind)) => vec![kind],
        Some(Json::Array(kinds)) => kinds.iter().filter_map(Json::as_str).collect(),
        _ => return Ok(()),
    };
    let kind = match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(members) if members.len() == 1 && members.contains_key("$bytes") => "string",
        Json::Object(_) => "object",
    };
    let is_empty_table = matches!(value, Json::Array(items) if items.is_empty());
    let fits = kinds.contains(&kind)
        || kind == "integer" && kinds.contains(&"number")
        || is_empty_table && kinds.contains(&"object");
    if fits {
        return Ok(());
    }
    let tools_own = kinds.join(" or ");
    Err(bad(format!("the mock of `{tool}` returns a value of type {kind}; the tool gives {tools_own}")))
}

/// Whether `actual` has everything `wanted` has.
fn covers(actual: &Json, wanted: &Json) -> bool {
    match (actual, wanted) {
        (Json::Object(actual), Json::Object(wanted)) => {
            wanted.iter().all(|(name, wanted)| covers(actual.get(name).unwrap_or(&Json::Null), wanted))
        }
        (Json::Array(actual), Json::Array(wanted)) => {
            actual.len() == wanted.len()
                && actual.iter().zip(wanted).all(|(actual, wanted)| covers(actual, wanted))
        }
        // An empty table of Lua has no kind.
        (Json::Object(actual), Json::Array(wanted)) => actual.is_empty() && wanted.is_empty(),
        (Json::Number(actual), Json::Number(wanted)) => {
            actual == wanted || actual.as_f64() == wanted.as_f64()
        }
        (actual, wanted) => actual == wanted,
    }
}

fn bad(message: String) -> Error {
    Error::new(ErrorCode::BadRequest, message).with_help(
        "a mock is {tool, when?, returns | fails, delay_ms?} or {tool, when?, sequence = {answers}}",
    )
}
