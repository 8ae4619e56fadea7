//! Where the arguments of a call came from, by the plan's flow slices, in words.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map, Value as Json, json};
use tokio::sync::OnceCell;

use luaplan_base::CallRequest;
use luaplan_bus::{ArgumentOrigins, FlowJudge};
use luaplan_catalog::{Catalog, ToolSpec};
use luaplan_plan::CheckedPlan;
use luaplan_plan::flow::{CallSite, Flow, Origin, analyse};

use crate::config::FlowRules;
use crate::plans::steering::{PlanInputs, Steering, is_judged};

/// Follows the values of one plan. The plan is analysed when a person is first asked.
pub(crate) struct PlanOrigins {
    plan: CheckedPlan,
    catalog: Arc<Catalog>,
    flow: OnceCell<Option<Flow>>,
}

impl PlanOrigins {
    pub(crate) fn new(plan: CheckedPlan, catalog: Arc<Catalog>) -> Self {
        Self { plan, catalog, flow: OnceCell::new() }
    }

    async fn flow(&self) -> Option<&Flow> {
        let analysed = self.flow.get_or_init(|| async {
            let (plan, catalog) = (self.plan.clone(), Arc::clone(&self.catalog));
            // Plans near the size limit take seconds.
            tokio::task::spawn_blocking(move || analyse(&plan, &catalog)).await.ok()
        });
        analysed.await.as_ref()
    }
}

/// The places of the plan that the call may come from.
fn sites_of<'f>(flow: &'f Flow, call: &CallRequest) -> Vec<&'f CallSite> {
    let is_here = |site: &&CallSite| {
        site.tool == call.tool && (site.line.is_none() || call.line.is_none() || site.line == call.line)
    };
    flow.call_sites().iter().filter(is_here).collect()
}

/// Judges whether untrusted data steers the calls of one plan.
pub(crate) struct PlanSteering {
    pub(crate) origins: Arc<PlanOrigins>,
    pub(crate) rules: FlowRules,
    pub(crate) inputs: PlanInputs,
}

#[async_trait]
impl FlowJudge for PlanSteering {
    async fn untrusted_ways(&self, call: &CallRequest, spec: &ToolSpec) -> Vec<String> {
        if !is_judged(spec) {
            return Vec::new();
        }
        let Some(flow) = self.origins.flow().await else {
            return vec!["the plan could not be analysed".to_owned()];
        };
        let steering =
            Steering { rules: &self.rules, catalog: &self.origins.catalog, flow, inputs: self.inputs };
        steering.ways(spec, &sites_of(flow, call))
    }
}

#[async_trait]
impl ArgumentOrigins for PlanOrigins {
    async fn of(&self, call: &CallRequest) -> Json {
        let Some(flow) = self.flow().await.filter(|flow| !flow.gave_up()) else { return Json::Null };
        let here = sites_of(flow, call);
        if here.is_empty() {
            return Json::Null;
        }
        let mut arguments = Map::new();
        for name in here.iter().flat_map(|site| site.arguments.keys()) {
            let data =
                here.iter().filter_map(|site| site.arguments.get(name)).flat_map(|found| &found.slice.data);
            let origins = in_words(flow, data);
            let from = if origins.is_empty() { json!(["written in the plan"]) } else { json!(origins) };
            arguments.entry(name.clone()).or_insert(from);
        }
        let decided_by = in_words(flow, here.iter().flat_map(|site| &site.made.control));
        json!({ "arguments": arguments, "decided_by": decided_by })
    }
}

fn in_words<'o>(flow: &Flow, origins: impl Iterator<Item = &'o Origin>) -> Vec<String> {
    let origins: BTreeSet<&Origin> = origins.collect();
    let say = |origin: &Origin| match origin {
        Origin::Context(path) => path.to_string(),
        Origin::Call(number) => match flow.call_sites().iter().find(|site| site.number == *number) {
            Some(CallSite { tool, line: Some(line), .. }) => format!("the result of {tool}, line {line}"),
            Some(site) => format!("the result of {}", site.tool),
            None => format!("the result of call {number}"),
        },
        Origin::Anything => "anything".to_owned(),
    };
    origins.into_iter().map(say).collect()
}
