//! Which rule applies to which part of an event.

use serde_json::Value as Json;

use super::marks::{Marks, Position};
use super::{RedactionScope, Redactor};
use crate::EventBody;

impl Redactor {
    /// Removes secrets from an event and returns where, as JSON pointers into it. Ids, hashes and names that
    /// luaplan generates are not searched.
    pub fn event(&self, body: &mut EventBody) -> Vec<String> {
        let mut fields = EventFields { redactor: self, marks: Marks::default() };
        fields.of(body);
        fields.marks.into_pointers()
    }
}

/// Redacts the fields of one event.
struct EventFields<'a> {
    redactor: &'a Redactor,
    marks: Marks,
}

impl EventFields<'_> {
    fn of(&mut self, body: &mut EventBody) {
        match body {
            EventBody::RunStarted {
                task,
                plan_name,
                context,
                plan_hash: _,
                limits: _,
                version: _,
                mocked: _,
                engine: _,
                isolation: _,
                context_name,
                owner: _,
                tenant: _,
                mode: _,
                parent_run_id: _,
                parent_call_id: _,
                agent: _,
                starts_over: _,
                follows: _,
                approve: _,
                plan_only: _,
                planning,
                by: _,
                os_user: _,
            } => {
                self.json("planning", planning.as_deref_mut(), RedactionScope::Arguments);
                self.text("task", task.as_mut());
                self.text("plan_name", plan_name.as_mut());
                self.text("context_name", context_name.as_mut());
                self.json("context", [context], RedactionScope::Exact);
            }
            EventBody::PromptBudgetComputed {
                parts,
                trimmed,
                tools_left_out,
                budget_tokens: _,
                used_tokens: _,
            } => {
                self.json("parts", [parts], RedactionScope::Text);
                self.text("trimmed", trimmed);
                self.text("tools_left_out", tools_left_out);
            }
            EventBody::SampleShared { from, .. } => self.text("from", [from]),
            EventBody::CandidateJudged { tests, reviewer, reason, .. } => {
                self.json("tests", tests.as_mut(), RedactionScope::Text);
                self.text("reviewer", reviewer.as_mut());
                self.text("reason", [reason]);
            }
            EventBody::LlmRequestSent { provider, model, purpose: _, attempt: _, prompt_hash: _ } => {
                self.texts([("provider", provider), ("model", model)]);
            }
            EventBody::ModelFallback { from, to, code: _ } => {
                self.texts([("from", from), ("to", to)]);
            }
            EventBody::LlmResponseReceived { provider, model, text, .. } => {
                self.texts([("provider", provider), ("model", model)]);
                self.text("text", text.as_mut());
            }
            EventBody::LlmRequestFailed { provider, model, message, code: _ } => {
                self.texts([("provider", provider), ("model", model), ("message", message)]);
            }
            EventBody::LlmText { text } | EventBody::Printed { text } => self.text("text", [text]),
            EventBody::LlmRetryScheduled { message, .. }
            | EventBody::RepairRound { message, .. }
            | EventBody::ReplanRound { message, .. }
            | EventBody::StepRetryScheduled { message, .. }
            | EventBody::SandboxViolation { message } => self.text("message", [message]),
            EventBody::PlanAccepted { steps, plan_hash: _, calls_before: _ } => {
                for step in steps {
                    self.text("steps", [&mut step.name]);
                    self.text("steps", &mut step.depends_on);
                }
            }
            EventBody::StepStarted { step, depends_on, line: _, attempts_max: _ } => {
                self.text("step", [step]);
                self.text("depends_on", depends_on);
            }
            EventBody::StepFinished { step, code, message, state: _, attempts: _ } => {
                self.text("step", [step]);
                self.text("code", code.as_mut());
                self.text("message", message.as_mut());
            }
            EventBody::SignalReceived { signal } => self.text("signal", [signal]),
            EventBody::ContextSaved { name, .. } => self.text("name", [name]),
            EventBody::RunCancelled { reason, .. }
            | EventBody::RunPaused { reason, .. }
            | EventBody::RunNotResumable { reason, .. } => {
                self.text("reason", [reason]);
            }
            EventBody::PlanProposed { source, explanation, .. } => {
                self.exact("source", source);
                self.text("explanation", explanation.as_mut());
            }
            EventBody::PlanChecked { findings, .. } => {
                self.json("findings", [findings], RedactionScope::Text);
            }
            EventBody::ToolCallStarted { tool, arguments, .. } => {
                self.text("tool", [tool]);
                self.json("arguments", [arguments], RedactionScope::Arguments);
            }
            EventBody::ToolCallFinished { tool, code, result, error, .. } => {
                self.text("tool", [tool]);
                self.text("code", code.as_mut());
                self.json("result", result.as_mut(), RedactionScope::Exact);
                self.json("error", error.as_mut(), RedactionScope::Text);
            }
            EventBody::ToolCallRefused { tool, code, error, arguments, call_id: _, line: _ } => {
                self.texts([("tool", tool), ("code", code)]);
                self.json("error", [error], RedactionScope::Text);
                self.json("arguments", [arguments], RedactionScope::Arguments);
            }
            EventBody::LimitHit { limit, observed, code: _ } => {
                self.json("limit", [limit], RedactionScope::Text);
                self.json("observed", [observed], RedactionScope::Text);
            }
            EventBody::Iteration { observation, .. } => self.text("observation", observation.as_mut()),
            EventBody::ModeChanged { by, .. } => self.text("by", by.as_mut()),
            EventBody::RunFinished { result, .. } => {
                self.json("result", [result], RedactionScope::Exact);
            }
            EventBody::RunFailed { message, error, .. } => {
                self.text("message", [message]);
                self.json("error", [error], RedactionScope::Text);
            }
            EventBody::ApprovalRequested { tool, arguments, reason, origins, .. } => {
                self.texts([("tool", tool), ("reason", reason)]);
                self.json("arguments", [arguments], RedactionScope::Arguments);
                self.json("origins", [origins], RedactionScope::Text);
            }
            EventBody::PlanApprovalRequested { effects, explanation, .. } => {
                self.text("effects", [effects]);
                self.text("explanation", explanation.as_mut());
            }
            EventBody::ApprovalResolved { tool, by, arguments, reason, .. } => {
                self.texts([("tool", tool), ("by", by)]);
                self.json("arguments", arguments.as_mut(), RedactionScope::Arguments);
                self.text("reason", reason.as_mut());
            }
            EventBody::QuestionAsked { question, choices, default, .. } => {
                self.text("question", [question]);
                self.text("choices", choices);
                self.text("default", default.as_mut());
            }
            EventBody::QuestionAnswered { answer, by, .. } => {
                self.text("answer", answer.as_mut());
                self.text("by", by.as_mut());
            }
            EventBody::GrantIssued { tool, tenant, by, .. } => {
                self.texts([("tool", tool), ("tenant", tenant), ("by", by)]);
            }
            EventBody::GrantRevoked { tool, by, .. } => self.texts([("tool", tool), ("by", by)]),
            EventBody::CallResolved { result, message, .. } => {
                self.json("result", result.as_mut(), RedactionScope::Exact);
                self.text("message", message.as_mut());
            }
            EventBody::PromptComposed { .. }
            | EventBody::SleepBegun { .. }
            | EventBody::RunSleeping { .. }
            | EventBody::AgentStarted { .. }
            | EventBody::RunResumed { .. }
            | EventBody::GracefulShutdownStarted { .. } => {}
        }
    }

    fn exact(&mut self, field: &str, text: &mut String) {
        self.redactor.string(text, RedactionScope::Exact, &Position::Top.name(field), &mut self.marks);
    }

    fn text<'t>(&mut self, field: &str, texts: impl IntoIterator<Item = &'t mut String>) {
        for text in texts {
            self.redactor.string(text, RedactionScope::Text, &Position::Top.name(field), &mut self.marks);
        }
    }

    fn texts<const N: usize>(&mut self, fields: [(&str, &mut String); N]) {
        for (field, text) in fields {
            self.text(field, [text]);
        }
    }

    fn json<'j>(
        &mut self,
        field: &str,
        documents: impl IntoIterator<Item = &'j mut Json>,
        scope: RedactionScope,
    ) {
        for document in documents {
            self.redactor.json(document, scope, &Position::Top.name(field), &mut self.marks);
        }
    }
}
