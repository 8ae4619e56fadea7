//! A plan held against what is configured: which of its calls are refused, or asked for, whatever happens.
//!
//! The plan room finds what each argument may be; tools and policy judge. Nothing is opened and nobody is asked.

use std::sync::Arc;

use luaplan_base::{ErrorCode, ToolFailure, Value};
use luaplan_bus::{DEFAULT_RULE, ForeseenCall, Policy, PolicyDecision, Tier, Tool};
use luaplan_catalog::{Catalog, TargetKind, ToolSpec};
use luaplan_plan::flow::{Argument, CallSite, Flow, Possible};
use luaplan_plan::preview::Forecast;
use luaplan_plan::{ArgumentShape, KnownResult, Remark, Severity, is_written, written_text};

use super::results::Results;
use super::texts::{FaultyText, faulty_texts};

/// The most combinations of arguments of one place that are looked at.
const COMBINATIONS_MAX: usize = 32;

/// Failures that one argument alone decides. Only these are told where a place is refused with some of the values it may
/// have: two arguments that fit each other may be combined here as no call combines them.
const OF_TARGETS: [ErrorCode; 7] = [
    ErrorCode::RecipientDenied,
    ErrorCode::EmailInvalid,
    ErrorCode::UrlBlocked,
    ErrorCode::UrlInvalid,
    ErrorCode::DatabaseUnknown,
    ErrorCode::QueryRefused,
    ErrorCode::PermissionDenied,
];

/// What a plan is held against.
pub(crate) struct World<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) policy: Policy,
    /// The tool of that name, set up as far as it is.
    pub(crate) tool: &'a dyn Fn(&str) -> Option<Arc<dyn Tool>>,
}

/// A place of a plan that calls a tool, and what is known of its calls.
#[derive(Debug, Clone)]
pub(crate) struct Foreseen {
    /// Its number in the order of the source.
    pub(crate) number: u32,
    pub(crate) tool: String,
    pub(crate) span: (usize, usize),
    /// Every combination of arguments.
    pub(crate) calls: Vec<ForeseenCall>,
    pub(crate) forecast: Option<Forecast>,
    /// What to do about a refusal, and the text at fault.
    remedy: String,
    culprit: Option<String>,
    /// Faults in texts of its calls.
    pub(super) texts: Vec<FaultyText>,
}

struct Refusal {
    failure: ToolFailure,
    culprit: Option<String>,
}

