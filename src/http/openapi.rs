//! `/openapi.json`: the routes, described (OpenAPI 3.1).

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, Content, OpenApi as Document, Ref, RefOr, Response};
use utoipa::{Modify, OpenApi};

use super::{
    approvals, audit, dto, events, explain, grants, health, openapi_forms, questions, resume, runs, submit,
    tools,
};

const PROBLEM_SCHEMA: &str = "Problem";
const BEARER: &str = "bearer";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "luaplan",
        description = "Turns a task in plain words into a small Lua program, and runs that program safely."
    ),
    paths(
        submit::post_task,
        submit::post_run,
        runs::list,
        runs::show,
        runs::part,
        runs::call,
        runs::plan,
        runs::cancel,
        runs::pause,
        runs::mode,
        resume::reset,
        resume::resume,
        resume::replay,
        approvals::list,
        approvals::decide,
        questions::list,
        questions::answer,
        grants::list,
        grants::revoke,
        explain::graph,
        explain::explain,
        events::stream,
        tools::list,
        tools::show,
        tools::schema,
        audit::list,
        health::healthz,
        health::readyz,
        serve,
    ),
    components(schemas(
        dto::TaskBody,
        dto::RunBody,
        dto::ModeBody,
        dto::ResumeBody,
        dto::ReplayBody,
        dto::DecisionBody,
        dto::AnswerBody,
        dto::ExplainBody,
        dto::ProblemDetails
    )),
    modifiers(&Common)
)]
struct Api;

/// The OpenAPI document.
#[must_use]
pub fn document() -> Document {
    let mut document = Api::openapi();
    openapi_forms::add(&mut document);
    document
}

/// This document.
#[utoipa::path(get, path = "/openapi.json", operation_id = "openapi", tag = "health", responses((status = 200, description = "OpenAPI 3.1")))]
pub(super) async fn serve() -> axum::Json<Document> {
    axum::Json(document())
}

/// What many operations have in common.
struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut Document) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_with(Components::new).add_security_scheme(BEARER, scheme);
        for (path, item) in &mut document.paths.paths {
            let guarded = path.starts_with("/v1/");
            for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
                if guarded {
                    // Keys are needed where some are configured.
                    let either = [
                        SecurityRequirement::new::<_, [&str; 0], &str>(BEARER, []),
                        SecurityRequirement::default(),
                    ];
                    operation.security = Some(either.into());
                    for (status, meaning) in GUARDED_ANSWERS {
                        let response = RefOr::T(Response::new(meaning));
                        operation.responses.responses.entry(status.to_owned()).or_insert(response);
                    }
                }
                for (status, response) in &mut operation.responses.responses {
                    if let ("200" | "202", RefOr::T(response)) = (status.as_str(), &mut *response)
                        && response.content.is_empty()
                    {
                        let anything = RefOr::T(Content::new(None::<Ref>));
                        response.content.insert("application/json".to_owned(), anything);
                    }
                    if let (true, RefOr::T(response)) = (status.as_str() >= "400", response) {
                        let schema = Ref::from_schema_name(PROBLEM_SCHEMA);
                        let content = RefOr::T(Content::new(Some(schema)));
                        response.content.insert("application/problem+json".to_owned(), content);
                    }
                }
            }
        }
    }
}

const GUARDED_ANSWERS: [(&str, &str); 6] = [
    ("401", "No valid API key was shown"),
    ("403", "Without keys: a web page of another site sent this, or the host is not a loopback name"),
    ("408", "The request was not complete or not answered in time"),
    ("429", "The API key holds as many requests as one may"),
    ("500", "Something the service should have prevented; the log says more"),
    ("503", "No place is free for this key, or the journal does not answer"),
];
