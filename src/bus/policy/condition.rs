//! A rule's condition on one argument.

use std::borrow::Cow;

use luaplan_base::Value;
use luaplan_catalog::{TargetKind, ToolSpec};

use super::fit::Fit;
use super::glob::Glob;

/// A condition on the argument at a path.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentCondition {
    /// The path: the parameter first, then names, `*` for every item or member.
    pub path: Vec<String>,
    /// The test of the values found there.
    pub test: ArgumentTest,
}

/// A test of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentTest {
    /// The value itself.
    Is(ValueTest),
    /// At least one of the items of a list; a single value counts as a list of one.
    Any(ValueTest),
    /// Every item; true for an empty list or an absent value.
    All(ValueTest),
    /// No item.
    None(ValueTest),
    /// Whether it is given.
    Present(bool),
}

/// A test of one value.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueTest {
    /// A text that matches one of these.
    Like(Vec<Glob>),
    /// A number that meets all of these.
    Number(Vec<(Comparison, f64)>),
    /// Exactly this text, number or truth value.
    Equals(Value),
}

/// How numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Greater.
    Above,
    /// Greater or equal.
    AtLeast,
    /// Less.
    Below,
    /// Less or equal.
    AtMost,
}

impl Comparison {
    fn holds(self, value: f64, bound: f64) -> bool {
        match self {
            Self::Above => value > bound,
            Self::AtLeast => value >= bound,
            Self::Below => value < bound,
            Self::AtMost => value <= bound,
        }
    }
}

impl ArgumentCondition {
    /// Whether the arguments of a call, bound by name, meet the condition. An absent parameter
    /// has its schema's default, where there is one.
    #[must_use]
    pub fn fit(&self, spec: &ToolSpec, arguments: &Value) -> Fit {
        let found = self.find(spec, arguments);
        match &self.test {
            ArgumentTest::Present(_) if found.iter().any(Option::is_none) => Fit::Maybe,
            ArgumentTest::Present(wanted) => (found.is_empty() != *wanted).into(),
            // A path without `*` finds at most one value.
            ArgumentTest::Is(want) => {
                Fit::any(found.iter().map(|value| self.judge(spec, want, value.as_deref())))
            }
            ArgumentTest::Any(want) => self.any(spec, &found, want),
            ArgumentTest::All(want) => {
                let items = self.items(spec, &found);
                Fit::all(items.iter().map(|item| self.judge(spec, want, item.as_ref())))
            }
            ArgumentTest::None(want) => !self.any(spec, &found, want),
        }
    }

    fn any(&self, spec: &ToolSpec, found: &[Found<'_>], want: &ValueTest) -> Fit {
        let items = self.items(spec, found);
        Fit::any(items.iter().map(|item| self.judge(spec, want, item.as_ref())))
    }

    fn judge(&self, spec: &ToolSpec, want: &ValueTest, value: Option<&Value>) -> Fit {
        match (value, want, self.target(spec)) {
            (None, ..) => Fit::Maybe,
            (Some(Value::String(text)), ValueTest::Like(globs), Some(TargetKind::Url)) => {
                Fit::any(globs.iter().map(|glob| address_fit(glob, text)))
            }
            (Some(value @ Value::String(text)), want, Some(TargetKind::Table)) => {
                table_fit(want, value, text)
            }
            (Some(value), ..) => want.fit(value),
        }
    }

    fn target(&self, spec: &ToolSpec) -> Option<TargetKind> {
        self.path.first().and_then(|name| spec.targets.get(name)).copied()
    }

    fn find<'v>(&self, spec: &ToolSpec, arguments: &'v Value) -> Vec<Found<'v>> {
        let Some((parameter, rest)) = self.path.split_first() else { return Vec::new() };
        let given = arguments.get(parameter).map(Cow::Borrowed).or_else(|| {
            let default = spec.parameter(parameter)?.get("default")?;
            Value::from_json(default.clone()).ok().map(Cow::Owned)
        });
        let mut found: Vec<Found<'v>> = given.into_iter().map(Some).collect();
        for name in rest {
            found = found.into_iter().flat_map(|value| below(value, name)).collect();
        }
        found.retain(|value| value.as_deref() != Some(&Value::Null));
        found
    }

    /// The items of the values found. A text with several mail addresses is a list of them; one in which a mail
    /// server may read another address, because it is not plain, cannot be judged.
    fn items(&self, spec: &ToolSpec, found: &[Found<'_>]) -> Vec<Option<Value>> {
        let has_addresses = self.target(spec) == Some(TargetKind::Recipient);
        let mut items = Vec::new();
        for value in found {
            let of_value: &[Value] = match value.as_deref() {
                None => {
                    items.push(None);
                    continue;
                }
                Some(Value::Array(items)) => items,
                Some(single) => std::slice::from_ref(single),
            };
            for item in of_value {
                match item {
                    Value::String(text) if has_addresses => {
                        let judged = |one: &str| is_plain_address(one).then(|| Value::from(one));
                        items.extend(addresses(text).map(judged));
                    }
                    other => items.push(Some(other.clone())),
                }
            }
        }
        items
    }
}

/// The values at a path; `None` where the path leads into a value of an unexpected kind, as the tool's reading
/// of it is unknown.
type Found<'v> = Option<Cow<'v, Value>>;

