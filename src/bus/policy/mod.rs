//! The policy: a pure decision about a call, from the tool, its arguments, and the run's tenant and mode.
//!
//! Of the rules that match, the strictest decides: deny, then manual, then prompt, then auto; among
//! equals the first of the file. Calls that no rule matches follow the file's defaults by effect. Without
//! a file every registered tool is allowed, except that destructive tools of MCP servers need approval.

mod condition;
mod fit;
mod foreseen;
mod glob;
mod rules;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

pub use condition::{ArgumentCondition, ArgumentTest, Comparison, ValueTest};
pub use fit::Fit;
pub use glob::Glob;
pub use rules::{Circumstances, LOCAL_TENANT, PolicyRules, Rule, TierByEffect};

use luaplan_base::{Effect, ErrorCode, ToolFailure, Value};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{Mode, RuleReference, Tier};

/// The name in place of a rule's where a default decides.
pub const DEFAULT_RULE: &str = "default";

/// What a run may do with the registered tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The run's capabilities; `None` for all that the registered tools need.
    pub allowed_capabilities: Option<BTreeSet<String>>,
    /// The strongest effect allowed.
    pub max_effect: Effect,
    /// The policy file, where there is one.
    pub rules: Option<Arc<PolicyRules>>,
    /// The run's tenant, mode and starter.
    pub circumstances: Circumstances,
}

/// A rule that matched a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MatchedRule {
    /// The rule.
    #[serde(flatten)]
    pub rule: RuleReference,
    /// Its tier.
    pub decision: Tier,
    /// Why.
    pub reason: String,
    /// Whether it certainly matches. Rules that restrict also count where that is undecidable.
    pub is_certain: bool,
}

/// The policy's decision about a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyDecision {
    /// The tier.
    pub decision: Tier,
    /// The name of the rule that decided, `default` for a default; absent without a policy file.
    pub decided_by: Option<String>,
    /// Why, for people.
    pub reason: String,
    /// Every rule that matched, in the order of the file.
    pub matched: Vec<MatchedRule>,
    /// Whether a structured run would need approval here and this run is autonomous.
    pub is_unasked: bool,
}

impl Policy {
    /// All registered tools, with any effect: for runs where the choice of tools is the policy.
    #[must_use]
    pub fn registered_tools() -> Self {
        Self {
            allowed_capabilities: None,
            max_effect: Effect::Spend,
            rules: None,
            circumstances: Circumstances::default(),
        }
    }

    /// The registered tools that only read.
    #[must_use]
    pub fn read_only() -> Self {
        Self { max_effect: Effect::Read, ..Self::registered_tools() }
    }

    /// The same for a run in that mode.
    #[must_use]
    pub fn in_mode(&self, mode: Mode) -> Self {
        let circumstances = Circumstances { mode, ..self.circumstances.clone() };
        Self { circumstances, ..self.clone() }
    }

    /// Decides about one call. `arguments` are bound: an object with the parameters' names.
    #[must_use]
    pub fn decide(&self, spec: &ToolSpec, arguments: &Value) -> PolicyDecision {
        if let Some(allowed) = &self.allowed_capabilities
            && !allowed.contains(&spec.capability)
        {
            let reason = format!("needs the capability `{}`, which this run does not have", spec.capability);
            return PolicyDecision::without_rules(Tier::Deny, reason);
        }
        if spec.effect > self.max_effect {
            let (effect, most) = (spec.effect.as_str(), self.max_effect.as_str());
            let reason = format!("has the effect `{effect}`; this run may go no further than `{most}`");
            return PolicyDecision::without_rules(Tier::Deny, reason);
        }
        match &self.rules {
            Some(rules) => self.by_rules(rules, spec, arguments),
            None if is_destructive_elsewhere(spec) => self.without_file(spec),
            None => PolicyDecision::without_rules(Tier::Auto, "no policy file is configured".to_owned()),
        }
    }

