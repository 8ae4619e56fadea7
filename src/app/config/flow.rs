//! `[policy.flow]`: which sources are trusted, and what becomes of calls that untrusted data steers.

use serde::{Deserialize, Serialize};

use luaplan_base::Result;
use luaplan_bus::{Glob, SteeredCall};

use super::values::invalid;

/// `[policy.flow]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawFlow {
    /// `off`, `warn` or `enforce`.
    pub mode: String,
    /// What becomes of a steered call in mode `enforce`: `ask` or `refuse`.
    pub steered: String,
    /// Whether untrusted data steers a call that is made only because of it.
    pub control: bool,
    /// Sources to trust: `TOOL`, `TOOL:TARGET`, or `context`.
    pub trusted: Vec<String>,
    /// Sources not to trust: `TOOL` or `TOOL:TARGET`. They outweigh `trusted`.
    pub untrusted: Vec<String>,
    /// Arguments that are only carried, `TOOL.ARGUMENT`, of tools that do not say which of theirs decide.
    pub content: Vec<String>,
}

impl Default for RawFlow {
    fn default() -> Self {
        Self {
            mode: "off".into(),
            steered: "ask".into(),
            control: true,
            trusted: Vec::new(),
            untrusted: Vec::new(),
            content: Vec::new(),
        }
    }
}

/// Sources by the pattern of their tool, and of what a call of it reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePattern {
    /// The tool, or `context`.
    pub tool: Glob,
    /// A table, database or host; absent for all that the tool gives.
    pub target: Option<Glob>,
}

/// `[policy.flow]`, checked, where it is not off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowRules {
    /// What becomes of a steered call.
    pub steered: SteeredCall,
    /// Whether control counts as steering.
    pub control: bool,
    /// Sources to trust.
    pub trusted: Vec<SourcePattern>,
    /// Sources not to trust.
    pub untrusted: Vec<SourcePattern>,
    /// Arguments that are only carried.
    pub content: Vec<Glob>,
}

/// # Errors
/// `config_invalid` for a word that is none of those, and for a pattern that names nothing.
pub(super) fn flow_rules(raw: &RawFlow) -> Result<Option<FlowRules>> {
    let steered = match raw.steered.as_str() {
        "ask" => SteeredCall::Ask,
        "refuse" => SteeredCall::Refuse,
        other => return Err(invalid("policy.flow.steered", other, "`ask` or `refuse`")),
    };
    let rules = FlowRules {
        steered,
        control: raw.control,
        trusted: patterns("policy.flow.trusted", &raw.trusted)?,
        untrusted: patterns("policy.flow.untrusted", &raw.untrusted)?,
        content: raw.content.iter().map(Glob::new).collect(),
    };
    if let Some(one) = raw.content.iter().find(|one| !one.contains('.')) {
        return Err(invalid("policy.flow.content", one, "`TOOL.ARGUMENT`"));
    }
    match raw.mode.as_str() {
        "off" => Ok(None),
        "warn" => Ok(Some(FlowRules { steered: SteeredCall::Record, ..rules })),
        "enforce" => Ok(Some(rules)),
        other => Err(invalid("policy.flow.mode", other, "`off`, `warn` or `enforce`")),
    }
}

fn patterns(key: &str, texts: &[String]) -> Result<Vec<SourcePattern>> {
    let pattern = |text: &String| {
        let (tool, target) = match text.split_once(':') {
            Some((tool, target)) => (tool, Some(target)),
            None => (text.as_str(), None),
        };
        if tool.is_empty() || target.is_some_and(str::is_empty) {
            return Err(invalid(key, text, "`TOOL` or `TOOL:TARGET`"));
        }
        Ok(SourcePattern { tool: Glob::new(tool), target: target.map(Glob::new) })
    };
    texts.iter().map(pattern).collect()
}
