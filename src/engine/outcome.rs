//! How a run ended or came to rest, in the form every edge reports.

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use luaplan_base::{Error, ErrorCode, RunId, Usage, Value};
use luaplan_bus::{Interruption, Suspension};
use luaplan_journal::RunStatus;

/// A run that has ended, or was put to rest.
#[derive(Debug)]
pub struct RunOutcome {
    /// Which run.
    pub run_id: RunId,
    /// What `run` returned, or why it did not.
    pub result: Result<Value, Interruption>,
    /// What it used.
    pub usage: Usage,
    /// All it printed.
    pub printed: String,
    /// How the candidates for its plan were judged, in the order of their ids; empty where there was
    /// nothing to choose.
    pub candidates: Vec<Json>,
    /// What the model said about the plan, where this process planned it. Untrusted text.
    pub explanation: Option<String>,
    /// Why the run can be neither resumed nor replayed, where a secret that is not on record is the reason.
    pub not_resumable: Option<String>,
}

impl RunOutcome {
    /// A run that did nothing.
    #[must_use]
    pub fn of_nothing(run_id: RunId, why: impl Into<Interruption>) -> Self {
        Self {
            run_id,
            result: Err(why.into()),
            usage: Usage::default(),
            printed: String::new(),
            candidates: Vec::new(),
            explanation: None,
            not_resumable: None,
        }
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        self.result.as_ref().err().map_or(RunStatus::Succeeded, Interruption::status)
    }

    /// Why it is at rest, where it is.
    #[must_use]
    pub fn suspension(&self) -> Option<&Suspension> {
        self.result.as_ref().err().and_then(Interruption::suspension)
    }

    /// When it goes on by itself, where it sleeps.
    #[must_use]
    pub fn wake_at(&self) -> Option<Timestamp> {
        self.suspension().and_then(Suspension::wake_at)
    }

    /// Why it failed, where it did.
    #[must_use]
    pub fn failure(&self) -> Option<&Error> {
        self.result.as_ref().err().and_then(Interruption::failure)
    }

    /// What there is to tell in place of a result.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        self.result.as_ref().err().map(|why| why.to_error(&self.run_id))
    }

    /// `{"run_id","status","result"|"error","usage","printed"?,"candidates"?,"explanation"?,"not_resumable"?}`.
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
        if !self.printed.is_empty() {
            report.insert("printed".into(), self.printed.as_str().into());
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
