//! The page `luaplan show RUN` prints.

use serde_json::{Map, Value as Json};

use luaplan_app::cannot_go_on;
use luaplan_base::{ErrorCode, RunId};
use luaplan_bus::LOCAL_TENANT;
use luaplan_journal::{CallState, EventBody, Record, RunState, RunStatus, neutralize};
use luaplan_plan::Finding;

use crate::cli::findings;
use crate::cli::output::Output;
use crate::cli::progress::describe;
use crate::cli::questions;
use crate::cli::shortened::{Detail, PAGE_LINES_MAX, all_of_call, all_of_run};

/// A run, for people.
pub(super) struct Page<'a> {
    pub(super) output: &'a Output,
    pub(super) run_id: &'a RunId,
    pub(super) detail: Detail,
    /// Whether the run has no recorded end and no process.
    pub(super) is_left_behind: bool,
}

impl Page<'_> {
    pub(super) fn print(&self, plan: Option<&str>, records: &[Record]) {
        self.output.line(format_args!("run {}", self.run_id));
        self.beginning(records);
        self.context(records);
        if let Some(plan) = plan {
            self.output.heading("plan");
            let lines = plan.lines().enumerate();
            let lines = lines.map(|(index, line)| format!("{:>4}  {}", index + 1, neutralize(line)));
            self.lines(&lines.collect::<Vec<_>>(), &format!("luaplan show {} --plan", self.run_id));
        }
        self.output.heading("what happened");
        let happened = records.iter().filter_map(|record| {
            let line = describe(&record.event, self.detail)?;
            Some(format!("{:.3}  {}", record.event.at, neutralize(&line)))
        });
        self.lines(&happened.collect::<Vec<_>>(), &all_of_run(self.run_id));
        let Some(state) = RunState::fold(records) else { return };
        self.steps(&state);
        if state.status == RunStatus::Running {
            self.running();
        } else if let Some(record) = records.iter().rev().find(|record| record.event.body.ends_run()) {
            // A resumed run has earlier ends, which no longer count.
            self.end(&record.event.body, plan, records);
        }
        if let Some(wake_at) = state.wake_at {
            self.output.heading("asleep");
            let run_id = self.run_id;
            self.output.line(format_args!(
                "until {wake_at:.0}; `luaplan resume {run_id}` waits until then and resumes it"
            ));
        }
        if state.status == RunStatus::Paused {
            self.paused(&state);
        }
    }

    /// The context that the run began with, where all of it is shown.
    fn context(&self, records: &[Record]) {
        let started = records.iter().find_map(|record| match &record.event.body {
            EventBody::RunStarted { context, .. } => Some(context),
            _ => None,
        });
        let is_empty = |context: &&Json| context.as_object().is_some_and(Map::is_empty);
        let Some(context) = started.filter(|_| self.detail == Detail::Whole).filter(|it| !is_empty(it))
        else {
            return;
        };
        self.output.heading("context");
        let text = serde_json::to_string_pretty(context).unwrap_or_default();
        self.output.line(neutralize(&text));
    }

    fn beginning(&self, records: &[Record]) {
        for record in records {
            let EventBody::RunStarted {
                task,
                plan_name,
                mocked,
                plan_only,
                parent_run_id,
                agent,
                starts_over,
                follows,
                tenant,
                ..
            } = &record.event.body
            else {
                continue;
            };
            if let Some(tenant) = tenant.as_deref().filter(|tenant| *tenant != LOCAL_TENANT) {
                self.output.line(neutralize(&format!("of the tenant {tenant}")));
            }
            if let (Some(parent), Some(agent)) = (parent_run_id, agent) {
                self.output.line(format_args!("agent {agent}, called by run {parent}"));
            }
            if let Some(first) = starts_over {
                self.output.line(format_args!("starts over run {first}"));
            }
            if let Some(first) = follows {
                self.output.line(format_args!("changes the plan of run {first}"));
            }
            let (kind, name) = if task.is_some() { ("task", task) } else { ("plan", plan_name) };
            let mark = match (mocked, plan_only) {
                (true, _) => " (mocked: nothing reached the world, calls are not recorded)",
                (false, true) => " (nothing of a plan is run)",
                (false, false) => "",
            };
            let name = neutralize(name.as_deref().unwrap_or_default());
            let name = self.detail.text(&name, &all_of_run(self.run_id));
            self.output.line(format_args!("{kind}: {name}{mark}"));
        }
    }

    /// The lines of a part, or the first and the last of them where there are too many.
    fn lines(&self, lines: &[String], all: &str) {
        let kept = match self.detail {
            Detail::Short if lines.len() > PAGE_LINES_MAX => PAGE_LINES_MAX / 2,
            _ => lines.len(),
        };
        let (first, rest) = lines.split_at(kept);
        let last = rest.split_at(rest.len().saturating_sub(kept)).1;
        for line in first {
            self.output.line(line);
        }
        if rest.len() > last.len() {
            self.output.line(format_args!("      … {} more lines: `{all}`", rest.len() - last.len()));
        }
        for line in last {
            self.output.line(line);
        }
    }

    fn steps(&self, state: &RunState) {
        if state.steps.is_empty() {
            return;
        }
        self.output.heading("steps");
        let lines = state.steps.iter().map(|step| {
            let line = step.line.map_or_else(String::new, |line| format!("  line {line}"));
            let depends_on = match step.depends_on.as_slice() {
                [] => String::new(),
                names => format!("  after {}", names.join(", ")),
            };
            let code = step.code.as_deref().map_or_else(String::new, |code| format!("  {code}"));
            neutralize(&format!("  {:<9} {}{line}{depends_on}{code}", step.state, step.name))
        });
        self.lines(&lines.collect::<Vec<_>>(), &all_of_run(self.run_id));
    }

    fn running(&self) {
        let run_id = self.run_id;
        self.output.heading("running");
        if self.is_left_behind {
            self.output.line(format_args!(
                "its process is gone; `luaplan resume {run_id}` goes on with it, `luaplan cancel {run_id}` ends it"
            ));
        } else {
            self.output.line(format_args!("no end is on record yet; `luaplan cancel {run_id}` ends it"));
        }
    }

    fn end(&self, end: &EventBody, plan: Option<&str>, records: &[Record]) {
        let (output, all) = (self.output, all_of_run(self.run_id));
        match end {
            EventBody::RunFinished { result, .. } => {
                output.heading("result");
                output.part_data(result, self.detail, &all);
            }
            EventBody::RunFailed { code, message, .. } => {
                output.heading("failed");
                output.part(&format!("{code}: {}", neutralize(message)), self.detail, &all);
                let of_check = [ErrorCode::CheckRefused, ErrorCode::LlmCollapsed];
                if of_check.iter().any(|known| code == known) {
                    print_findings(output, plan, records);
                }
            }
            EventBody::RunCancelled { reason, .. } => {
                output.heading("cancelled");
                output.part(&neutralize(reason), self.detail, &all);
            }
            _ => {}
        }
    }

    /// What a paused run waits for, and the commands for the decision.
    fn paused(&self, state: &RunState) {
        let (output, run_id) = (self.output, self.run_id);
        output.heading("paused");
        output.part(
            &neutralize(state.paused.as_deref().unwrap_or_default()),
            self.detail,
            &all_of_run(run_id),
        );
        if let Some(error) = cannot_go_on(state) {
            output.line(format_args!("{}; {}", neutralize(error.message()), error.help()));
            return;
        }
        let in_doubt: Vec<&CallState> = state.calls_in_doubt().collect();
        for call in &in_doubt {
            self.call(call.call_id.as_str(), &call.tool, &call.arguments);
        }
        let mut has_paused_agent = false;
        for call in state.calls.iter().filter(|call| call.is_suspended()) {
            if let Some(child) = &call.child_run_id {
                has_paused_agent = true;
                output.line(format_args!("  {} {} waits: `luaplan show {child}`", call.call_id, call.tool));
            }
        }
        let questions: Vec<_> = state.open_questions().collect();
        for asked in &questions {
            output.line(questions::describe(run_id, asked));
        }
        let mut example = None;
        for request in state.pending_approvals() {
            example = example.or(Some(&request.call_id));
            if request.plan.is_some() {
                continue;
            }
            self.call(request.call_id.as_str(), &request.tool, &request.arguments);
        }
        let lists = format!("`luaplan approve {run_id}` lists what waits for a person, and how to decide");
        if let Some(call) = example {
            output.line(format_args!("{lists}, for example `luaplan approve {run_id} {call}`"));
            return;
        }
        if !questions.is_empty() {
            return;
        }
        // Whether an agent's run waits for a person stands in its own records.
        if has_paused_agent {
            output.line(format_args!("{lists}; then resume it: `luaplan resume {run_id}`"));
            return;
        }
        let Some(first) = in_doubt.first() else {
            output.line(format_args!("resume it: `luaplan resume {run_id}`"));
            return;
        };
        let call = &first.call_id;
        output.line(format_args!(
            "look whether it happened, then resume: `luaplan resume {run_id} --retry {call}` makes it again, \
             `--done {call}=JSON` takes it as done with that result, `--failed {call}=REASON` as not done"
        ));
    }

    fn call(&self, call_id: &str, tool: &str, arguments: &serde_json::Value) {
        self.output.line(format_args!("  {call_id} {tool}"));
        for line in self.detail.arguments(arguments, &all_of_call(self.run_id, call_id), |_| String::new()) {
            self.output.line(format_args!("  {line}"));
        }
    }
}

/// The findings of the check that refused the last plan.
fn print_findings(output: &Output, plan: Option<&str>, records: &[Record]) {
    let last = records.iter().rev().find_map(|record| match &record.event.body {
        EventBody::PlanChecked { ok: false, findings, .. } => Some(findings),
        _ => None,
    });
    let findings: Option<Vec<Finding>> =
        last.and_then(|findings| serde_json::from_value(findings.clone()).ok());
    findings::print(output, "the plan", plan.unwrap_or_default(), &findings.unwrap_or_default());
}
