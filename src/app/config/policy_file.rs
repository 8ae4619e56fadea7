//! The policy file: read, and every fault named with its line and key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;
use toml::{Spanned, Value as Toml};

use luaplan_base::{ContentHash, Effect, Error, ErrorCode, Result, Value, nearest};
use luaplan_bus::{
    ArgumentCondition, ArgumentTest, Comparison, DEFAULT_RULE, Glob, Mode, PolicyRules, Rule, Tier,
    TierByEffect, ValueTest,
};
use luaplan_catalog::regular_file::read_text;
use luaplan_catalog::toml_lines::line_at;

use super::flow::RawFlow;
use super::values::refused_in;

/// `[policy]` of the configuration.
#[derive(Debug, Clone, Default, serde::Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawPolicy {
    /// The file with the rules, or empty for none: then every registered tool is allowed.
    pub file: String,
    /// Whether untrusted data may steer calls.
    pub flow: RawFlow,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    version: u32,
    #[serde(default)]
    approvers: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    approvers_other_than_starter: bool,
    #[serde(default)]
    defaults: RawDefaults,
    #[serde(default)]
    rule: Vec<Spanned<RawRule>>,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RawDefaults {
    read: Tier,
    write: Tier,
    send: Tier,
    spend: Tier,
}

impl Default for RawDefaults {
    fn default() -> Self {
        let TierByEffect { read, write, send, spend } = TierByEffect::ASKING;
        Self { read, write, send, spend }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    name: Spanned<String>,
    decision: Tier,
    #[serde(default)]
    reason: String,
    #[serde(default)]
    tool: Option<OneOrMore<String>>,
    #[serde(default)]
    effect: Option<OneOrMore<Effect>>,
    #[serde(default)]
    tenant: Option<OneOrMore<String>>,
    #[serde(default)]
    mode: Option<OneOrMore<Mode>>,
    #[serde(default)]
    arguments: BTreeMap<String, Spanned<Toml>>,
}

/// A single value, or a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    fn into_list(self) -> Vec<T> {
        match self {
            Self::One(one) => vec![one],
            Self::More(list) => list,
        }
    }
}

/// The version of policy files this program reads.
const VERSION: u32 = 1;

/// Reads and checks a policy file.
///
/// # Errors
/// `config_unreadable`; `config_unknown_key` or `config_invalid` with file, line and key.
pub fn read_policy(path: &Path) -> Result<PolicyRules> {
    let text = read_text(path).map_err(|error| {
        Error::new(
            ErrorCode::ConfigUnreadable,
            format!("policy.file: cannot read {}: {error}", path.display()),
        )
        .with_detail("key", "policy.file")
    })?;
    parse_policy(&text, &path.display().to_string())
}

/// Checks the text of a policy file; `origin` names it in errors.
///
/// # Errors
/// As [`read_policy`].
pub fn parse_policy(text: &str, origin: &str) -> Result<PolicyRules> {
    let raw: RawFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map(|span| line_at(text, span.start));
        let place = line.map_or_else(|| origin.to_owned(), |line| format!("{origin}, line {line}"));
        let refused = refused_in(&error, &place, text);
        match line {
            Some(line) => refused.with_detail("line", line),
            None => refused,
        }
    })?;
    let file = File { text, origin };
    if raw.version != VERSION {
        let message = format!("version is {}, and this program reads version {VERSION}", raw.version);
        return Err(file.fault(0, "version", &message));
    }
    let approvers = match raw.approvers {
        Some(nobody) if nobody.get_ref().is_empty() => {
            let message = "the list is empty, so nobody could decide about a call; \
                name somebody, or leave the key out where everybody who can reach the service may";
            return Err(file.fault(nobody.span().start, "approvers", message));
        }
        some => some.map(Spanned::into_inner).unwrap_or_default(),
    };
    let mut names = BTreeSet::new();
    let mut rules = Vec::new();
    let mut condition_lines = BTreeMap::new();
    for rule in raw.rule {
        let at = rule.span().start;
        let rule = rule.into_inner();
        if !names.insert(rule.name.get_ref().clone()) {
            let message = format!("a rule named `{}` is already there", rule.name.get_ref());
            return Err(file.fault(rule.name.span().start, "name", &message));
        }
        for (path, test) in &rule.arguments {
            let key = (rule.name.get_ref().clone(), path.clone());
            condition_lines.insert(key, line_at(text, test.span().start));
        }
        rules.push(file.rule(at, rule)?);
    }
    let RawDefaults { read, write, send, spend } = raw.defaults;
    Ok(PolicyRules {
        rules,
        defaults: TierByEffect { read, write, send, spend },
        approvers: approvers.into_iter().map(Glob::new).collect(),
        others_than_starter: raw.approvers_other_than_starter,
        origin: origin.to_owned(),
        condition_lines,
    })
}

