//! `GET /v1/approvals` and `POST /v1/approvals/{id}`: calls and plans that wait for a person, and decisions about them.

use std::sync::Arc;

use axum::extract::{Extension, State};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use luaplan_app::{Access, AfterDecision, ApprovalAnswer, Caller, ResumeRequest};
use luaplan_base::{Error, ErrorCode, Result, RunId, Value, parse_duration};

use super::dto::{ApprovalsQuery, DecisionBody};
use super::extract::{JsonBody, PathText, QueryOf};
use super::problem::Problem;
use super::shortened;
use super::state::ApiState;

/// The calls that wait for a person: exactly what would be called, where each argument came from, and why
/// it is asked; and the plans of tasks that wait, each with `plan`.
#[utoipa::path(get, path = "/v1/approvals", operation_id = "list_approvals", tag = "approvals", params(ApprovalsQuery),
    responses((status = 200, description = "`approvals`: the requests nobody has decided, oldest run first"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    QueryOf(query): QueryOf<ApprovalsQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let run_id: Option<RunId> = query.run.as_deref().map(str::parse).transpose()?;
    let approvals = state.runs.access(&caller).pending_approvals(run_id.as_ref()).await?;
    let approvals = shortened::approvals(serde_json::to_value(approvals).unwrap_or_default());
    Ok(axum::Json(json!({ "approvals": approvals })))
}

/// Decide about one call, or about the plan of a task. The run goes on once none of its calls waits any more.
#[utoipa::path(post, path = "/v1/approvals/{id}", operation_id = "decide_approval", tag = "approvals",
    params(("id" = String, Path, description = "`approval_id` of a request"), ("Idempotency-Key" = Option<String>, Header, description = "Repeated with the same request, it has its effect once")), request_body = DecisionBody,
    responses((status = 200, description = "`approval`: what was decided; `pending`: how many calls of the run still wait; `run`: `resumed`, `waits` or `left`"),
        (status = 422, description = "The `Idempotency-Key` stands for another request, or: The check refused the edited plan; `findings` says why"),
        (status = 400, description = "A part of the request cannot be understood, or the arguments do not fit"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 403, description = "The policy denies the edited arguments, or does not let this key decide"),
        (status = 404, description = "There is no such run or request"),
        (status = 409, description = "A request under the same `Idempotency-Key` is being answered, or: It was decided already (`decision` or `first` says by whom and how), or the call is no longer wanted"),
        (status = 503, description = "Stopping")))]
pub(super) async fn decide(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    PathText(id): PathText,
    JsonBody(body): JsonBody<DecisionBody>,
) -> Result<axum::Json<Json>, Problem> {
    let wants_resume = body.resume.unwrap_or(true);
    let access = state.runs.access(&caller);
    let then = if wants_resume { AfterDecision::GoesOn } else { AfterDecision::StaysPaused };
    let approval = access.decide(&id, answer(body)?, then).await?;
    let run_id: RunId = id.split(':').next().unwrap_or_default().parse()?;
    let pending = access.pending_approvals(Some(&run_id)).await?.len();
    let run = if pending > 0 {
        "waits"
    } else if wants_resume && resume(&state, &access, run_id).await? {
        "resumed"
    } else {
        "left"
    };
    Ok(axum::Json(json!({ "approval": approval, "pending": pending, "run": run })))
}

/// Resumes the run; `false` where another process does, or where it has not paused yet and continues by itself.
pub(super) async fn resume(state: &Arc<ApiState>, access: &Access<'_>, run_id: RunId) -> Result<bool> {
    let request = ResumeRequest::new(run_id, CancellationToken::new());
    let run_id = request.run_id.clone();
    match access.resume_decided(request).await {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(error.code(), ErrorCode::TooManyRequests | ErrorCode::ShuttingDown)
                && state.app.history().shares_runs() =>
        {
            state.runs.leave_to_others(&run_id).await
        }
        // The decision is on record; the run is resumed when a place is free, or when a service starts.
        Err(error) if is_for_later(error.code()) => {
            if error.code() == ErrorCode::TooManyRequests {
                state.runs.take_up_later(run_id).await?;
            }
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn is_for_later(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::RunActive
            | ErrorCode::RunNotResumable
            | ErrorCode::TooManyRequests
            | ErrorCode::ShuttingDown
    )
}

fn answer(body: DecisionBody) -> Result<ApprovalAnswer> {
    let bad = |message: &str| Err(Error::new(ErrorCode::BadRequest, message));
    let edit = edit(body.arguments, body.set, body.merge)?;
    match (body.decision.as_str(), body.time, edit, body.reason) {
        ("once", None, None, None) => Ok(ApprovalAnswer::Once),
        ("for", Some(time), None, None) => {
            let time = parse_duration(&time).map_err(|error| {
                Error::new(ErrorCode::BadRequest, format!("`for`: {}", error.message()))
                    .with_help("write a duration with its unit: `1h`")
            })?;
            Ok(ApprovalAnswer::For(time))
        }
        ("edit", None, Some(edit), None) => Ok(edit),
        ("deny", None, None, Some(reason)) => Ok(ApprovalAnswer::Deny(reason)),
        ("once" | "for" | "edit" | "deny", ..) => bad(
            "`for` goes with the decision `for`, one of `arguments`, `set` and `merge` with `edit`, `reason` with `deny`, each needed there",
        ),
        (other, ..) => bad(&format!("`decision` is `{other}`, expected `once`, `for`, `edit` or `deny`")),
    }
}

/// The edit a body holds, in one of its three forms.
fn edit(
    whole: Option<Json>,
    set: Option<serde_json::Map<String, Json>>,
    merge: Option<Json>,
) -> Result<Option<ApprovalAnswer>> {
    Ok(match (whole, set, merge) {
        (None, None, None) => None,
        (Some(whole), None, None) => Some(ApprovalAnswer::Edit(Value::from_json(whole)?)),
        (None, Some(set), None) => {
            let values = set.into_iter().map(|(name, value)| Ok((name, Value::from_json(value)?)));
            Some(ApprovalAnswer::Set(values.collect::<Result<_>>()?))
        }
        (None, None, Some(merge)) => Some(ApprovalAnswer::Merge(Value::from_json(merge)?)),
        _ => {
            let message = "`arguments`, `set` and `merge` are three forms of one edit";
            return Err(Error::new(ErrorCode::BadRequest, message)
                .with_help("give one: all arguments, single ones to change, or a merge patch"));
        }
    })
}
