//! How a run ended, in the form every edge reports.

use serde_json::{Map, Value as Json, json};

use luaplan_base::{Error, ErrorCode, Result, RunId, Usage, Value};
use luaplan_journal::RunStatus;

/// A run that has ended.
#[derive(Debug)]
pub struct RunOutcome {
    /// Which run.
    pub run_id: RunId,
    /// What `run` returned, or why it did not.
    pub result: Result<Value>,
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
    /// How it ended.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        match &self.result {
            Ok(_) => RunStatus::Succeeded,
            Err(error) if error.code() == ErrorCode::Cancelled => RunStatus::Cancelled,
            Err(error) if error.code() == ErrorCode::RunSleeping => RunStatus::Sleeping,
            Err(error)
                if matches!(
                    error.code(),
                    ErrorCode::CallInDoubt | ErrorCode::ApprovalRequired | ErrorCode::PauseRequested
                ) =>
            {
                RunStatus::Paused
            }
            Err(_) => RunStatus::Failed,
        }
    }

    /// Why it did not succeed.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.result.as_ref().err()
    }

    /// `{"run_id","status","result"|"error","usage","printed"?,"candidates"?,"explanation"?,"not_resumable"?}`.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut report = Map::new();
        report.insert("run_id".into(), self.run_id.as_str().into());
        report.insert("status".into(), self.status().as_str().into());
        match &self.result {
            Ok(value) => report.insert("result".into(), value.to_json()),
            Err(error) => report.insert("error".into(), error.to_json()),
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