struct File<'a> {
    text: &'a str,
    origin: &'a str,
}

impl File<'_> {
    fn fault(&self, at: usize, key: &str, message: &str) -> Error {
        let line = line_at(self.text, at);
        Error::new(ErrorCode::ConfigInvalid, format!("{}, line {line}: {key}: {message}", self.origin))
            .with_help("docs/approvals.md describes the policy file; `luaplan policy check` reads it")
            .with_detail("line", line)
            .with_detail("key", key)
    }

    fn rule(&self, at: usize, raw: RawRule) -> Result<Rule> {
        let name_at = raw.name.span().start;
        let name = raw.name.into_inner();
        if name.trim().is_empty() || name == DEFAULT_RULE {
            let message = format!("`{name}` cannot be the name of a rule");
            return Err(self.fault(name_at, "name", &message));
        }
        if raw.reason.trim().is_empty() && raw.decision != Tier::Auto {
            let message = format!("the rule `{name}` needs a reason: it is what people are shown");
            let error = self.fault(name_at, "reason", &message);
            return Err(error.with_help("write `reason = \"…\"` into the rule"));
        }
        let conditions = raw
            .arguments
            .iter()
            .map(|(path, test)| self.condition(&name, path, test))
            .collect::<Result<Vec<_>>>()?;
        let globs = |list: Option<OneOrMore<String>>, key: &str| {
            let list = list.map(OneOrMore::into_list);
            // An empty list would match everything, and looks as if it matched nothing.
            if list.as_ref().is_some_and(Vec::is_empty) {
                return Err(self.fault(at, key, &format!("the list in the rule `{name}` is empty")));
            }
            Ok(list.unwrap_or_default().into_iter().map(Glob::new).collect::<Vec<_>>())
        };
        let (tools, tenants) = (globs(raw.tool, "tool")?, globs(raw.tenant, "tenant")?);
        let effects = raw.effect.map(OneOrMore::into_list);
        if effects.as_ref().is_some_and(Vec::is_empty) {
            return Err(self.fault(at, "effect", &format!("the list in the rule `{name}` is empty")));
        }
        let effects = effects.unwrap_or_default();
        let modes = raw.mode.map(OneOrMore::into_list).unwrap_or_default();
        let mut rule = Rule {
            name,
            tier: raw.decision,
            reason: raw.reason,
            tools,
            effects,
            tenants,
            modes,
            conditions,
            hash: ContentHash::of(b""),
        };
        rule.hash = ContentHash::of(format!("{rule:?}").as_bytes());
        Ok(rule)
    }

    fn condition(&self, rule: &str, path: &str, test: &Spanned<Toml>) -> Result<ArgumentCondition> {
        let fault = |key: &str, message: &str| {
            let key = if key.is_empty() { path.to_owned() } else { format!("{path}.{key}") };
            self.fault(test.span().start, &format!("rule `{rule}`, arguments.{key}"), message)
        };
        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) || names[0] == "*" {
            return Err(fault(
                "",
                "a path is names with dots between them, the parameter first; `*` is every item",
            ));
        }
        let has_many = names.iter().any(|name| name == "*");
        let test = match test.get_ref() {
            Toml::Table(table) => table_test(table).map_err(|(key, message)| fault(&key, &message))?,
            single => ArgumentTest::Is(want(single).map_err(|message| fault("", &message))?),
        };
        if has_many && matches!(test, ArgumentTest::Is(_)) {
            return Err(fault("", "a path with `*` may find several values: say `any`, `all` or `none`"));
        }
        Ok(ArgumentCondition { path: names, test })
    }
}

