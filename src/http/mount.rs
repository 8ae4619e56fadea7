//! A service of another protocol beside the API: behind the same keys, under the same limits on
//! requests. Its responses may be endless streams, so they have no time limit.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use tower_http::catch_panic::CatchPanicLayer;
use tower_service::Service;

use luaplan_base::{Error, ErrorCode};

use super::auth::require_key;
use super::extract::read;
use super::problem::{Problem, panicked};
use super::shares::within_share_beside;
use super::state::ApiState;

pub(super) fn mounted<S>(path: &str, service: S, state: &Arc<ApiState>) -> Router<Arc<ApiState>>
where
    S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Response: IntoResponse,
    S::Future: Send,
{
    Router::new()
        .route_service(path, service)
        .layer(from_fn_with_state(state.clone(), whole))
        .layer(from_fn_with_state(state.shares.clone(), within_share_beside))
        .layer(from_fn_with_state(state.clone(), require_key))
        .layer(CatchPanicLayer::custom(panicked))
}

pub(super) fn refusing(path: &str, message: &'static str, help: &'static str) -> Router<Arc<ApiState>> {
    let refuse = move || async move { Problem(Error::new(ErrorCode::NotFound, message).with_help(help)) };
    Router::new().route(path, any(refuse))
}

/// Passes a request on once its body is complete. A response with an error as an extension (`Arc<Error>`)
/// becomes that problem.
async fn whole(State(state): State<Arc<ApiState>>, request: Request, next: Next) -> Response {
    let server = &state.app.config().server;
    let (parts, body) = request.into_parts();
    let reading = read(Request::from_parts(parts.clone(), body), server.body_limit_bytes);
    match tokio::time::timeout(server.request_timeout, reading).await {
        Ok(Ok(bytes)) => {
            let mut response = next.run(Request::from_parts(parts, Body::from(bytes))).await;
            // Errors have one form here, and the service has no form of its own.
            match response.extensions_mut().remove::<Arc<Error>>().and_then(Arc::into_inner) {
                Some(error) => Problem(error).into_response(),
                None => response,
            }
        }
        Ok(Err(error)) => Problem(error).into_response(),
        Err(_) => {
            let message = "the request took longer than `server.request_timeout`";
            Problem(Error::new(ErrorCode::RequestTimeout, message)).into_response()
        }
    }
}
