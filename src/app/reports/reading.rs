//! Reading on what an answer about a run was too short for.

use serde_json::{Value as Json, json};

use luaplan_base::{Result, RunId};

use super::parts::{ReadOn, check_path, part_at};
use crate::Access;

/// Which part of what is known of a run.
#[derive(Debug, Clone)]
pub struct PartRequest {
    /// JSON pointer (RFC 6901) into the run as its report has it, with `/plan`, `/calls/ID` and `/records/SEQUENCE`
    /// beside that.
    pub path: String,
    /// From which item, member or byte on.
    pub offset: usize,
    /// The most bytes of the answer.
    pub bytes_max: usize,
}

impl PartRequest {
    /// What is read where no path is named.
    pub const DEFAULT_PATH: &'static str = "/result";
}

impl Access<'_> {
    /// A part of what is known of a run, with the offset of the next one: see [`part_at`].
    ///
    /// # Errors
    /// `not_found` for a run that the caller's tenant does not have, and for a path that leads nowhere; `forbidden` without
    /// `runs:read`, or without `audit:read` for `/records`; `bad_request` for a path or an offset that cannot be.
    pub async fn part(&self, run_id: &RunId, request: &PartRequest, read_on: &ReadOn<'_>) -> Result<Json> {
        let PartRequest { path, offset, bytes_max } = request;
        check_path(path)?;
        let document = self.document(run_id, path).await?;
        let mut part = part_at(&document, path, *offset, *bytes_max, read_on)?;
        if let Some(members) = part.as_object_mut() {
            members.shift_insert(0, "run_id".into(), json!(run_id));
        }
        Ok(part)
    }

    /// The document that `path` leads into.
    async fn document(&self, run_id: &RunId, path: &str) -> Result<Json> {
        let mut names = path.split('/').skip(1).map(|name| name.replace("~1", "/").replace("~0", "~"));
        match (names.next().as_deref(), names.next()) {
            (Some("plan"), _) => Ok(json!({ "plan": self.plan_source(run_id).await? })),
            (Some("calls"), Some(call)) => {
                let report = serde_json::to_value(self.call(run_id, &call).await?).unwrap_or_default();
                Ok(json!({ "calls": { call: report } }))
            }
            (Some("records"), Some(sequence)) => {
                let record = self.record(run_id, &sequence).await?;
                Ok(json!({ "records": { sequence: record } }))
            }
            _ => self.report(run_id).await,
        }
    }
}
