//! Bearer API keys (RFC 6750).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use luaplan_app::Caller;
use luaplan_base::{Error, ErrorCode};

use super::origin;
use super::problem::Problem;
use super::state::ApiState;

/// Admits a request with a configured key; where no keys are configured, a request from this
/// machine that no web page of another site sent.
pub(super) async fn require_key(
    State(state): State<Arc<ApiState>>,
    mut request: Request,
    next: Next,
) -> Response {
    if state.keys.is_empty() {
        return match origin::check(&request) {
            Ok(()) => {
                request.extensions_mut().insert(Caller::local());
                next.run(request).await
            }
            Err(error) => Problem(error).into_response(),
        };
    }
    let shown = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .and_then(|(_, key)| state.keys.caller_of(key.trim()));
    match shown {
        Some(caller) => {
            tracing::Span::current().record("api_key", caller.name());
            request.extensions_mut().insert(caller.clone());
            next.run(request).await
        }
        None => Problem(Error::new(ErrorCode::Unauthorized, "the request carries no valid API key"))
            .into_response(),
    }
}
