//! Whether untrusted data steers a call of a plan: from the plan's flow and from what is configured of its sources.
//!
//! A call is steered where data that came from outside has a part in an argument that decides where the call goes, or
//! decides whether it is made. What a trusted tool gave back counts as untrusted where its own arguments do: they chose it.

use std::collections::{BTreeSet, VecDeque};

use luaplan_base::Effect;
use luaplan_bus::{Fit, Glob};
use luaplan_catalog::{ArgumentRole, Catalog, ToolKind, ToolSpec};
use luaplan_plan::flow::{CallSite, Flow, Origin};
use luaplan_plan::preview::{Target, TargetPattern, argument_targets};

use crate::config::{FlowRules, SourcePattern};

/// The name of the context among the patterns of sources.
const CONTEXT: &str = "context";

/// Built-in tools that bring in what people or models outside wrote.
const OUTSIDE: [&str; 4] = ["ask_person", "call_agent", "call_llm", "fetch_url"];

/// So many ways are told of one call.
const WAYS_MAX: usize = 5;

/// What is known of a plan besides its source.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PlanInputs {
    /// Why the context is not what a person handed over for this run; absent where it is.
    pub(crate) context_is_from: Option<&'static str>,
    /// Why what the plan's text says is not to be trusted; absent where it is.
    pub(crate) plan_is_from: Option<&'static str>,
}

/// One plan, held against the rules.
pub(crate) struct Steering<'a> {
    pub(crate) rules: &'a FlowRules,
    pub(crate) catalog: &'a Catalog,
    pub(crate) flow: &'a Flow,
    pub(crate) inputs: PlanInputs,
}

/// Whether a call of the tool is judged: what only reads changes nothing outside.
pub(crate) fn is_judged(spec: &ToolSpec) -> bool {
    spec.effect != Effect::Read
}

impl Steering<'_> {
    /// The ways on which untrusted data steers a call from one of `sites`, which are all that it may come from.
    pub(crate) fn ways(&self, spec: &ToolSpec, sites: &[&CallSite]) -> Vec<String> {
        if !is_judged(spec) {
            return Vec::new();
        }
        if self.flow.gave_up() || sites.is_empty() {
            return vec!["what reaches it could not be followed through the plan".to_owned()];
        }
        let mut ways = Vec::new();
        if let Some(why) = self.inputs.plan_is_from {
            ways.push(format!("the plan itself {why}"));
        }
        for site in sites {
            for (name, argument) in site.arguments.iter().filter(|(name, _)| self.decides(spec, name)) {
                self.follow(&format!("`{name}`"), &argument.slice.data, &mut ways);
            }
            if self.rules.control {
                self.follow("whether it is made", &site.made.control, &mut ways);
            }
        }
        ways.truncate(WAYS_MAX);
        ways
    }

    /// Whether the argument decides where a call goes. Where a tool of others does not say which of its arguments do, all may.
    fn decides(&self, spec: &ToolSpec, name: &str) -> bool {
        let says = spec.kind == ToolKind::Builtin
            || spec.arguments.values().any(|role| *role == ArgumentRole::Authority);
        if says {
            return spec.arguments.get(name) == Some(&ArgumentRole::Authority);
        }
        let full = format!("{}.{name}", spec.name);
        !self.rules.content.iter().any(|content| content.fit(&full) == Fit::Yes)
    }

    /// Adds each way from `origins` back to the first untrusted source on it.
    fn follow(&self, what: &str, origins: &BTreeSet<Origin>, ways: &mut Vec<String>) {
        let mut seen: BTreeSet<Origin> = BTreeSet::new();
        let mut open: VecDeque<(Origin, String)> =
            origins.iter().map(|origin| (origin.clone(), format!("{what} comes from"))).collect();
        while let Some((origin, way)) = open.pop_front() {
            if !seen.insert(origin.clone()) {
                continue;
            }
            let mut found = |way: String| {
                if !ways.contains(&way) {
                    ways.push(way);
                }
            };
            match &origin {
                Origin::Anything => found(format!("{way} what could not be followed through the plan")),
                Origin::Context(path) => {
                    if let Some(why) = self.inputs.context_is_from.filter(|_| !self.trusts_context()) {
                        found(format!("{way} {path}, {why}"));
                    }
                }
                Origin::Call(number) => {
                    let site = self.flow.call_sites().iter().find(|site| site.number == *number);
                    let Some(site) = site else {
                        found(format!("{way} a call that is not known"));
                        continue;
                    };
                    let way = format!("{way} {}", said(site));
                    if !self.trusts(site) {
                        found(way);
                        continue;
                    }
                    let reached = site.arguments.iter().flat_map(|(name, argument)| {
                        argument
                            .slice
                            .data
                            .iter()
                            .map(move |origin| (origin, format!("whose `{name}` comes from")))
                    });
                    let decided =
                        site.made.control.iter().map(|origin| (origin, "which is made by".to_owned()));
                    let decided = decided.filter(|_| self.rules.control);
                    open.extend(
                        reached.chain(decided).map(|(origin, how)| (origin.clone(), format!("{way}, {how}"))),
                    );
                }
            }
        }
    }

    fn trusts_context(&self) -> bool {
        self.rules.trusted.iter().any(|pattern| pattern.target.is_none() && pattern.tool.as_str() == CONTEXT)
    }

    /// Whether what a call of the site gives back is trusted.
    fn trusts(&self, site: &CallSite) -> bool {
        let Some(spec) = self.catalog.get(&site.tool) else { return false };
        let targets = targets(spec, site);
        if self.rules.untrusted.iter().any(|pattern| may_be(pattern, &site.tool, &targets)) {
            return false;
        }
        let is_ours = match spec.kind {
            ToolKind::Builtin => !OUTSIDE.contains(&site.tool.as_str()),
            ToolKind::Sql | ToolKind::Command => true,
            ToolKind::Http | ToolKind::Mcp => false,
        };
        is_ours || self.rules.trusted.iter().any(|pattern| must_be(pattern, &site.tool, &targets))
    }
}

/// What a call of the site reaches by its arguments.
fn targets(spec: &ToolSpec, site: &CallSite) -> Vec<Target> {
    let of_argument = |(name, argument)| {
        spec.targets.get(name).map(|kind| argument_targets(*kind, argument, None)).unwrap_or_default()
    };
    site.arguments.iter().flat_map(of_argument).collect()
}

fn fits(glob: &Glob, target: &Target) -> Fit {
    match &target.reach {
        TargetPattern::Exactly(known) => glob.fit(known),
        _ => Fit::Maybe,
    }
}

/// Whether the pattern may be about a call of the tool that reaches these.
fn may_be(pattern: &SourcePattern, tool: &str, targets: &[Target]) -> bool {
    pattern.tool.fit(tool) != Fit::No
        && pattern.target.as_ref().is_none_or(|glob| {
            targets.is_empty() || targets.iter().any(|target| fits(glob, target) != Fit::No)
        })
}

/// Whether the pattern is about every call of the tool that reaches these.
fn must_be(pattern: &SourcePattern, tool: &str, targets: &[Target]) -> bool {
    pattern.tool.fit(tool) == Fit::Yes
        && pattern.target.as_ref().is_none_or(|glob| {
            !targets.is_empty() && targets.iter().all(|target| fits(glob, target) == Fit::Yes)
        })
}

fn said(site: &CallSite) -> String {
    match site.line {
        Some(line) => format!("`{}`, line {line}", site.tool),
        None => format!("`{}`", site.tool),
    }
}