const TEST_KEYS: [&str; 10] =
    ["like", "any", "all", "none", "present", "equals", "above", "at_least", "below", "at_most"];

type Fault = (String, String);

fn table_test(table: &toml::Table) -> Result<ArgumentTest, Fault> {
    let quantified = ["any", "all", "none", "present"].into_iter().find(|key| table.contains_key(*key));
    let Some(key) = quantified else {
        return want_of_table(table).map(ArgumentTest::Is);
    };
    if table.len() > 1 {
        return Err((key.to_owned(), format!("`{key}` stands alone; write what is asked inside it")));
    }
    let value = &table[key];
    if key == "present" {
        let present = value.as_bool().ok_or_else(|| (key.to_owned(), "expected true or false".to_owned()))?;
        return Ok(ArgumentTest::Present(present));
    }
    let wanted = match value {
        Toml::Table(inner) => want_of_table(inner).map_err(|(inner, why)| (format!("{key}.{inner}"), why))?,
        single => want(single).map_err(|message| (key.to_owned(), message))?,
    };
    Ok(match key {
        "any" => ArgumentTest::Any(wanted),
        "all" => ArgumentTest::All(wanted),
        _ => ArgumentTest::None(wanted),
    })
}

/// A pattern or several.
fn want(value: &Toml) -> Result<ValueTest, String> {
    let expected =
        || "expected a pattern, a list of patterns, or a table such as `{ above = 100 }`".to_owned();
    match value {
        Toml::String(text) => Ok(ValueTest::Like(vec![Glob::new(text)])),
        Toml::Array(items) if !items.is_empty() => {
            let globs = items.iter().map(|item| item.as_str().map(Glob::new));
            globs.collect::<Option<Vec<_>>>().map(ValueTest::Like).ok_or_else(expected)
        }
        _ => Err(expected()),
    }
}

fn want_of_table(table: &toml::Table) -> Result<ValueTest, Fault> {
    let mut bounds = Vec::new();
    for (key, value) in table {
        let comparison = match key.as_str() {
            "above" => Comparison::Above,
            "at_least" => Comparison::AtLeast,
            "below" => Comparison::Below,
            "at_most" => Comparison::AtMost,
            "like" | "equals" if table.len() > 1 => {
                return Err((key.clone(), format!("`{key}` stands alone")));
            }
            "like" => return want(value).map_err(|message| (key.clone(), message)),
            "equals" => {
                return equals(value)
                    .ok_or_else(|| (key.clone(), "expected a text, a number, true or false".to_owned()));
            }
            "any" | "all" | "none" | "present" => {
                return Err((key.clone(), "these do not stand inside one another".to_owned()));
            }
            other => {
                let near = nearest(other, TEST_KEYS).map(|near| format!("; did you mean `{near}`?"));
                let message = format!("unknown key{}", near.unwrap_or_default());
                return Err((key.clone(), format!("{message}, expected one of {}", TEST_KEYS.join(", "))));
            }
        };
        let bound = number(value).ok_or_else(|| (key.clone(), "expected a number".to_owned()))?;
        bounds.push((comparison, bound));
    }
    if bounds.is_empty() {
        return Err((String::new(), "says nothing".to_owned()));
    }
    Ok(ValueTest::Number(bounds))
}

fn equals(value: &Toml) -> Option<ValueTest> {
    let value = match value {
        Toml::String(text) => Value::from(text.as_str()),
        Toml::Boolean(value) => Value::from(*value),
        Toml::Integer(number) => Value::from(*number),
        Toml::Float(number) if number.is_finite() => Value::Float(*number),
        _ => return None,
    };
    Some(ValueTest::Equals(value))
}

#[expect(clippy::cast_precision_loss, reason = "amounts beyond 2^53 are compared as the nearest double")]
fn number(value: &Toml) -> Option<f64> {
    match value {
        Toml::Integer(number) => Some(*number as f64),
        Toml::Float(number) if number.is_finite() => Some(*number),
        _ => None,
    }
}
