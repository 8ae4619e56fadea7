//! `GET /v1/questions` and `POST /v1/questions/{id}`: what runs ask a person, and the answers.

use std::sync::Arc;

use axum::extract::{Extension, State};
use serde_json::{Value as Json, json};

use luaplan_app::{AfterDecision, Caller};
use luaplan_base::{Error, ErrorCode, RunId};

use super::approvals::resume;
use super::dto::{AnswerBody, QuestionsQuery};
use super::extract::{JsonBody, PathText, QueryOf};
use super::problem::Problem;
use super::state::ApiState;

/// What runs ask a person: the question, the choices where there are any, and until when an answer is waited for.
#[utoipa::path(get, path = "/v1/questions", operation_id = "list_questions", tag = "approvals", params(QuestionsQuery),
    responses((status = 200, description = "`questions`: the questions nobody has answered, oldest run first"),
        (status = 400, description = "That is not a run id"), (status = 404, description = "There is no such run")))]
pub(super) async fn list(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    QueryOf(query): QueryOf<QuestionsQuery>,
) -> Result<axum::Json<Json>, Problem> {
    let run_id: Option<RunId> = query.run.as_deref().map(str::parse).transpose()?;
    let questions = state.runs.access(&caller).open_questions(run_id.as_ref()).await?;
    Ok(axum::Json(json!({ "questions": questions })))
}

/// Answer one question. The run goes on once none of its questions is open any more.
#[utoipa::path(post, path = "/v1/questions/{id}", operation_id = "answer_question", tag = "approvals",
    params(("id" = String, Path, description = "`question_id` of a question"), ("Idempotency-Key" = Option<String>, Header, description = "Repeated with the same request, it has its effect once")), request_body = AnswerBody,
    responses((status = 200, description = "`question`: with its answer; `open`: how many questions of the run are open still; `run`: `resumed`, `waits` or `left`"),
        (status = 422, description = "The `Idempotency-Key` stands for another request"),
        (status = 400, description = "A part of the request cannot be understood, or the answer is none of the choices"),
        (status = 413, description = "The body is larger than `server.body_limit`"),
        (status = 403, description = "The policy does not let this key answer"),
        (status = 404, description = "There is no such run or question"),
        (status = 409, description = "A request under the same `Idempotency-Key` is being answered, or: It was answered already (`answer` or `first` says by whom), or is no longer asked"),
        (status = 503, description = "Stopping")))]
pub(super) async fn answer(
    State(state): State<Arc<ApiState>>,
    Extension(caller): Extension<Caller>,
    PathText(id): PathText,
    JsonBody(body): JsonBody<AnswerBody>,
) -> Result<axum::Json<Json>, Problem> {
    let wants_resume = body.resume.unwrap_or(true);
    let access = state.runs.access(&caller);
    let then = if wants_resume { AfterDecision::GoesOn } else { AfterDecision::StaysPaused };
    let no_such = || Error::new(ErrorCode::NotFound, format!("there is no question `{id}`"));
    let (run_id, call_id) = id.split_once(':').ok_or_else(no_such)?;
    let run_id: RunId = run_id.parse().map_err(|_| no_such())?;
    let question = access.answer_question((&run_id, call_id), &body.answer, then).await?;
    let open = access.open_questions(Some(&run_id)).await?.len();
    let waits = open > 0 || !access.pending_approvals(Some(&run_id)).await?.is_empty();
    let run = if waits {
        "waits"
    } else if wants_resume && resume(&state, &access, run_id).await? {
        "resumed"
    } else {
        "left"
    };
    Ok(axum::Json(json!({ "question": question, "open": open, "run": run })))
}
