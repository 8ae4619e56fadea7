//! What the policy file says about calls, made or only thought of.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, RunId, Value, nearest};
use luaplan_bus::{Circumstances, Fit, Glob, LOCAL_TENANT, Policy, PolicyDecision, PolicyRules, Rule, Tier};
use luaplan_catalog::Catalog;

use super::held::policy_of;
use crate::ApiKeys;
use crate::approvals::service::Approvals;
use crate::runs::restore::circumstances_of;

/// What the policy says about one call.
#[derive(Debug, Clone, Serialize)]
pub struct CallExplanation {
    /// The call's id, where it is one of a run.
    pub call_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The arguments, as recorded where the call is one of a run.
    pub arguments: Json,
    /// What happened: `made`, `refused`, `waits`; absent for a call only thought of.
    pub happened: Option<&'static str>,
    /// The rule that decided then, where that is on record.
    pub decided_then_by: Option<String>,
    /// The leave it was made with, where it needed one.
    pub allowed_by: Option<String>,
    /// What the policy file says now; absent where the tool or its parameters have changed since.
    pub now: Option<PolicyDecision>,
}

/// What `policy check` found.
#[derive(Debug, Clone, Serialize)]
pub struct PolicyReport {
    /// How many rules the file has.
    pub rules: usize,
    /// What looks like a mistake: names that no tool has now.
    pub warnings: Vec<String>,
}

impl PolicyReport {
    /// Looks for rules that can match nothing because of a name nothing has. Where a rule's tools are not
    /// there that is a warning, as they may come with other configuration.
    ///
    /// # Errors
    /// `config_invalid` where a rule asks about a parameter that none of its tools has: the calls it was
    /// written for would go unasked.
    pub fn of(rules: &PolicyRules, catalog: &Catalog) -> Result<Self> {
        let mut warnings = Vec::new();
        for rule in &rules.rules {
            for glob in &rule.tools {
                if !catalog.names().any(|name| glob.fit(name) == Fit::Yes) {
                    warnings.push(format!("rule `{}`: no tool is named `{glob}`", rule.name));
                }
            }
            for condition in &rule.conditions {
                let parameter = &condition.path[0];
                let mut meant = catalog.iter().filter(|spec| rule.is_about(&spec.name)).peekable();
                let nowhere = meant.peek().is_some()
                    && meant.all(|spec| spec.parameter(parameter).is_none() && !spec.takes_unknown_names());
                if nowhere {
                    let place = rules.place_of(rule, condition);
                    return Err(no_such_parameter(&place, rule, parameter, catalog));
                }
            }
        }
        Ok(Self { rules: rules.rules.len(), warnings })
    }
}

/// What looks like a mistake in `approvers`: names that no API key has. The command line is `local`.
#[must_use]
pub fn unknown_approvers(rules: &PolicyRules, keys: &ApiKeys) -> Vec<String> {
    let names: Vec<&str> = keys.names().chain([LOCAL_TENANT]).collect();
    let is_unknown = |glob: &&Glob| !names.iter().any(|name| glob.fit(name) == Fit::Yes);
    let warning = |glob: &Glob| {
        let near = nearest(&glob.to_string(), names.iter().copied());
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("approvers: no API key is named `{glob}`{near}")
    };
    rules.approvers.iter().filter(is_unknown).map(warning).collect()
}