fn below<'v>(value: Found<'v>, name: &str) -> Vec<Found<'v>> {
    match value {
        None => vec![None],
        Some(Cow::Borrowed(Value::Null)) => Vec::new(),
        Some(Cow::Borrowed(Value::Array(items))) if name == "*" => {
            items.iter().map(|item| Some(Cow::Borrowed(item))).collect()
        }
        Some(Cow::Borrowed(Value::Object(members))) if name == "*" => {
            members.values().map(|member| Some(Cow::Borrowed(member))).collect()
        }
        // A single value counts as a list of one.
        Some(single @ Cow::Borrowed(_)) if name == "*" => vec![Some(single)],
        Some(Cow::Borrowed(Value::Object(members))) => match members.get(name) {
            Some(member) => vec![Some(Cow::Borrowed(member))],
            None if members.keys().any(|key| key.to_lowercase() == name.to_lowercase()) => vec![None],
            None => Vec::new(),
        },
        Some(Cow::Borrowed(_)) => vec![None],
        Some(Cow::Owned(value)) => {
            let parts = below(Some(Cow::Borrowed(&value)), name);
            parts.into_iter().map(|part| part.map(|part| Cow::Owned(part.into_owned()))).collect()
        }
    }
}

/// The bare addresses of a header text such as `Ann <ann@example.com>, bob@example.com`. A comma inside a quoted name
/// gives a piece that matches no address pattern, so such a text is never allowed by mistake.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';']).map(|piece| {
        let inner = piece.rsplit_once('<').and_then(|(_, rest)| rest.split_once('>'));
        inner.map_or(piece, |(address, _)| address).trim()
    })
}

/// Whether every mail program reads the same mailbox from it: no blanks, no percent-encoding, no characters that
/// are converted to ASCII, no dot at the end, which names the same domain.
fn is_plain_address(text: &str) -> bool {
    if text.ends_with('.') {
        return false;
    }
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&'*+-/=?^_`{|}~.@".contains(&byte))
}

/// Whether a web address matches a pattern, host and path apart, so that a `*` for a host matches no path. An
/// address that a client normalizes may match by its normalized form or by its text.
fn address_fit(glob: &Glob, text: &str) -> Fit {
    let Ok(read) = url::Url::parse(text) else { return Fit::Maybe };
    let fits = |address: &str| match (glob.as_str().split_once("://"), address.split_once("://")) {
        (Some((scheme, wanted)), Some((given_scheme, given))) => {
            let (host, path) = wanted.split_once('/').unwrap_or((wanted, ""));
            let (given_host, given_path) = given.split_once('/').unwrap_or((given, ""));
            Fit::all(
                [(scheme, given_scheme), (host, given_host), (path, given_path)]
                    .map(|(pattern, part)| Glob::new(pattern).fit(part)),
            )
        }
        _ => glob.fit(address),
    };
    let host = read.host_str().unwrap_or_default().trim_end_matches('.');
    let port = read.port().map(|port| format!(":{port}")).unwrap_or_default();
    let query = read.query().map(|query| format!("?{query}")).unwrap_or_default();
    let without_user = format!("{}://{host}{port}{}{query}", read.scheme(), read.path());
    let (as_read, as_written) = (fits(&without_user), fits(text));
    if as_read == as_written { as_read } else { Fit::Maybe }
}

/// Whether the name of a table matches. A name with a schema and one without may be the same table, by the
/// database's search path: `main.orders` may match `orders`. Only where the pattern names a table at all.
fn table_fit(want: &ValueTest, value: &Value, text: &str) -> Fit {
    let direct = want.fit(value);
    let patterns: Vec<&str> = match want {
        ValueTest::Like(globs) => globs.iter().map(Glob::as_str).collect(),
        ValueTest::Equals(Value::String(wanted)) => vec![wanted],
        _ => Vec::new(),
    };
    let may_be_same = |pattern: &&str| {
        let parts = pattern.rsplit('.').zip(text.rsplit('.'));
        let names_table =
            pattern.rsplit('.').next().is_some_and(|table| table.chars().any(|sign| sign != '*'));
        names_table && Fit::all(parts.map(|(pattern, part)| Glob::new(pattern).fit(part))) != Fit::No
    };
    match direct {
        Fit::No if patterns.iter().any(may_be_same) => Fit::Maybe,
        direct => direct,
    }
}

impl ValueTest {
    fn fit(&self, value: &Value) -> Fit {
        match (self, value) {
            (_, Value::Null) => Fit::No,
            (Self::Like(globs), Value::String(text)) => Fit::any(globs.iter().map(|glob| glob.fit(text))),
            (Self::Number(bounds), Value::Integer(_) | Value::Float(_)) => {
                let number = number(value);
                bounds.iter().all(|(comparison, bound)| comparison.holds(number, *bound)).into()
            }
            (Self::Equals(Value::String(wanted)), Value::String(text)) => match text == wanted {
                true => Fit::Yes,
                false if text.to_lowercase() == wanted.to_lowercase() => Fit::Maybe,
                false => Fit::No,
            },
            (Self::Equals(Value::Bool(wanted)), Value::Bool(value)) => (wanted == value).into(),
            (Self::Equals(wanted), Value::Integer(_) | Value::Float(_)) if is_number(wanted) => {
                #[expect(clippy::float_cmp, reason = "the very number is asked for")]
                let same = number(wanted) == number(value);
                same.into()
            }
            // A value of a kind that the rule does not expect.
            _ => Fit::Maybe,
        }
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Integer(_) | Value::Float(_))
}

#[expect(clippy::cast_precision_loss, reason = "amounts beyond 2^53 are compared as the nearest double")]
fn number(value: &Value) -> f64 {
    match value {
        Value::Integer(number) => *number as f64,
        Value::Float(number) => *number,
        _ => f64::NAN,
    }
}
