//! What a plan would do, for every edge that asks.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use luaplan_base::ErrorCode;
use luaplan_bus::SteeredCall;
use luaplan_catalog::TargetKind;
use luaplan_plan::draw::Graph;
use luaplan_plan::flow::analyse;
use luaplan_plan::preview::{Forecast, Preview, PreviewOptions, parameters_of, preview_of};
use luaplan_plan::{CheckInput, Finding, Severity};

use super::held::{Checked, configured, held};
use super::models::{MODEL_TOOL, name_models, unnamed};
use super::steering::{PlanInputs, Steering};
use super::world::{Foreseen, World};
use crate::agents::agents_of;
use crate::config::{Config, Environment};
use crate::tools::manifests;

/// What the check found, and what the plan would do where it may run.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// Errors and advice, in the order of the source.
    pub findings: Vec<Finding>,
    /// What would happen; `None` where the check refuses the plan.
    pub preview: Option<Preview>,
}

impl Explanation {
    /// Whether the plan may run.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.preview.is_some()
    }

    /// The computation graph, where the plan may run.
    #[must_use]
    pub fn graph(&self) -> Option<Graph> {
        self.preview.as_ref().map(Graph::of)
    }

    /// Findings, preview and graph as data.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({
            "ok": self.is_ok(),
            "findings": self.findings,
            "preview": self.preview,
            "graph": self.graph(),
        })
    }
}

/// Checks a plan and says what it would do, by what is configured and without an application. Calls nothing and opens
/// nothing.
#[must_use]
pub fn explain(config: &Config, environment: &Environment, input: &CheckInput<'_>) -> Explanation {
    configured(config, environment, input.catalog, |world| explained(config, world, input).0)
}

/// What a plan would do in the world, and what is known of its calls.
pub(crate) fn explained(
    config: &Config,
    world: &World<'_>,
    input: &CheckInput<'_>,
) -> (Explanation, Vec<Foreseen>) {
    let CheckInput { catalog, limits, context, .. } = *input;
    let Checked { report, foreseen } = held(config, world, input, Severity::Warning);
    let mut always: BTreeMap<String, Vec<(TargetKind, String)>> =
        [(MODEL_TOOL.to_owned(), unnamed(&config.llm))].into();
    always.extend(manifests::reached(config, catalog));
    let options = PreviewOptions { tool_calls_max: limits.tool_calls, context, always: &always, agents: &[] };
    let preview = report.plan.as_ref().map(|plan| {
        let flow = analyse(plan, catalog);
        let agents = agents_of(config, catalog, limits, &flow, options);
        let mut preview =
            preview_of(&flow, plan.source(), catalog, PreviewOptions { agents: &agents, ..options });
        name_models(&mut preview, &flow, context, &config.llm);
        preview.parameters = parameters_of(input.source);
        for call in &mut preview.calls {
            let site = foreseen.iter().find(|site| site.number == call.number);
            call.forecast = site.and_then(|site| site.forecast.clone());
        }
        if let Some(rules) = &config.flow {
            let steering = Steering { rules, catalog, flow: &flow, inputs: PlanInputs::default() };
            foresee_steered(&steering, &mut preview);
        }
        preview
    });
    (Explanation { findings: report.findings, preview }, foreseen)
}

/// Says of each call that untrusted data steers what will become of it, where nothing else refuses it.
fn foresee_steered(steering: &Steering<'_>, preview: &mut Preview) {
    for call in &mut preview.calls {
        let sites: Vec<_> =
            steering.flow.call_sites().iter().filter(|site| site.number == call.number).collect();
        let Some(spec) = steering.catalog.get(&call.tool) else { continue };
        let ways = steering.ways(spec, &sites);
        if ways.is_empty() || matches!(call.forecast, Some(Forecast::Refused { .. })) {
            continue;
        }
        let reason = format!("untrusted data steers it: {}", ways.join("; "));
        call.forecast = match steering.rules.steered {
            SteeredCall::Record => continue,
            SteeredCall::Ask => Some(Forecast::Asked { reason }),
            SteeredCall::Refuse => {
                Some(Forecast::Refused { code: ErrorCode::FlowRefused.as_str().to_owned(), reason })
            }
        };
    }
}
