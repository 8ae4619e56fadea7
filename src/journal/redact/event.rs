//! Which rule applies to which part of an event.

use super::{Redactor, Scope};
use crate::journal::EventBody;

impl Redactor {
    /// Takes the secrets out of an event. Ids, hashes and names that luaplan makes itself stay.
    pub fn event(&self, body: &mut EventBody) {
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
                planning,
                by: _,
                os_user: _,
            } => {
                if let Some(planning) = planning {
                    self.json(planning, Scope::Arguments);
                }
                self.optional(task);
                self.optional(plan_name);
                self.optional(context_name);
                self.json(context, Scope::Exact);
            }
            EventBody::PromptBudgetComputed {
                parts,
                trimmed,
                tools_left_out,
                budget_tokens: _,
                used_tokens: _,
            } => {
                self.json(parts, Scope::Text);
                trimmed.iter_mut().chain(tools_left_out).for_each(|part| self.string(part, Scope::Text));
            }
            EventBody::CandidateJudged { tests, reviewer, reason, .. } => {
                if let Some(tests) = tests {
                    self.json(tests, Scope::Text);
                }
                self.optional(reviewer);
                self.string(reason, Scope::Text);
            }
            EventBody::LlmRequestSent { provider: a, model: b, purpose: c, attempt: _ }
            | EventBody::ModelFallback { from: a, to: b, code: c } => self.strings([a, b, c]),
            EventBody::LlmResponseReceived { provider, model, text, .. } => {
                self.strings([provider, model, text]);
            }
            EventBody::LlmRequestFailed { provider, model, message, code: _ } => {
                self.strings([provider, model, message]);
            }
            EventBody::LlmText { text }
            | EventBody::Printed { text }
            | EventBody::LlmRetryScheduled { message: text, .. }
            | EventBody::RepairRound { message: text, .. }
            | EventBody::ReplanRound { message: text, .. }
            | EventBody::StepRetryScheduled { message: text, .. }
            | EventBody::SandboxViolation { message: text }
            | EventBody::SignalReceived { signal: text }
            | EventBody::ContextSaved { name: text, .. }
            | EventBody::RunCancelled { reason: text, .. } => self.string(text, Scope::Text),
            EventBody::PlanProposed { source, explanation, .. } => {
                self.string(source, Scope::Exact);
                self.optional(explanation);
            }
            EventBody::PlanChecked { findings, .. } => self.json(findings, Scope::Text),
            EventBody::ToolCallStarted { tool, arguments, .. } => {
                self.string(tool, Scope::Text);
                self.json(arguments, Scope::Arguments);
            }
            EventBody::ToolCallFinished { tool, code, result, error, .. } => {
                self.string(tool, Scope::Text);
                self.optional(code);
                if let Some(result) = result {
                    self.json(result, Scope::Exact);
                }
                if let Some(error) = error {
                    self.json(error, Scope::Text);
                }
            }
            EventBody::ToolCallRefused { tool, code, error, arguments, call_id: _ } => {
                self.strings([tool, code]);
                self.json(error, Scope::Text);
                self.json(arguments, Scope::Arguments);
            }
            EventBody::LimitHit { limit, observed, code: _ } => {
                self.json(limit, Scope::Text);
                self.json(observed, Scope::Text);
            }
            EventBody::RunFinished { result, stop_reason: _, usage: _ } => self.json(result, Scope::Exact),
            EventBody::RunFailed { message, error, .. } => {
                self.string(message, Scope::Text);
                self.json(error, Scope::Text);
            }
            EventBody::ApprovalRequested { tool, arguments, reason, origins, .. } => {
                self.strings([tool, reason]);
                self.json(arguments, Scope::Arguments);
                self.json(origins, Scope::Text);
            }
            EventBody::ApprovalResolved { tool, by, arguments, reason, .. } => {
                self.strings([tool, by]);
                if let Some(arguments) = arguments {
                    self.json(arguments, Scope::Arguments);
                }
                self.optional(reason);
            }
            EventBody::GrantIssued { tool, tenant, by, .. } => self.strings([tool, tenant, by]),
            EventBody::GrantRevoked { tool, by, .. } => self.strings([tool, by]),
            EventBody::RunPaused { reason, .. } => {
                self.string(reason, Scope::Text);
            }
            EventBody::CallResolved { result, message, .. } => {
                if let Some(result) = result {
                    self.json(result, Scope::Exact);
                }
                self.optional(message);
            }
            EventBody::PromptComposed { .. }
            | EventBody::SleepBegun { .. }
            | EventBody::RunSleeping { .. }
            | EventBody::AgentStarted { .. }
            | EventBody::Iteration { .. }
            | EventBody::PlanAccepted { .. }
            | EventBody::RunResumed { .. }
            | EventBody::GracefulShutdownStarted { .. } => {}
        }
    }

    fn strings<const N: usize>(&self, texts: [&mut String; N]) {
        for text in texts {
            self.string(text, Scope::Text);
        }
    }

    fn optional(&self, text: &mut Option<String>) {
        if let Some(text) = text {
            self.string(text, Scope::Text);
        }
    }
}
