//! What the policy says of a call whose arguments are known in part.

use luaplan_base::Value;
use luaplan_catalog::ToolSpec;
use luaplan_journal::{Mode, Tier};

use super::super::ForeseenCall;
use super::{Fit, Policy, PolicyDecision, Rule};

impl Policy {
    /// The decision about a call that a plan may make; `None` where it depends on arguments that are not known.
    #[must_use]
    pub fn foresee(&self, spec: &ToolSpec, call: &ForeseenCall) -> Option<PolicyDecision> {
        let arguments = call.arguments();
        let decision = self.decide(spec, &arguments);
        let (Some(rules), Some(_)) = (&self.rules, &decision.decided_by) else { return Some(decision) };
        let (open, settled): (Vec<Rule>, Vec<Rule>) =
            rules.rules.iter().cloned().partition(|rule| self.hangs_on_unknown(rule, spec, call, &arguments));
        if open.is_empty() {
            return Some(decision);
        }
        let mut without = (**rules).clone();
        without.rules = settled;
        let least = Self { rules: Some(without.into()), ..self.clone() }.decide(spec, &arguments);
        // The strictest rule that matches decides, so each open one may be looked at alone.
        let is_same = |rule: &Rule| {
            let tier = self.in_force(rule.tier);
            tier == least.decision || !least.matched.is_empty() && tier < least.decision
        };
        open.iter().all(is_same).then_some(least)
    }

    /// Whether a rule asks for an argument that is not known, and nothing that is known rules it out.
    fn hangs_on_unknown(&self, rule: &Rule, spec: &ToolSpec, call: &ForeseenCall, arguments: &Value) -> bool {
        let (known, open): (Vec<_>, Vec<_>) = (rule.conditions.iter())
            .partition(|condition| condition.path.first().is_none_or(|name| call.is_certain(name)));
        let fits = known.iter().map(|condition| condition.fit(spec, arguments));
        !open.is_empty() && Fit::all(fits.chain([rule.fit_outside(spec, &self.circumstances)])) != Fit::No
    }

    /// A tier as it counts for the run: an autonomous one is not asked.
    pub(super) fn in_force(&self, tier: Tier) -> Tier {
        let is_unasked = tier == Tier::Prompt && self.circumstances.mode == Mode::Autonomous;
        if is_unasked { Tier::Auto } else { tier }
    }
}
