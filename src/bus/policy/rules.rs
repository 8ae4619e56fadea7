//! The rules of a policy file, as data.

use std::collections::BTreeMap;

use luaplan_base::{ContentHash, Effect, Value};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{Actor, Mode, RuleReference, Tier};

use super::condition::Condition;
use super::fit::Fit;
use super::glob::Glob;

/// The tenant of whoever sits at this machine.
pub const LOCAL_TENANT: &str = "local";

/// Whose run it is, and how much it does unasked.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Circumstances {
    /// `local`, or the tenant of the API key it was started with.
    pub tenant: String,
    /// How much it does unasked.
    pub mode: Mode,
    /// Who started it, where that is known.
    pub started_by: Option<Actor>,
}

impl Default for Circumstances {
    fn default() -> Self {
        Self { tenant: LOCAL_TENANT.to_owned(), mode: Mode::default(), started_by: None }
    }
}

/// One rule. It matches a call where everything it names does; what it does not name matches any.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its name, unique in its file.
    pub name: String,
    /// What happens to a call it matches.
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
    pub conditions: Vec<Condition>,
    /// Hash of all it says.
    pub hash: ContentHash,
}

impl Rule {
    /// Whether it matches a call with these bound arguments.
    #[must_use]
    pub fn fit(&self, spec: &ToolSpec, arguments: &Value, circumstances: &Circumstances) -> Fit {
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
        match Fit::all(outside) {
            Fit::No => Fit::No,
            fit => {
                Fit::all(self.conditions.iter().map(|condition| condition.fit(spec, arguments)).chain([fit]))
            }
        }
    }

    /// Whether it is about the tool of that name, whatever else it asks.
    #[must_use]
    pub fn is_about(&self, tool: &str) -> bool {
        self.tools.is_empty() || self.tools.iter().any(|glob| glob.fit(tool) == Fit::Yes)
    }

    /// The rule as records name it.
    #[must_use]
    pub fn reference(&self) -> RuleReference {
        RuleReference { name: self.name.clone(), hash: self.hash.clone() }
    }
}

/// What happens to calls that no rule matches, by their effect.
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
    /// Reading is allowed, a person is asked about everything else.
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
    /// What happens to calls that no rule matches.
    pub defaults: TierByEffect,
    /// Who may decide about approvals: names of API keys, `local` for the command line. Empty: everybody.
    pub approvers: Vec<Glob>,
    /// Whether who started a run is kept from deciding about its calls.
    pub others_than_starter: bool,
    /// The file, as errors name it.
    pub origin: String,
    /// The lines of conditions, by rule and dotted path. Apart from the rules, whose hash is of what they say.
    pub condition_lines: BTreeMap<(String, String), usize>,
}

impl PolicyRules {
    /// File and line of a rule's condition.
    #[must_use]
    pub fn place_of(&self, rule: &Rule, condition: &Condition) -> String {
        let key = (rule.name.clone(), condition.path.join("."));
        match self.condition_lines.get(&key) {
            Some(line) => format!("{}, line {line}", self.origin),
            None => self.origin.clone(),
        }
    }

    /// Whether `who` may decide about approvals.
    #[must_use]
    pub fn may_approve(&self, who: &str) -> bool {
        self.approvers.is_empty() || self.approvers.iter().any(|glob| glob.fit(who) == Fit::Yes)
    }
}
