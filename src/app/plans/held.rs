//! A check that knows what is configured.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use luaplan_base::ErrorCode;
use luaplan_bus::{Circumstances, Policy, Tool};
use luaplan_catalog::Catalog;
use luaplan_plan::flow::analyse_source;
use luaplan_plan::{CheckInput, CheckReport, Severity, check_with};

use super::world::{Foreseen, World};
use crate::config::{Config, Environment};
use crate::tools::assemble;

/// What a check found, and what is known of the plan's calls.
pub(crate) struct Checked {
    pub(crate) report: CheckReport,
    pub(crate) foreseen: Vec<Foreseen>,
}

/// Checks a plan and holds it against the world.
pub(crate) fn held(config: &Config, world: &World<'_>, input: &CheckInput<'_>, refused: Severity) -> Checked {
    let is_within = input.source.len() as u64 <= input.limits.source_bytes;
    let flow = is_within.then(|| analyse_source(input.source, input.catalog));
    // Of a source that cannot be read the flow knows no call.
    let mut results = flow.as_ref().map_or_else(Vec::new, |flow| world.results(flow));
    results.extend_from_slice(input.results);
    let known = CheckInput { results: &results, ..*input };
    let report = config.sandbox.judge(check_with(&known), input.source);
    let is_read = report.errors().all(|error| error.code != ErrorCode::PlanSyntax.as_str());
    let Some(flow) = flow.filter(|_| is_read) else {
        return Checked { report, foreseen: Vec::new() };
    };
    let mut foreseen = world.foresee(&flow, &report.shapes);
    // A call that is wrong in itself is looked at when it is right.
    foreseen.retain(|site| {
        !report.errors().any(|error| site.span.0 <= error.span.0 && error.span.1 <= site.span.1)
    });
    let remarks = foreseen
        .iter()
        .flat_map(|site| {
            site.remark(input.source, refused).into_iter().chain(site.text_remarks(input.source, refused))
        })
        .collect();
    Checked { report: report.with_remarks(input.source, remarks), foreseen }
}

/// Checks a plan by what is configured, without an application. Opens nothing.
#[must_use]
pub fn check_configured(config: &Config, environment: &Environment, input: &CheckInput<'_>) -> CheckReport {
    configured(config, environment, input.catalog, |world| {
        held(config, world, input, Severity::Warning).report
    })
}

/// Looks at what is configured, for the command line's own tenant. Tools are made as plans call them.
pub(crate) fn configured<T>(
    config: &Config,
    environment: &Environment,
    catalog: &Catalog,
    look: impl FnOnce(&World<'_>) -> T,
) -> T {
    let made: RefCell<HashMap<String, Option<Arc<dyn Tool>>>> = RefCell::default();
    let tool = |name: &str| {
        let mut made = made.borrow_mut();
        let make = || assemble::set_up(config, environment, catalog.get(name)?);
        made.entry(name.to_owned()).or_insert_with(make).clone()
    };
    look(&World { catalog, policy: policy_of(config, Circumstances::default()), tool: &tool })
}

/// What a run of these circumstances may do by the policy file.
pub(crate) fn policy_of(config: &Config, circumstances: Circumstances) -> Policy {
    Policy { rules: config.policy.clone(), circumstances, ..Policy::registered_tools() }
}
