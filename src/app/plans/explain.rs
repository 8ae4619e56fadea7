//! What a plan would do, for every edge that asks.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use luaplan_base::{Limits, Value};
use luaplan_catalog::{Catalog, TargetKind};
use luaplan_plan::draw::Graph;
use luaplan_plan::flow::analyse;
use luaplan_plan::preview::{Preview, PreviewOptions, preview_of};
use luaplan_plan::{CheckInput, Finding, check_with};

use crate::agents::agents_of;
use crate::config::Config;
use crate::tools::manifests;

/// The tool that asks the configured model, whatever its arguments are.
const MODEL_TOOL: &str = "call_llm";

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

/// Checks a plan and says what it would do. Calls nothing and opens nothing.
#[must_use]
pub fn explain(
    config: &Config,
    catalog: &Catalog,
    plan: (&str, &str),
    limits: &Limits,
    context: Option<&Value>,
) -> Explanation {
    let (name, source) = plan;
    let input = CheckInput { source, name, catalog, limits, context, task: None };
    let report = config.sandbox.judge(check_with(&input), source);
    let models: Vec<(TargetKind, String)> = (config.llm.chain().into_iter())
        .filter(|llm| !llm.model.is_empty())
        .map(|llm| (TargetKind::Model, llm.model.clone()))
        .collect();
    let mut always: BTreeMap<String, Vec<(TargetKind, String)>> = [(MODEL_TOOL.to_owned(), models)].into();
    always.extend(manifests::reached(config, catalog));
    let options = PreviewOptions { tool_calls_max: limits.tool_calls, context, always: &always, agents: &[] };
    let preview = report.plan.as_ref().map(|plan| {
        let flow = analyse(plan, catalog);
        let agents = agents_of(config, catalog, limits, &flow, options);
        preview_of(&flow, catalog, PreviewOptions { agents: &agents, ..options })
    });
    Explanation { findings: report.findings, preview }
}
