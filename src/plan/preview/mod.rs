//! What a plan would do, before it runs.
//!
//! [`preview`] sums up what [`super::flow`] finds: calls and their maximum number, the places they reach,
//! and what they may cost. It never says less than can happen; where it cannot know, it says so.
//!
//! **Not covered:** what views, triggers and functions of a database reach, and where a web server
//! forwards a request.

mod agents;
mod reach;
mod sql;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value as Json;

use luaplan_base::{Effect, Value};
use luaplan_catalog::{Catalog, TargetKind};

use super::CheckedPlan;
use super::flow::{CallSite, Flow, Leaf, Slice, analyse};
use super::parameters::{PlanParameter, parameters};
use super::steps::{NamedStep, named_steps};

pub use agents::{AgentPlan, AgentReach, SavedPlan, agents_called, with_effects};
pub use reach::{Target, TargetPattern, argument_targets, host_of};
pub use text::Texts;

/// The parameter that says how long a call sleeps.
const SECONDS: &str = "seconds";

/// The input of a preview besides the plan.
#[derive(Debug, Clone, Copy)]
pub struct PreviewOptions<'a> {
    /// The most calls of a run, all tools together.
    pub tool_calls_max: u64,
    /// The context, where known: the preview then shows its values.
    pub context: Option<&'a Value>,
    /// What tools reach whatever their arguments are, by tool: the configured model, for example.
    pub always: &'a BTreeMap<String, Vec<(TargetKind, String)>>,
    /// What the caller found out about the agents the plan may call, and about those that these may call.
    pub agents: &'a [AgentReach],
}

/// The parameters that a plan declares, as a preview shows them.
#[must_use]
pub fn parameters_of(source: &str) -> Vec<PreviewParameter> {
    let shown = |one: PlanParameter| PreviewParameter {
        name: one.name,
        default: one.default.map(|value| value.to_json()),
        description: one.description,
    };
    parameters(source).into_iter().map(shown).collect()
}

/// One parameter of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreviewArgument {
    /// The value as far as it is known, as Lua text; its strings are whole.
    pub shown: String,
    /// What has a part in it.
    pub slice: Slice,
}

/// What is known of a call before the plan runs, from configuration and policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Forecast {
    /// It will be refused, whatever happens.
    Refused {
        /// The code of the failure that the plan will see.
        code: String,
        /// Why.
        reason: String,
    },
    /// It will be refused with some of the values that its arguments may have.
    MayBeRefused {
        /// The code of the failure that the plan will see.
        code: String,
        /// Why.
        reason: String,
    },
    /// A person will be asked before it is made.
    Asked {
        /// Why.
        reason: String,
    },
}

/// One place of the plan that calls a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreviewCall {
    /// Its number in the order of the source, from 1.
    pub number: u32,
    /// The tool.
    pub tool: String,
    /// The line; `None` where it may be anywhere.
    pub line: Option<u32>,
    /// The step in whose function the call is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// What a call does to the world.
    pub effect: Effect,
    /// The most calls from here; `None` without a bound of its own.
    pub calls_max: Option<u64>,
    /// The parameters given, in the order of the manifest.
    pub arguments: Vec<(String, PreviewArgument)>,
    /// What decides whether the call is made.
    pub made: Slice,
    /// What it reaches.
    pub targets: Vec<Target>,
    /// What the tool lacks before a call can work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_set_up: Option<String>,
    /// What configuration and policy do with it, as far as that is known beforehand; whoever knows these fills it in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
}

