//! How a run ended or was suspended, in the form every edge reports.

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use luaplan_base::{Error, ErrorCode, RunId, StepReport, Usage, Value};
use luaplan_bus::{Interruption, Suspension};
use luaplan_journal::RunStatus;

/// A run that has ended or was suspended.
#[derive(Debug)]
pub struct RunOutcome {
    /// The run.
    pub run_id: RunId,
    /// What `run` returned, or why it did not return.
    pub result: Result<Value, Interruption>,
    /// Its resource usage.
    pub usage: Usage,
    /// Its output.
    pub printed: String,
    /// The named steps that its plan reached, in their order, each as it was last reported.
    pub steps: Vec<StepReport>,
    /// The ranking of the candidates for its plan, in the order of their ids; empty where there was only
    /// one.
    pub candidates: Vec<Json>,
    /// The model's note on the plan, where this process planned it. Untrusted text.
    pub explanation: Option<String>,
    /// By how many plans it worked, where it is or was autonomous.
    pub iterations: Option<u32>,
    /// Why the run can be neither resumed nor replayed, where a removed secret prevents it.
    pub not_resumable: Option<String>,
}

impl RunOutcome {
    /// The outcome of a run that did nothing.
    #[must_use]
    pub fn of_nothing(run_id: RunId, why: impl Into<Interruption>) -> Self {
        Self {
            run_id,
            result: Err(why.into()),
            usage: Usage::default(),
            printed: String::new(),
            steps: Vec::new(),
            candidates: Vec::new(),
            explanation: None,
            iterations: None,
            not_resumable: None,
        }
    }

    /// The status of the run.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.result.as_ref().err().map_or(RunStatus::Succeeded, Interruption::status)
    }

    /// Why it is suspended, where it is.
    #[must_use]
    pub fn suspension(&self) -> Option<&Suspension> {
        self.result.as_ref().err().and_then(Interruption::suspension)
    }

    /// When it resumes by itself, where it sleeps.
    #[must_use]
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.suspension().and_then(Suspension::wake_at)
    }

    /// When it resumes without an answer, where it asks a person and waits no longer than until then.
    #[must_use]
    pub fn answer_by(&self) -> Option<Timestamp> {
        self.suspension().and_then(Suspension::answer_by)
    }

    /// Why it failed, where it did.
    #[must_use]
    pub fn failure(&self) -> Option<&Error> {
        self.result.as_ref().err().and_then(Interruption::failure)
    }

    /// The error to report in place of a result.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.result.as_ref().err().map(|why| why.to_error(&self.run_id))
    }

    /// `{"run_id","status","result"|"error","usage","iterations"?,"printed"?,"steps"?,"candidates"?,"explanation"?,"not_resumable"?}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut report = Map::new();
        report.insert("run_id".into(), self.run_id.as_str().into());
        report.insert("status".into(), self.status().as_str().into());
        match &self.result {
            Ok(value) => report.insert("result".into(), value.to_json()),
            Err(why) => report.insert("error".into(), why.to_error(&self.run_id).to_json()),
        };
        report.insert("usage".into(), serde_json::to_value(self.usage).unwrap_or_default());
        if let Some(iterations) = self.iterations {
            report.insert("iterations".into(), iterations.into());
        }
        if !self.printed.is_empty() {
            report.insert("printed".into(), self.printed.as_str().into());
        }
        if !self.steps.is_empty() {
            report.insert("steps".into(), self.steps.iter().map(step_json).collect());
        }
        if !self.candidates.is_empty() {
            report.insert("candidates".into(), self.candidates.clone().into());
        }
        if let Some(explanation) = &self.explanation {
            report.insert("explanation".into(), explanation.as_str().into());
        }
        if let Some(reason) = &self.not_resumable {
            let code = ErrorCode::RunNotResumable.as_str();
            report.insert("not_resumable".into(), json!({ "code": code, "reason": reason }));
        }
        Json::Object(report)
    }
}

/// `{"name","state","attempts","code"?,"message"?}`.
fn step_json(step: &StepReport) -> Json {
    let mut json = json!({ "name": step.name, "state": step.state, "attempts": step.attempts });
    for (name, text) in [("code", &step.code), ("message", &step.message)] {
        if let (Some(text), Some(members)) = (text, json.as_object_mut()) {
            members.insert(name.to_owned(), text.as_str().into());
        }
    }
    json
}
