//! Which models the calls of a plan ask.

use std::collections::BTreeSet;

use luaplan_base::Value;
use luaplan_catalog::TargetKind;
use luaplan_llm::LlmSettings;
use luaplan_plan::flow::Flow;
use luaplan_plan::preview::{Preview, Target, TargetPattern, argument_targets};

/// The tool that asks a model.
pub(crate) const MODEL_TOOL: &str = "call_llm";
/// Its parameter that names one.
const MODEL: &str = "model";

/// The models that are asked where a call names none, in their order.
pub(super) fn unnamed(llm: &LlmSettings) -> Vec<(TargetKind, String)> {
    let chain = llm.chain().into_iter().filter(|llm| !llm.model.is_empty());
    chain.map(|llm| (TargetKind::Model, llm.model.clone())).collect()
}

/// Puts the models that calls name in place of those for calls that name none.
pub(super) fn name_models(preview: &mut Preview, flow: &Flow, context: Option<&Value>, llm: &LlmSettings) {
    let is_model = |target: &Target| target.kind == TargetKind::Model;
    let default = unnamed(llm).into_iter().map(|(kind, what)| exactly(kind, what)).collect::<Vec<_>>();
    let of_agents = !preview.agents.is_empty() && preview.targets.iter().any(is_model);
    preview.targets.retain(|target| !is_model(target));
    let mut all: BTreeSet<Target> = BTreeSet::new();
    if of_agents {
        all.extend(default.iter().cloned());
        all.extend(llm.models.keys().map(|name| exactly(TargetKind::Model, shown(llm, name))));
    }
    for call in preview.calls.iter_mut().filter(|call| call.tool == MODEL_TOOL) {
        let site = flow.call_sites().iter().find(|site| site.number == call.number);
        if let Some(argument) = site.and_then(|site| site.arguments.get(MODEL)) {
            call.targets.retain(|target| !is_model(target));
            let named = argument_targets(TargetKind::Model, argument, context);
            if named.is_empty() {
                call.targets.extend(default.clone());
            }
            for target in named {
                match &target.reach {
                    TargetPattern::Exactly(none) if none == "nil" => call.targets.extend(default.clone()),
                    TargetPattern::Exactly(name) => {
                        call.targets.push(exactly(TargetKind::Model, shown(llm, name)));
                    }
                    // It may be nil as well.
                    _ => {
                        call.targets.extend(default.clone());
                        call.targets.push(target);
                    }
                }
            }
            call.targets.sort();
            call.targets.dedup();
        }
        all.extend(call.targets.iter().filter(|target| is_model(target)).cloned());
    }
    preview.targets.extend(all);
    preview.targets.sort();
}

fn exactly(kind: TargetKind, what: String) -> Target {
    Target { kind, reach: TargetPattern::Exactly(what) }
}

/// A model's name with the models behind it, in the order they are asked.
fn shown(llm: &LlmSettings, name: &str) -> String {
    match llm.models.get(name) {
        Some(named) => {
            let chain: Vec<String> = named.chain().into_iter().map(LlmSettings::name).collect();
            format!("{name} ({})", chain.join(", then "))
        }
        None => name.to_owned(),
    }
}
