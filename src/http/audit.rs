//! `GET /v1/audit`.

use std::sync::Arc;

use axum::extract::State;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::dto::AuditQuery;
use super::extract::QueryOf;
use super::problem::Problem;
use super::runs::bounded;
use super::state::ApiState;
use crate::base::{Error, ErrorCode, Result};
use crate::journal::{JournalRead as _, RecordFilter};

const LIST_DEFAULT: u32 = 100;
const LIST_MAX: u32 = 1000;

/// Records of the audit log, oldest first; `next` goes into `after` for the following page.
#[utoipa::path(get, path = "/v1/audit", tag = "audit", params(AuditQuery),
    responses((status = 200, description = "`records`, and `next` where there may be more"), 
        (status = 400, description = "A part of the request cannot be understood")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    QueryOf(query): QueryOf<AuditQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let limit = bounded(query.limit, LIST_DEFAULT, LIST_MAX)?;
    let ok = match query.outcome.as_deref() {
        None => None,
        Some("ok") => Some(true),
        Some("failed") => Some(false),
        Some(other) => {
            let message = format!("`outcome` is `{other}`, expected `ok` or `failed`");
            return Err(Error::new(ErrorCode::BadRequest, message).into());
        }
    };
    let filter = RecordFilter {
        run_id: query.run.as_deref().map(str::parse).transpose()?,
        tool: query.tool,
        events: query.event.into_iter().collect(),
        ok,
        since: instant("since", query.since.as_deref())?,
        until: instant("until", query.until.as_deref())?,
        after_sequence: query.after,
        limit: Some(limit),
        newest_first: false,
    };
    let records = state.app.journal().records(filter).await?;
    let full = u32::try_from(records.len()).is_ok_and(|count| count == limit);
    let next = records.last().filter(|_| full).map(|record| record.sequence);
    Ok(axum::Json(json!({ "records": records, "next": next })))
}

fn instant(name: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    text.map(str::parse).transpose().map_err(|_| {
        Error::new(ErrorCode::BadRequest, format!("`{name}` is not an instant"))
            .with_help("write it by RFC 3339: `2026-01-31T10:00:00Z`")
    })
}
