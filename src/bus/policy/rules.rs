//! The rules of a policy file, as data.

use std::collections::BTreeMap;

use luaplan_base::{ContentHash, Effect, Value};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{Actor, Mode, RuleReference, Tier};

use super::condition::ArgumentCondition;
use super::fit::Fit;
use super::glob::Glob;

/// The tenant of the command line.
pub const LOCAL_TENANT: &str = "local";

/// What a policy may consider of a run: its tenant, mode and starter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Circumstances {
    /// The tenant: `local`, or that of the API key that started the run.
    pub tenant: String,
    /// What the run may do without approval.
    pub mode: Mode,
    /// Who started it, where that is known.
    pub started_by: Option<Actor>,
}

impl Default for Circumstances {
    fn default() -> Self {
        Self { tenant: LOCAL_TENANT.to_owned(), mode: Mode::default(), started_by: None }
    }
}

/// One rule. It matches a call where every field it sets matches; a field it leaves out matches any.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name, unique in its file.
    pub name: String,
    /// The tier of the calls it matches.
    pub tier: Tier,
    /// Why, for people.
    pub reason: String,
    /// Tools, by name.
    pub tools: Vec<Glob>,
    /// Effects.
    pub effects: Vec<Effect>,
    /// Tenants.
    pub tenants: Vec<Glob>,
    /// Modes.
    pub modes: Vec<Mode>,
    /// Conditions on arguments; all must be met.
    pub conditions: Vec<ArgumentCondition>,
    /// Hash of its content.
    pub hash: ContentHash,
}

impl Rule {
    /// Whether it matches a call with these bound arguments.
    #[must_use]
    pub fn fit(&self, spec: &ToolSpec, arguments: &Value, circumstances: &Circumstances) -> Fit {
        match self.fit_outside(spec, circumstances) {
            Fit::No => Fit::No,
            fit => {
                Fit::all(self.conditions.iter().map(|condition| condition.fit(spec, arguments)).chain([fit]))
            }
        }
    }

    /// As [`Rule::fit`], by everything but the arguments.
    pub(super) fn fit_outside(&self, spec: &ToolSpec, circumstances: &Circumstances) -> Fit {
        let one_of = |globs: &[Glob], text: &str| match globs {
            [] => Fit::Yes,
            globs => Fit::any(globs.iter().map(|glob| glob.fit(text))),
        };
        let listed = |is_listed: bool, is_empty: bool| Fit::from(is_empty || is_listed);
        let outside = [
            one_of(&self.tools, &spec.name),
            listed(self.effects.contains(&spec.effect), self.effects.is_empty()),
            one_of(&self.tenants, &circumstances.tenant),
            listed(self.modes.contains(&circumstances.mode), self.modes.is_empty()),
        ];
        Fit::all(outside)
    }

    /// Whether it covers the tool of that name, apart from its other conditions.
    #[must_use]
    pub fn is_about(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob.fit(tool) == Fit::Yes)
    }

    /// The reference to the rule in records.
    #[must_use]
    pub fn reference(&self) -> RuleReference {
        RuleReference { name: self.name.clone(), hash: self.hash.clone() }
    }
}

/// The tiers of calls that no rule matches, by their effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TierByEffect {
    /// Calls that only read.
    pub read: Tier,
    /// Calls that change something.
    pub write: Tier,
    /// Calls that send something out.
    pub send: Tier,
    /// Calls that cost money.
    pub spend: Tier,
}

impl TierByEffect {
    /// Reads are allowed, all other calls need approval.
    pub const ASKING: Self =
        Self { read: Tier::Auto, write: Tier::Prompt, send: Tier::Prompt, spend: Tier::Prompt };

    /// The tier for `effect`.
    #[must_use]
    pub const fn of(&self, effect: Effect) -> Tier {
        match effect {
            Effect::Read => self.read,
            Effect::Write => self.write,
            Effect::Send => self.send,
            Effect::Spend => self.spend,
        }
    }
}

/// A policy file, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyRules {
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// The tiers of calls that no rule matches.
    pub defaults: TierByEffect,
    /// The approvers: names of API keys, `local` for the command line. Empty: any caller.
    pub approvers: Vec<Glob>,
    /// Whether the starter of a run may not decide about its calls.
    pub others_than_starter: bool,
    /// The name of the file in errors.
    pub origin: String,
    /// The lines of conditions, by rule and dotted path. Kept apart from the rules, whose hash covers only their content.
    pub condition_lines: BTreeMap<(String, String), usize>,
}

impl PolicyRules {
    /// File and line of a rule's condition.
    #[must_use]
    pub fn place_of(&self, rule: &Rule, condition: &ArgumentCondition) -> String {
        let key = (rule.name.clone(), condition.path.join("."));
        match self.condition_lines.get(&key) {
            Some(line) => format!("{}, line {line}", self.origin),
            None => self.origin.clone(),
        }
    }

    /// Whether `who` is an approver.
    #[must_use]
    pub fn may_approve(&self, who: &str) -> bool {
        self.approvers.is_empty() || self.approvers.iter().any(|glob| glob.fit(who) == Fit::Yes)
    }
}