impl World<'_> {
    /// What is known of every place that calls a tool, also by the types of arguments; nothing where the plan cannot be
    /// followed.
    pub(crate) fn foresee(&self, flow: &Flow, shapes: &[ArgumentShape]) -> Vec<Foreseen> {
        if flow.gave_up() {
            return Vec::new();
        }
        flow.call_sites().iter().filter_map(|site| self.of_site(site, shapes)).collect()
    }

    /// What the calls of a plan give, where their tools know it by the arguments.
    pub(super) fn results(&self, flow: &Flow) -> Vec<KnownResult> {
        let mut results = Results::default();
        for site in if flow.gave_up() { &[] } else { flow.call_sites() } {
            let (Some(spec), Some(tool)) = (self.catalog.get(&site.tool), (self.tool)(&site.tool)) else {
                continue;
            };
            results.add(site.span, calls_of(site, spec).iter().map(|call| tool.result_of(call)).collect());
        }
        results.into_known()
    }

    fn of_site(&self, site: &CallSite, shapes: &[ArgumentShape]) -> Option<Foreseen> {
        let spec = self.catalog.get(&site.tool)?;
        let mut calls = calls_of(site, spec);
        for shape in shapes.iter().filter(|shape| shape.call == site.span) {
            for call in &mut calls {
                call.shapes.insert(shape.parameter.clone(), shape.schema.clone());
            }
        }
        if site.calls_max == Some(0) {
            return None;
        }
        let tool = (self.tool)(&site.tool);
        let decisions: Vec<Option<PolicyDecision>> =
            calls.iter().map(|call| self.policy.foresee(spec, call)).collect();
        let mut refusals: Vec<Refusal> = Vec::new();
        for (call, decision) in calls.iter().zip(&decisions) {
            let denied = decision.as_ref().filter(|decision| decision.decision == Tier::Deny);
            if let Some(decision) = denied {
                refusals.push(Refusal { failure: decision.refusal(spec), culprit: None });
            } else if let Some(tool) = &tool
                && let Err(failure) = tool.could_ever_call(call)
            {
                refusals.push(Refusal { failure, culprit: culprit(&**tool, call) });
            }
        }
        let is_always = refusals.len() == calls.len();
        let is_told = |refusal: &Refusal| {
            is_always || OF_TARGETS.iter().any(|code| code.as_str() == refusal.failure.code)
        };
        let (forecast, remedy, culprit) = match refusals.into_iter().find(is_told) {
            Some(Refusal { failure, culprit }) => {
                let remedy = remedy(&failure);
                let (code, reason) = (failure.code, failure.message);
                let forecast = match is_always {
                    true => Forecast::Refused { code, reason },
                    false => Forecast::MayBeRefused { code, reason },
                };
                (Some(forecast), remedy, culprit)
            }
            None => (asked(&decisions), String::new(), None),
        };
        let texts = tool.map(|tool| faulty_texts(&*tool, &calls)).unwrap_or_default();
        let (number, tool, span) = (site.number, site.tool.clone(), site.span);
        Some(Foreseen { number, tool, span, calls, forecast, remedy, culprit, texts })
    }
}

impl Foreseen {
    /// The finding about a place that is refused, as bad as `severity`; advice where the value at fault is one of several
    /// that the plan puts together, as not each combination need come to the call.
    pub(crate) fn remark(&self, source: &str, severity: Severity) -> Option<Remark> {
        let tool = &self.tool;
        let (severity, message) = match self.forecast.as_ref()? {
            Forecast::Refused { code, reason } => {
                (severity, format!("this call of `{tool}` will fail with `{code}`: {reason}"))
            }
            Forecast::MayBeRefused { code, reason } => {
                let is_meant = self.culprit.as_ref().is_some_and(|text| is_written(source, text));
                let severity = if is_meant { severity } else { Severity::Warning };
                (severity, format!("this call of `{tool}` may fail with `{code}`: {reason}"))
            }
            Forecast::Asked { .. } => return None,
        };
        let written = self.culprit.as_ref().and_then(|text| written_text(source, text, self.span));
        let span = written.map_or(self.span, |written| written.span);
        Some(Remark {
            code: ErrorCode::PlanTargetRefused,
            severity,
            span,
            message,
            help: self.remedy.clone(),
        })
    }

    /// Whether nothing more has to be asked about it.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.forecast, Some(Forecast::Refused { .. }))
    }
}

/// What helps against a failure: its own words, else those of its code.
pub(crate) fn remedy(failure: &ToolFailure) -> String {
    let own = failure.details.get("help").and_then(Value::as_str).map(str::to_owned);
    own.or_else(|| Some(failure.code.parse::<ErrorCode>().ok()?.remedy().to_owned())).unwrap_or_default()
}

/// Where a person approves every one of these calls.
fn asked(decisions: &[Option<PolicyDecision>]) -> Option<Forecast> {
    let asks = |decision: &Option<PolicyDecision>| {
        decision.as_ref().is_some_and(|it| matches!(it.decision, Tier::Prompt | Tier::Manual))
    };
    let first = decisions.first()?.as_ref().filter(|_| decisions.iter().all(asks))?;
    let reason = match first.decided_by.as_deref().filter(|rule| *rule != DEFAULT_RULE) {
        Some(rule) => format!("{}, by the rule `{rule}`", first.reason),
        None => first.reason.clone(),
    };
    Some(Forecast::Asked { reason })
}

