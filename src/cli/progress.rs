//! Shows the progress and the end of a run to a person.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use owo_colors::Style;
use serde_json::Value as Json;
use tracing::Level;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use luaplan_base::{CallId, ErrorCode, RunId, StepState, counted};
use luaplan_engine::RunOutcome;
use luaplan_journal::{DecisionKind, Event, EventBody, EventListener, neutralize};
use luaplan_plan::Finding;

use super::findings;
use super::output::Output;
use super::questions::asker;
use super::shortened::{Detail, all_of_call, all_of_run};
use super::sink::LogLines;

/// The most calls in doubt that are shown at once.
const CALLS_SHOWN_MAX: usize = 20;

/// The library for MCP. The failure of a call reports its errors, and it also logs in runs that
/// succeed, so it logs only where the filter names it. Its debug lines hold whole messages of MCP servers, and
/// codes that can be exchanged for tokens: they are never shown.
const MCP_LIBRARY: &str = "rmcp";

/// Starts the log to standard error, once.
pub(super) fn start_log(filter: &str, json: bool) {
    let library_max = names_library(filter).then_some(Level::INFO);
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("warn"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(|| LogLines);
    let is_shown = filter_fn(move |line| {
        !line.target().starts_with(MCP_LIBRARY) || library_max.is_some_and(|max| *line.level() <= max)
    });
    // A second start in one process, as in tests, keeps the first log.
    let _ = if json {
        builder.json().finish().with(is_shown).try_init()
    } else {
        builder.with_ansi(false).finish().with(is_shown).try_init()
    };
}

fn names_library(filter: &str) -> bool {
    filter.split(',').any(|directive| directive.trim().starts_with(MCP_LIBRARY))
}

/// Turns events into lines.
pub(super) struct EventPrinter {
    to_stdout_as_json: bool,
    to_stderr: bool,
    printed_live: Option<Arc<AtomicUsize>>,
}

impl EventPrinter {
    pub(super) fn new(output: &Output, events_as_json: bool) -> Self {
        Self {
            to_stdout_as_json: events_as_json,
            to_stderr: output.shows_progress() && !events_as_json,
            printed_live: output.printed_live(),
        }
    }

    /// The listener that prints.
    pub(super) fn listener(&self) -> EventListener {
        let (as_json, to_stderr) = (self.to_stdout_as_json, self.to_stderr);
        let printed_live = self.printed_live.clone();
        Arc::new(move |event, _| {
            let output = Output::new(false, true);
            if as_json {
                output.data_line(event);
            } else if to_stderr && let Some(line) = describe(event, Detail::Short) {
                output.note(format_args!("  {}", neutralize(&line)));
                if let (EventBody::Printed { text }, Some(shown)) = (&event.body, &printed_live) {
                    shown.fetch_add(text.len(), Ordering::Relaxed);
                }
            }
        })
    }
}

/// One line for a person; `None` where the event has nothing new.
pub(super) fn describe(event: &Event, detail: Detail) -> Option<String> {
    let line = describe_body(&event.body, detail)?;
    let line = detail.text(&line, &all_of_run(&event.run_id)).into_owned();
    Some(match &event.candidate {
        Some(candidate) => format!("{candidate}: {line}"),
        None => line,
    })
}

fn describe_body(body: &EventBody, detail: Detail) -> Option<String> {
    Some(match body {
        EventBody::LlmRequestSent { provider, model, purpose, attempt, .. } => {
            format!("… asking {provider}/{model} ({purpose}, attempt {attempt})")
        }
        EventBody::LlmRetryScheduled { wait_ms, code, .. } => {
            format!("… the model failed ({code}); trying again in {wait_ms} ms")
        }
        EventBody::ModelFallback { from, to, code } => format!("… {from} failed ({code}); asking {to}"),
        EventBody::LlmResponseReceived {
            input_tokens,
            cached_tokens,
            output_tokens,
            duration_ms,
            recorded,
            ..
        } => {
            let kind = if *recorded { "recorded reply" } else { "reply" };
            let cached =
                if *cached_tokens > 0 { format!(" ({cached_tokens} cached)") } else { String::new() };
            format!("✓ {kind}: {input_tokens} tokens in{cached}, {output_tokens} out, {duration_ms} ms")
        }
        EventBody::SampleShared { from, bytes, .. } => {
            format!("· the model sees a sample of {from} ({bytes} bytes)")
        }
        EventBody::PlanProposed { explanation: Some(explanation), .. } => {
            format!("✓ a plan; the model says: {}", explanation.trim())
        }
        EventBody::PlanChecked { ok, findings, .. } => {
            let count = findings.as_array().map_or(0, Vec::len);
            if *ok {
                "✓ the plan passed the check".to_owned()
            } else {
                format!("✗ the check has {}{}", counted(count, "finding"), named(findings, detail))
            }
        }
        EventBody::RepairRound { round, code, message, .. } if *code == ErrorCode::LlmCollapsed => {
            format!("… {message}; asking once more with a changed prompt (round {round})")
        }
        EventBody::RepairRound { round, rounds_max, message, .. } => {
            format!("… {message}; asking the model again (round {round} of {rounds_max})")
        }
        EventBody::ReplanRound { attempt, attempts_max, code, line, .. } => {
            let place = line.map_or_else(String::new, |line| format!(" on line {line}"));
            format!("… the run failed{place} ({code}); planning it anew ({attempt} of {attempts_max})")
        }
        EventBody::CandidateJudged { rank, chosen, reason, tests, mock_run, errors, warnings, .. } => {
            let mut facts = vec![reason.clone()];
            if let Some(tests) = tests {
                facts.push(format!("tests: {} passed, {} failed", tests["passed"], tests["failed"]));
            }
            if let (Some(errors), Some(warnings)) = (errors, warnings) {
                facts.push(format!(
                    "check: {}, {}",
                    counted(*errors as usize, "error"),
                    counted(*warnings as usize, "warning")
                ));
            }
            if let Some(mock_run) = mock_run {
                facts.push(format!("mock run: {mock_run}"));
            }
            let mark = if *chosen { "✓ chosen" } else { "·" };
            format!("{mark} rank {rank}: {}", facts.join("; "))
        }
        EventBody::ToolCallStarted { call_id, tool, arguments, .. } => {
            format!("→ {call_id} {tool} {}", detail.on_line(&arguments.to_string(), 90))
        }
        EventBody::ToolCallFinished { call_id, tool, ok, result_bytes, duration_ms, error, .. } => {
            match (ok, error) {
                (false, Some(error)) => {
                    format!("✗ {call_id} {tool} failed: {}", detail.on_line(&error.to_string(), 100))
                }
                _ => format!("✓ {call_id} {tool} ({result_bytes} bytes, {duration_ms} ms)"),
            }
        }
        EventBody::ToolCallRefused { call_id, tool, error, .. } => {
            format!("✗ {call_id} {tool} refused: {}", detail.on_line(&error.to_string(), 100))
        }
        EventBody::StepStarted { step, attempts_max, .. } => match attempts_max {
            0 | 1 => format!("▸ step {step}"),
            most => format!("▸ step {step} (at most {most} attempts)"),
        },
        EventBody::StepFinished { step, state, attempts, message, .. } => {
            let mark = if *state == StepState::Complete { "✓" } else { "✗" };
            let attempts = if *attempts > 1 { format!(" after {attempts} attempts") } else { String::new() };
            // What a skipped step says names it and the one it waited for.
            let why = message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
            format!("{mark} step {step} {state}{attempts}{}", detail.on_line(&why, 200))
        }
        EventBody::StepRetryScheduled { attempt, attempts_max, message } => {
            format!("… attempt {attempt} of {attempts_max} failed ({message}); trying again")
        }
        EventBody::Printed { text } => format!("│ {}", text.trim_end().replace('\n', "\n  │ ")),
        EventBody::RunResumed { calls_recorded, .. } => {
            let calls = counted(usize::try_from(*calls_recorded).unwrap_or(usize::MAX), "call");
            format!("… the run goes on; {calls} answered from the journal")
        }
        EventBody::CallResolved { call_id, resolution, .. } => format!("✓ call {call_id}: {resolution}"),
        EventBody::ApprovalRequested { call_id, tool, reason, .. } => {
            format!("? {call_id} {tool} waits for approval: {reason}")
        }
        EventBody::PlanApprovalRequested { .. } => "? the plan waits for approval".to_owned(),
        EventBody::ApprovalResolved { call_id, tool, decision, by, reason, .. } => {
            let mark = if *decision == DecisionKind::Deny { "✗" } else { "✓" };
            let reason = reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
            match call_id.as_str() {
                CallId::WHOLE_PLAN => format!("{mark} the plan: `{decision}` by {by}{reason}"),
                call_id => format!("{mark} {call_id} {tool}: `{decision}` by {by}{reason}"),
            }
        }
        EventBody::QuestionAsked { call_id, question, .. } => format!("? {}: {question}", asker(call_id)),
        EventBody::QuestionAnswered { call_id, answer, by, .. } => match (answer, by) {
            (Some(answer), Some(by)) => format!("✓ {call_id} answered by {by}: {answer}"),
            (Some(answer), None) => format!("… {call_id} nobody answered in time; taken as: {answer}"),
            (None, _) => format!("✗ {call_id} nobody answered in time"),
        },
        EventBody::GrantIssued { tool, expires_at, by, .. } => {
            format!("✓ calls of {tool} are allowed until {expires_at:.0} by {by}")
        }
        EventBody::RunSleeping { wake_at } => format!("… asleep until {wake_at:.0}"),
        EventBody::AgentStarted { call_id, agent, child_run_id } => {
            format!("→ {call_id} agent {agent} begins as run {child_run_id}")
        }
        EventBody::Iteration { iteration, iterations_max, done: None, .. } => {
            format!("… iteration {iteration} of {iterations_max} at most")
        }
        EventBody::Iteration { done: Some(done), observation, .. } => {
            let (mark, said) = if *done { ("✓", "done") } else { ("…", "not done") };
            format!("{mark} {said}: {}", observation.as_deref().unwrap_or_default())
        }
        EventBody::ModeChanged { mode, by, .. } => {
            format!("… {mode} from here on, by {}", by.as_deref().unwrap_or("somebody"))
        }
        EventBody::RunNotResumable { code, reason, .. } => {
            format!("! {code}: this run can be neither resumed nor replayed: {reason}")
        }
        EventBody::RunPaused { reason, .. } => format!("… paused: {reason}"),
        EventBody::LimitHit { code, limit, observed } => format!("✗ {code}: limit {limit}, seen {observed}"),
        _ => return None,
    })
}

/// The codes and lines of findings, shown after their number.
fn named(findings: &Json, detail: Detail) -> String {
    /// The most findings on a line.
    const NAMED_MAX: usize = 5;
    let findings: Vec<Finding> = serde_json::from_value(findings.clone()).unwrap_or_default();
    let named = |finding: &Finding| format!("{} (line {})", finding.code, finding.line);
    let most = if detail == Detail::Whole { findings.len() } else { NAMED_MAX };
    let mut texts: Vec<String> = findings.iter().take(most).map(named).collect();
    if findings.len() > most {
        texts.push("…".to_owned());
    }
    if texts.is_empty() { String::new() } else { format!(": {}", texts.join(", ")) }
}

/// The end of a run, as text or data.
pub(super) fn report(output: &Output, outcome: &RunOutcome, plan: Option<(&str, &str)>) {
    if output.is_json() {
        output.data(&outcome.to_json());
        return;
    }
    let all = all_of_run(&outcome.run_id);
    if !outcome.printed.is_empty() && !output.has_shown(&outcome.printed) {
        output.shown(&neutralize(outcome.printed.trim_end()), &all);
    }
    match &outcome.result {
        Ok(value) => output.shown_data(&value.to_json(), &all),
        Err(why) => {
            let error = why.to_error(&outcome.run_id);
            show_findings(output, &error, plan);
            show_calls(output, &outcome.run_id, &error);
            output.error_of(&error, &all);
        }
    }
    let usage = &outcome.usage;
    let summary = format!(
        "{} {} · {} · {} instructions · {} KiB · {} ms",
        outcome.run_id,
        outcome.status().as_str(),
        counted(usize::try_from(usage.tool_calls).unwrap_or(usize::MAX), "call"),
        usage.instructions,
        usage.memory_peak_bytes / 1024,
        usage.wall_ms,
    );
    let summary = match usage.rate_wait_ms {
        0 => summary,
        waited_ms => format!("{summary} · calls waited {waited_ms} ms for their rates"),
    };
    output.progress(output.paint(&summary, Style::new().dimmed()));
}

/// The calls that an error names, with what a person needs to find their effects.
fn show_calls(output: &Output, run_id: &RunId, error: &luaplan_base::Error) {
    let calls: Vec<&Json> =
        error.details().get("calls").and_then(Json::as_array).into_iter().flatten().collect();
    for call in calls.iter().take(CALLS_SHOWN_MAX) {
        let text = |name: &str| call.get(name).and_then(Json::as_str).unwrap_or_default();
        // An ignored failure is shown by its place and its error.
        if let (id @ 1.., Some(error)) = (text("call").len(), call.get("error").and_then(Json::as_str)) {
            let call_id = &text("call")[..id];
            let line = call.get("line").and_then(Json::as_u64);
            let line = line.map_or_else(String::new, |line| format!(", line {line}"));
            let error = Detail::Short.on_line(error, 200);
            output.note(neutralize(&format!(
                "  {call_id} {}{line}: {error} ({})",
                text("tool"),
                text("code")
            )));
            continue;
        }
        let call_id = text("call_id");
        output.note(neutralize(&format!("  {call_id} {}", text("tool"))));
        let Some(arguments) = call.get("arguments") else { continue };
        for line in Detail::Short.arguments(arguments, &all_of_call(run_id, call_id), |_| String::new()) {
            output.note(format_args!("  {line}"));
        }
    }
    if calls.len() > CALLS_SHOWN_MAX {
        output.note(format_args!("  … and {} more: `{}`", calls.len() - CALLS_SHOWN_MAX, all_of_run(run_id)));
    }
}

/// The findings of an error, with their plan.
pub(super) fn show_findings(output: &Output, error: &luaplan_base::Error, plan: Option<(&str, &str)>) {
    let proposed = || Some(("plan", error.details().get("plan")?.as_str()?));
    let (Some((name, source)), Some(findings)) = (plan.or_else(proposed), error.details().get("findings"))
    else {
        return;
    };
    if let Ok(findings) = serde_json::from_value::<Vec<Finding>>(findings.clone()) {
        findings::print(output, name, source, &findings);
    }
}