/// A parameter that the plan declares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreviewParameter {
    /// The member of the context.
    pub name: String,
    /// Its value where none is given, as JSON; absent where one has to be given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
    /// What it is for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// What a plan would do.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// The parameters it declares; whoever has its source fills them in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<PreviewParameter>,
    /// The calls, in the order of the source.
    pub calls: Vec<PreviewCall>,
    /// The named steps, in the order of the source, as far as their names stand there as texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<NamedStep>,
    /// Every effect, mildest first.
    pub effects: BTreeSet<Effect>,
    /// The agents it may call, directly or through other agents.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentReach>,
    /// Everything reached, each once.
    pub targets: Vec<Target>,
    /// The most calls of a run: the plan's own bound, or the limit where that is lower.
    pub calls_max: u64,
    /// Whether the plan has no bound of its own and only the limit holds.
    pub is_unbounded: bool,
    /// The most the calls can cost by their manifests' prices, in millionths of a US dollar.
    pub cost_max_micro_usd: u64,
    /// The longest the run can sleep in all, in seconds; absent where it never does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sleeps_max_seconds: Option<u64>,
    /// Tools that cost something and whose manifests name no price.
    pub unpriced: BTreeSet<String>,
    /// What `run` returns, as far as it is known.
    pub result: PreviewArgument,
    /// Whether the analysis gave up, so that anything may happen.
    pub gave_up: bool,
}

/// Says what `plan` would do with the tools of `catalog`.
#[must_use]
pub fn preview(plan: &CheckedPlan, catalog: &Catalog, options: PreviewOptions<'_>) -> Preview {
    preview_of(&analyse(plan, catalog), plan.source(), catalog, options)
}

/// As [`preview`], for an analysed plan.
#[must_use]
pub fn preview_of(flow: &Flow, source: &str, catalog: &Catalog, options: PreviewOptions<'_>) -> Preview {
    let steps = named_steps(source);
    let calls: Vec<PreviewCall> =
        flow.call_sites().iter().filter_map(|site| call(site, &steps, catalog, options)).collect();
    let agents = agents::reached(flow, catalog, options.agents);
    let of_agents = agents.iter().flat_map(|agent| agent.targets(catalog, options.always));
    let mut targets: Vec<Target> =
        calls.iter().flat_map(|call| call.targets.iter().cloned()).chain(of_agents).collect();
    targets.sort();
    targets.dedup();
    let bound = |call: &PreviewCall| call.calls_max;
    let sum = calls.iter().map(bound).try_fold(0_u64, |sum, calls| sum.checked_add(calls?));
    // Calls of agents count as calls of the run.
    let sum = sum.filter(|_| agents.is_empty());
    let calls_max = sum.unwrap_or(u64::MAX).min(options.tool_calls_max);
    let price = |call: &PreviewCall| catalog.get(&call.tool).and_then(|spec| spec.price_micro_usd);
    // No more calls than the limit, each at the highest possible price; where agents make some, their tools count
    // too.
    let by_call = calls.iter().fold(0_u64, |sum, call| {
        let most = call.calls_max.unwrap_or(u64::MAX).min(options.tool_calls_max);
        sum.saturating_add(price(call).unwrap_or(0).saturating_mul(most))
    });
    let of_agents = agents::specs(&agents, catalog);
    let by_call =
        if of_agents.clone().any(|spec| spec.price_micro_usd.is_some()) { u64::MAX } else { by_call };
    let prices =
        calls.iter().filter_map(price).chain(of_agents.clone().filter_map(|spec| spec.price_micro_usd));
    let dearest = prices.max().unwrap_or(0);
    let called =
        calls.iter().filter_map(|call| catalog.get(&call.tool)).map(AsRef::as_ref).chain(of_agents.clone());
    let unpriced = called
        .filter(|spec| spec.effect == Effect::Spend && spec.price_micro_usd.is_none())
        .map(|spec| spec.name.clone())
        .collect();
    let sleeps = flow.call_sites().iter().filter_map(|site| sleep_of(site, catalog, options.tool_calls_max));
    Preview {
        parameters: Vec::new(),
        sleeps_max_seconds: sleeps
            .chain(agents::sleeps(&agents, catalog, options))
            .reduce(u64::saturating_add),
        effects: calls.iter().map(|call| call.effect).chain(of_agents.map(|spec| spec.effect)).collect(),
        agents,
        targets,
        calls_max,
        is_unbounded: sum.is_none(),
        cost_max_micro_usd: by_call.min(dearest.saturating_mul(calls_max)),
        unpriced,
        result: PreviewArgument { shown: flow.result().shown.clone(), slice: flow.result().slice.clone() },
        gave_up: flow.gave_up(),
        calls,
        steps,
    }
}