/// The text of the one argument for which the call is refused already, or the entry of its list.
fn culprit(tool: &dyn Tool, call: &ForeseenCall) -> Option<String> {
    call.known.keys().find_map(|name| {
        let only = call.only(name);
        tool.could_ever_call(&only).err()?;
        let texts: Vec<&str> = only.texts(name).collect();
        let is_at_fault = |text: &&&str| {
            let mut alone = only.clone();
            alone.known.insert(name.clone(), Value::from(**text));
            tool.could_ever_call(&alone).is_err()
        };
        texts.iter().find(is_at_fault).map(|text| (*text).to_owned())
    })
}

/// The calls that a place may make, by the values its arguments may have.
fn calls_of(site: &CallSite, spec: &ToolSpec) -> Vec<ForeseenCall> {
    // A call as the last argument may give more values than there are parameters, which are nil.
    let is_nil = |argument: &Argument| argument.possible == [Possible::Whole(Value::Null)];
    let is_other =
        |(name, argument): &(&String, &Argument)| spec.parameter(name).is_none() && !is_nil(argument);
    if site.arguments.iter().any(|argument| is_other(&argument)) {
        let open = spec.parameters().map(|(name, _)| name.to_owned()).collect();
        return vec![ForeseenCall { open, ..ForeseenCall::default() }];
    }
    let mut calls = vec![ForeseenCall::default()];
    for (name, argument) in &site.arguments {
        let target = spec.targets.get(name).copied();
        let values = argument.possible.iter().filter(|value| !is_all_arguments(value, name, spec));
        // A blank text is what a variable is set to before its value is known.
        let (blank, told): (Vec<_>, Vec<_>) = values.cloned().partition(is_blank);
        let mut values = if told.is_empty() { blank } else { told };
        if values.iter().any(|value| matches!(value, Possible::Among(_))) {
            // Each of them may be left out.
            values.push(Possible::Anything);
        }
        if calls.len() * values.len() > COMBINATIONS_MAX {
            values = vec![Possible::Anything];
        }
        let with = |call: &ForeseenCall, value: &Possible| {
            let mut call = call.clone();
            give(&mut call, name, value, target);
            call
        };
        calls = calls.iter().flat_map(|call| values.iter().map(move |value| with(call, value))).collect();
    }
    calls
}

fn is_blank(value: &Possible) -> bool {
    matches!(value, Possible::Whole(Value::String(text)) if text.trim().is_empty())
}

/// Whether a value is the table of all arguments, which to the analysis may be the first of them.
fn is_all_arguments(value: &Possible, name: &str, spec: &ToolSpec) -> bool {
    let (Possible::Whole(Value::Object(members)) | Possible::Partly(Value::Object(members))) = value else {
        return false;
    };
    members.contains_key(name) && spec.takes_as_named(members.keys().map(String::as_str))
}

fn give(call: &mut ForeseenCall, name: &str, value: &Possible, target: Option<TargetKind>) {
    let is_url = target == Some(TargetKind::Url);
    // The host of an address is known as soon as something else follows it.
    let has_host =
        |head: &str| head.split_once("://").is_some_and(|(_, rest)| rest.contains(['/', '?', '#']));
    let (known, is_whole) = match value {
        Possible::Whole(Value::Null) => return,
        Possible::Whole(value) => (value.clone(), true),
        Possible::Partly(value) => (value.clone(), false),
        Possible::Begins(head) if is_url && has_host(head) => (Value::from(head.as_str()), false),
        Possible::Among(values) if is_url || target == Some(TargetKind::Recipient) => {
            (Value::Array(values.clone()), false)
        }
        Possible::Among(_) | Possible::Begins(_) | Possible::Anything => {
            call.open.insert(name.to_owned());
            return;
        }
    };
    call.known.insert(name.to_owned(), known);
    if !is_whole {
        call.partly.insert(name.to_owned());
    }
}
