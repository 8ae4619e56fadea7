//! Looking into the saved plans of agents before they run: what they would do, and what keeps them from it.

use std::collections::{BTreeMap, BTreeSet};

use luaplan_base::{Error, ErrorCode, LimitName, Limits};
use luaplan_catalog::Catalog;
use luaplan_plan::flow::{Flow, analyse};
use luaplan_plan::preview::{AgentPlan, AgentReach, PreviewOptions, SavedPlan, agents_called, with_effects};
use luaplan_plan::{CheckInput, CheckReport, Severity, check_with};

use super::CALL_AGENT;
use crate::config::{AgentConfig, AgentWork, Config};

/// What is found out about the agents a plan may call, and about those that these may call, each once. No deeper
/// than agents may be nested: what is called beyond fails.
pub(crate) fn agents_of(
    config: &Config,
    catalog: &Catalog,
    limits: &Limits,
    flow: &Flow,
    options: PreviewOptions<'_>,
) -> Vec<AgentReach> {
    let mut found: BTreeMap<String, AgentReach> = BTreeMap::new();
    let mut refused: BTreeMap<String, AgentReach> = BTreeMap::new();
    let mut callers = vec![(catalog.clone(), agents_called(flow, catalog))];
    let mut depth = 0;
    while !callers.is_empty() {
        depth += 1;
        for (caller, names) in std::mem::take(&mut callers) {
            for name in names {
                let Some(agent) = config.agents.get(&name).filter(|_| !found.contains_key(&name)) else {
                    continue;
                };
                let own_limits = agent.limits.within(limits);
                let reach = |work: AgentPlan| AgentReach {
                    name: name.clone(),
                    depth,
                    tools: with_effects(&agent.tools, catalog),
                    limits: lower(&own_limits, limits),
                    work,
                };
                if let Some(reason) = not_started(config, &caller, agent, depth) {
                    refused.entry(name.clone()).or_insert_with(|| reach(AgentPlan::Refused { reason }));
                    continue;
                }
                let own = narrowed(catalog, agent);
                let (work, called) = looked_into(config, &own, agent, &own_limits, options);
                callers.push((own, called));
                found.insert(name.clone(), reach(work));
            }
        }
    }
    refused.retain(|name, _| !found.contains_key(name));
    found.into_values().chain(refused.into_values()).collect()
}

/// The limits of an agent that are below those of the run.
fn lower(own: &Limits, run: &Limits) -> BTreeMap<String, u64> {
    let below = LimitName::ALL.iter().filter(|name| own.get(**name) < run.get(**name));
    below.map(|name| (name.as_str().to_owned(), own.get(*name))).collect()
}

/// Why a call of the agent fails before it does anything, if it does.
fn not_started(config: &Config, caller: &Catalog, agent: &AgentConfig, depth: u32) -> Option<String> {
    if depth > config.agent_depth {
        return Some(format!(
            "it is nested in {depth} calls of agents, and `agent_depth` is {}",
            config.agent_depth
        ));
    }
    let beyond: Vec<&str> =
        agent.tools.iter().map(String::as_str).filter(|tool| caller.get(tool).is_none()).collect();
    (!beyond.is_empty()).then(|| format!("it may call {}, which its caller may not", beyond.join(", ")))
}

/// What the agent works by, and whom it may call.
fn looked_into(
    config: &Config,
    own: &Catalog,
    agent: &AgentConfig,
    limits: &Limits,
    options: PreviewOptions<'_>,
) -> (AgentPlan, Vec<String>) {
    let (file, report) = match &agent.work {
        AgentWork::Task(_) => {
            let called = own.get(CALL_AGENT).map(|spec| spec.agents.keys().cloned().collect());
            return (AgentPlan::Unknown, called.unwrap_or_default());
        }
        AgentWork::Plan { name, source } => (name, checked(config, own, name, source, limits)),
    };
    let Some(plan) = &report.plan else {
        let first = report.findings.iter().find(|finding| finding.severity == Severity::Error);
        let what = first.map(|finding| format!("line {}: {}", finding.line, finding.message));
        let reason = format!("its plan {file} is refused by the check: {}", what.unwrap_or_default());
        return (AgentPlan::Refused { reason }, Vec::new());
    };
    let flow = analyse(plan, own);
    let options = PreviewOptions { tool_calls_max: limits.tool_calls, ..options };
    let saved = SavedPlan::of(file, &flow, own, options);
    let called = saved.agents.clone();
    (AgentPlan::Saved(saved), called)
}

/// The check of an agent's plan, as its run will have it.
fn checked(config: &Config, own: &Catalog, name: &str, source: &str, limits: &Limits) -> CheckReport {
    let input = CheckInput { source, name, catalog: own, limits, context: None, task: None, results: &[] };
    config.sandbox.judge(check_with(&input), source)
}

/// The tools an agent may call.
fn narrowed(catalog: &Catalog, agent: &AgentConfig) -> Catalog {
    catalog.only(|spec| agent.tools.contains(&spec.name))
}

/// What keeps agents from their work, for each of them that something does: a tool that is switched off, and a saved
/// plan that the check refuses or that names tools it lacks.
#[must_use]
pub fn agent_faults(config: &Config, catalog: &Catalog) -> Vec<Error> {
    config.agents.iter().filter_map(|(name, agent)| fault_of(config, catalog, name, agent)).collect()
}

fn fault_of(config: &Config, catalog: &Catalog, name: &str, agent: &AgentConfig) -> Option<Error> {
    let fault = |key: String, what: String, help: String| {
        Error::new(ErrorCode::ConfigInvalid, format!("{key}: {what}")).with_help(help).with_detail("key", key)
    };
    let off: Vec<&str> =
        agent.tools.iter().map(String::as_str).filter(|tool| catalog.get(tool).is_none()).collect();
    if !off.is_empty() {
        let off = off.join(", ");
        let what = format!("{off} is switched off, so every call of the agent fails");
        let help = format!("take {off} out of `agents.{name}.tools`, or switch it on under `[tools]`");
        return Some(fault(format!("agents.{name}.tools"), what, help));
    }
    let AgentWork::Plan { name: file, source } = &agent.work else { return None };
    let report = checked(config, &narrowed(catalog, agent), file, source, &agent.limits);
    let lacks = |span: (usize, usize)| {
        let rest = source.get(span.0..).unwrap_or_default();
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.')));
        let path = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        catalog.get(path).map(|spec| spec.name.clone())
    };
    let mut missing: BTreeSet<String> = BTreeSet::new();
    let mut said: Vec<String> = Vec::new();
    let mut help = None;
    for finding in &report.findings {
        if finding.code == ErrorCode::PlanUnknownTool.as_str()
            && let Some(tool) = lacks(finding.span)
        {
            if missing.insert(tool.clone()) {
                said.push(format!(
                    "{file}:{}: it names the tool `{tool}`, which the agent lacks",
                    finding.line
                ));
            }
        } else if finding.severity == Severity::Error {
            said.push(format!("{file}:{}: {}: {}", finding.line, finding.code, finding.message));
            help.get_or_insert_with(|| finding.help.clone());
        }
    }
    if said.is_empty() {
        return None;
    }
    if !missing.is_empty() {
        let tools: Vec<String> = missing.iter().map(|tool| format!("`{tool}`")).collect();
        let add =
            format!("add {} to `agents.{name}.tools`, or take the calls out of {file}", tools.join(", "));
        help = Some(help.map_or(add.clone(), |other| format!("{add}; {other}")));
    }
    Some(fault(format!("agents.{name}.plan"), said.join("\n"), help.unwrap_or_default()))
}