/// The longest the calls of a site can sleep, in seconds: what the plan says, else the tool's maximum.
fn sleep_of(site: &CallSite, catalog: &Catalog, tool_calls_max: u64) -> Option<u64> {
    let most = catalog.get(&site.tool)?.sleeps_max?.as_secs_f64();
    let said = |leaf: &Leaf| match leaf {
        Leaf::Plain(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    let once = site.arguments.get(SECONDS).and_then(|argument| {
        let leaves: Option<Vec<f64>> = argument.own.iter().map(said).collect();
        leaves?.into_iter().reduce(f64::max)
    });
    let times = site.calls_max.unwrap_or(u64::MAX).min(tool_calls_max);
    let seconds = once.unwrap_or(most).clamp(0.0, most).ceil();
    // Within the bound of a sleep, which a number of seconds holds.
    Some((seconds as u64).saturating_mul(times))
}

/// The innermost step in whose function a call is written.
fn step_of(site: &CallSite, steps: &[NamedStep]) -> Option<String> {
    let around = steps.iter().filter(|step| {
        step.function.is_some_and(|function| function.0 <= site.span.0 && site.span.1 <= function.1)
    });
    let innermost = around.max_by_key(|step| step.function.map(|function| function.0))?;
    site.line.map(|_| innermost.name.clone())
}

fn call(
    site: &CallSite,
    steps: &[NamedStep],
    catalog: &Catalog,
    options: PreviewOptions<'_>,
) -> Option<PreviewCall> {
    let spec = catalog.get(&site.tool)?;
    let known = spec.parameters().map(|(name, _)| name);
    let others = site.arguments.keys().map(String::as_str).filter(|name| spec.parameter(name).is_none());
    let arguments = known
        .chain(others)
        .filter_map(|name| Some((name, site.arguments.get(name)?)))
        .map(|(name, argument)| {
            let argument = PreviewArgument { shown: argument.shown.clone(), slice: argument.slice.clone() };
            (name.to_owned(), argument)
        })
        .collect();
    let fixed = options.always.get(&site.tool).map_or(&[][..], Vec::as_slice);
    Some(PreviewCall {
        number: site.number,
        tool: site.tool.clone(),
        line: site.line,
        step: step_of(site, steps),
        effect: spec.effect,
        calls_max: site.calls_max,
        arguments,
        made: site.made.clone(),
        targets: reach::targets(site, spec, options.context, fixed),
        not_set_up: catalog.not_set_up(&site.tool).map(str::to_owned),
        forecast: None,
    })
}

impl Preview {
    /// Whether the preview said that `what` may be reached by this tool: a host, a table and so on.
    #[must_use]
    pub fn announces(&self, tool: &str, kind: TargetKind, what: &str) -> bool {
        self.calls
            .iter()
            .filter(|call| call.tool == tool)
            .flat_map(|call| &call.targets)
            .any(|target| target.covers(kind, what))
            || self.agents.iter().any(|agent| agent.announces(tool, kind, what))
    }

    /// The most calls of a tool from a line; calls from places that are not known count for each.
    /// `None` without a bound.
    #[must_use]
    pub fn calls_max_at(&self, tool: &str, line: Option<u32>) -> Option<u64> {
        self.calls
            .iter()
            .filter(|call| call.tool == tool && (line.is_none() || call.line.is_none() || call.line == line))
            .try_fold(0_u64, |sum, call| sum.checked_add(call.calls_max?))
    }
}