fn no_such_parameter(place: &str, rule: &Rule, parameter: &str, catalog: &Catalog) -> Error {
    let meant = catalog.iter().filter(|spec| rule.is_about(&spec.name));
    let known: BTreeSet<&str> = meant.flat_map(|spec| spec.parameters().map(|(name, _)| name)).collect();
    let message =
        format!("{place}: rule `{}`: no tool it is about has the parameter `{parameter}`", rule.name);
    let help = match nearest(parameter, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the parameters there are: {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Error::new(ErrorCode::ConfigInvalid, message)
        .with_help(help)
        .with_detail("key", format!("rule.{}.arguments.{parameter}", rule.name))
}

impl Approvals {
    /// What a run of `circumstances` may do.
    #[must_use]
    pub fn policy_for(&self, circumstances: &Circumstances) -> Policy {
        policy_of(&self.config, circumstances.clone())
    }

    /// What the policy file says about a call that is only thought of. Arguments are by name.
    ///
    /// # Errors
    /// `not_found`, or `bad_arguments` where they do not fit.
    pub fn explain_call(
        &self,
        tool: &str,
        arguments: Value,
        circumstances: &Circumstances,
    ) -> Result<CallExplanation> {
        let spec = self.tools.catalog.get(tool).ok_or_else(|| self.tools.no_such_tool(tool))?;
        let bound = spec.bind_named(arguments).map_err(|failure| {
            Error::new(ErrorCode::BadArguments, failure.message)
                .with_help(format!("compare with `luaplan tools show {tool}`"))
        })?;
        Ok(CallExplanation {
            call_id: None,
            tool: tool.to_owned(),
            arguments: bound.to_json(),
            happened: None,
            decided_then_by: None,
            allowed_by: None,
            now: Some(self.policy_for(circumstances).decide(spec, &bound)),
        })
    }

    /// What decided about the calls of a run, and what the policy file says about them now. Arguments are
    /// those on record: rules about what was redacted there may come out otherwise.
    ///
    /// # Errors
    /// `not_found`, or as reading the journal.
    pub async fn explain_run(&self, run_id: &RunId, call_id: Option<&str>) -> Result<Vec<CallExplanation>> {
        let state = self.history.known_run(run_id).await?;
        let policy = self.policy_for(&circumstances_of(&state)?);
        let now = |tool: &str, arguments: &Json| -> Option<PolicyDecision> {
            let spec = self.tools.catalog.get(tool)?;
            let value = Value::from_json(arguments.clone()).ok()?;
            // Those of a call that was refused may have no names.
            let bound = match value {
                Value::Array(items) => spec.bind(&luaplan_base::CallArguments(items)).ok()?,
                named => spec.bind_named(named).ok()?,
            };
            Some(policy.decide(spec, &bound))
        };
        let made = state.calls.iter().map(|call| CallExplanation {
            call_id: Some(call.call_id.to_string()),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            happened: Some(if call.refused { "refused" } else { "made" }),
            decided_then_by: call.rule.clone().or_else(|| {
                let rule = call.end.as_ref()?.error.as_ref()?.get("rule")?;
                rule.as_str().map(str::to_owned)
            }),
            allowed_by: call.allowed_by.clone(),
            now: now(&call.tool, &call.arguments),
        });
        let calls = state.pending_approvals().filter(|request| request.plan.is_none());
        let waiting = calls.map(|request| CallExplanation {
            call_id: Some(request.call_id.to_string()),
            tool: request.tool.clone(),
            arguments: request.arguments.clone(),
            happened: Some("waits"),
            decided_then_by: request.rules.first().map(|rule| rule.name.clone()),
            allowed_by: None,
            now: now(&request.tool, &request.arguments),
        });
        let all: Vec<CallExplanation> = made
            .chain(waiting)
            .filter(|call| call_id.is_none_or(|wanted| call.call_id.as_deref() == Some(wanted)))
            .collect();
        match call_id {
            Some(wanted) if all.is_empty() => {
                Err(Error::new(ErrorCode::NotFound, format!("run {run_id} has no call `{wanted}`")))
            }
            _ => Ok(all),
        }
    }

    /// Whether a call needs no person by what is configured.
    #[must_use]
    pub fn has_policy_file(&self) -> bool {
        self.config.policy.is_some()
    }
}

/// The tier in a word for people.
#[must_use]
pub const fn tier_meaning(tier: Tier) -> &'static str {
    match tier {
        Tier::Auto => "allowed",
        Tier::Prompt | Tier::Manual => "a person is asked",
        Tier::Deny => "denied",
    }
}