    /// Requires approval for a destructive tool of an MCP server: no policy of the operator allows it.
    fn without_file(&self, spec: &ToolSpec) -> PolicyDecision {
        let is_unasked = self.circumstances.mode == Mode::Autonomous;
        let decision = if is_unasked { Tier::Auto } else { Tier::Prompt };
        let (name, effect) = (&spec.name, spec.effect.as_str());
        let reason = format!(
            "no policy file is configured, and the server of `{name}` ({effect}) does not rule out that it destroys something"
        );
        let decided_by = Some(DEFAULT_RULE.to_owned());
        PolicyDecision { decision, decided_by, reason, matched: Vec::new(), is_unasked }
    }

    fn by_rules(&self, rules: &PolicyRules, spec: &ToolSpec, arguments: &Value) -> PolicyDecision {
        let matched: Vec<MatchedRule> = rules
            .rules
            .iter()
            .filter_map(|rule| {
                let fit = rule.fit(spec, arguments, &self.circumstances);
                let counts = fit == Fit::Yes || fit == Fit::Maybe && rule.tier != Tier::Auto;
                counts.then(|| MatchedRule {
                    rule: rule.reference(),
                    decision: rule.tier,
                    reason: rule.reason.clone(),
                    is_certain: fit == Fit::Yes,
                })
            })
            .collect();
        let strictest = matched.iter().map(|rule| rule.decision).max();
        let decider = matched.iter().find(|rule| Some(rule.decision) == strictest);
        let (decision, decided_by, reason) = match decider {
            Some(rule) => (rule.decision, rule.rule.name.clone(), rule.reason.clone()),
            None => {
                let (tier, effect) = (rules.defaults.of(spec.effect), spec.effect.as_str());
                let reason =
                    format!("no rule matches, and the default for `{effect}` is `{}`", tier.as_str());
                (tier, DEFAULT_RULE.to_owned(), reason)
            }
        };
        let is_unasked = decision == Tier::Prompt && self.circumstances.mode == Mode::Autonomous;
        let decision = self.in_force(decision);
        PolicyDecision { decision, decided_by: Some(decided_by), reason, matched, is_unasked }
    }
}

/// Whether a tool of an MCP server may do more than read and add, by its own description.
fn is_destructive_elsewhere(spec: &ToolSpec) -> bool {
    spec.effect != Effect::Read && spec.server_hints.is_some_and(|hints| hints.is_destructive)
}

impl PolicyDecision {
    fn without_rules(decision: Tier, reason: String) -> Self {
        Self { decision, decided_by: None, reason, matched: Vec::new(), is_unasked: false }
    }

    /// The rules that require approval, the deciding one first; empty where a default does.
    #[must_use]
    pub fn asking(&self) -> Vec<RuleReference> {
        let asks = |rule: &&MatchedRule| matches!(rule.decision, Tier::Prompt | Tier::Manual);
        let mut asking: Vec<RuleReference> =
            self.matched.iter().filter(asks).map(|rule| rule.rule.clone()).collect();
        if let Some(first) = asking.iter().position(|rule| Some(&rule.name) == self.decided_by.as_ref()) {
            asking[..=first].rotate_right(1);
        }
        asking
    }

    /// The failure of a denied call; it names the rule.
    #[must_use]
    pub fn refusal(&self, spec: &ToolSpec) -> ToolFailure {
        let name = &spec.name;
        let message = match &self.decided_by {
            Some(rule) if rule == DEFAULT_RULE => format!("the policy denies `{name}`: {}", self.reason),
            Some(rule) => format!("the policy's rule `{rule}` denies this call of `{name}`: {}", self.reason),
            None => format!("the tool `{name}` {}", self.reason),
        };
        let failure = ToolFailure::new(ErrorCode::PermissionDenied, format!("{message}; no call was made"))
            .with_detail("capability", spec.capability.as_str())
            .with_detail("effect", spec.effect.as_str());
        match &self.decided_by {
            Some(rule) => failure.with_detail("rule", rule.as_str()),
            None => failure,
        }
    }
}

#[cfg(test)]
mod tests;
