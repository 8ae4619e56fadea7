//! The server: bind, serve, stop.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;
use tower_service::Service;
use tracing::Span;

use luaplan_app::{ActiveRuns, ApiKeys, App};
use luaplan_base::{Error, ErrorCode, Result};

use super::abandoned::resume_abandoned;
use super::auth::{require_key, well_named};
use super::connections::{Bounds, Connections};
use super::mount::{mounted, refusing};
use super::shares::within_share;
use super::state::ApiState;
use super::{
    approvals, audit, events, explain, grants, health, idempotency, openapi, problem, questions, resume,
    runs, submit, tools,
};

/// How long cancelled runs have to record their end.
const CANCEL_GRACE: Duration = Duration::from_secs(3);

/// How long ready responses have to reach their clients.
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// A bound HTTP server.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    state: Arc<ApiState>,
    beside: Router<Arc<ApiState>>,
}

impl Server {
    /// Binds the configured address.
    ///
    /// # Errors
    /// `listen_refused` where the address is not loopback and there are no API keys,
    /// `listen_failed` where it cannot be bound, `config_…` for a bad key file.
    pub async fn bind(app: Arc<App>) -> Result<Self> {
        let config = app.config().server.clone();
        let keys = match &config.api_keys_file {
            Some(path) => ApiKeys::from_file(path)?,
            None => ApiKeys::default(),
        };
        if keys.is_empty() && !config.listen.ip().is_loopback() {
            return Err(Error::new(
                ErrorCode::ListenRefused,
                format!("{} is not loopback and no API keys are configured", config.listen),
            ));
        }
        let listener = TcpListener::bind(config.listen).await.map_err(|error| {
            Error::new(ErrorCode::ListenFailed, format!("cannot listen on {}: {error}", config.listen))
        })?;
        let address = listener.local_addr().map_err(|error| {
            Error::new(ErrorCode::ListenFailed, format!("the socket has no address: {error}"))
        })?;
        let runs = Arc::new(ActiveRuns::new(app));
        if keys.has_several_tenants() {
            runs.share_between_tenants();
        }
        let state = Arc::new(ApiState::new(runs, keys));
        Ok(Self { listener, address, state, beside: Router::new() })
    }

    /// The bound address, with its real port even where 0 was configured.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The active runs, for services beside the API.
    #[must_use]
    pub fn runs(&self) -> &Arc<ActiveRuns> {
        &self.state.runs
    }

    /// Cancelled when endless responses must end so that the server can stop.
    #[must_use]
    pub fn closing(&self) -> CancellationToken {
        self.state.streams()
    }

    /// Mounts a service beside the API: behind the same keys and limits on requests, without a time limit
    /// on responses.
    #[must_use]
    pub fn mount<S>(mut self, path: &str, service: S) -> Self
    where
        S: Service<Request, Error = Infallible> + Clone + Send + Sync + 'static,
        S::Response: IntoResponse,
        S::Future: Send,
    {
        self.beside = self.beside.merge(mounted(path, service, &self.state));
        self
    }

    /// Answers all requests to `path` with `not_found` and this message: for a service that this build lacks.
    #[must_use]
    pub fn mount_refusal(mut self, path: &str, message: &'static str, help: &'static str) -> Self {
        self.beside = self.beside.merge(refusing(path, message, help));
        self
    }

    /// Serves until the first `signal`; then accepts no new work, lets runs finish within the
    /// configured grace, and stops the rest, whose calls are journaled as cut off. A second
    /// `signal` ends the grace. Requests are answered until all runs have ended.
    ///
    /// `signal` is awaited once for each stop and returns its name, which is journaled.
    pub async fn run<S, F>(self, signal: S)
    where
        S: FnMut() -> F,
        F: Future<Output = &'static str>,
    {
        if self.state.app.history().shares_runs() {
            tokio::spawn(self.state.runs.clone().share_work());
        } else if self.state.app.config().server.take_up_runs {
            tokio::spawn(resume_abandoned(self.state.runs.clone()));
        }
        let router = router(self.state.clone(), self.beside);
        let connections = Connections::new(router, Bounds::of(&self.state.app.config().server));
        tokio::select! {
            never = connections.accept(&self.listener) => match never {},
            () = self.state.drain(signal) => {}
        }
        drop(self.listener);
        connections.close(CLOSE_GRACE).await;
    }
}

impl ApiState {
    /// Waits for the signal, stops accepting work, and waits for active runs.
    async fn drain<S, F>(&self, mut signal: S)
    where
        S: FnMut() -> F,
        F: Future<Output = &'static str>,
    {
        let name = signal().await;
        tracing::info!(signal = name, "stopping");
        self.runs.registry().stop_accepting();
        self.app.runs().announce_shutdown(name).await;
        let grace = self.app.config().server.shutdown_grace;
        tokio::select! {
            () = self.runs.registry().wait_until_idle(Instant::now() + grace) => {}
            name = signal() => tracing::info!(signal = name, "stopping at once"),
        }
        self.app.runs().interrupt();
        self.runs.registry().cancel_all();
        self.runs.registry().wait_until_idle(Instant::now() + CANCEL_GRACE).await;
        self.end_streams();
    }
}

pub(super) fn router(state: Arc<ApiState>, beside: Router<Arc<ApiState>>) -> Router {
    let timeout = state.app.config().server.request_timeout;
    let once = || from_fn_with_state(state.clone(), idempotency::once);
    let guarded = Router::new()
        .route("/v1/tasks", post(submit::post_task).layer(once()))
        .route("/v1/runs", post(submit::post_run).layer(once()).get(runs::list))
        .route("/v1/runs/{id}", get(runs::show))
        .route("/v1/runs/{id}/result", get(runs::part))
        .route("/v1/runs/{id}/calls/{call}", get(runs::call))
        .route("/v1/runs/{id}/plan", get(runs::plan))
        .route("/v1/runs/{id}/graph", get(explain::graph))
        .route("/v1/plans/explain", post(explain::explain))
        .route("/v1/runs/{id}/events", get(events::stream))
        .route("/v1/runs/{id}/cancel", post(runs::cancel))
        .route("/v1/runs/{id}/mode", post(runs::mode))
        .route("/v1/runs/{id}/pause", post(runs::pause))
        .route("/v1/runs/{id}/reset", post(resume::reset).layer(once()))
        .route("/v1/runs/{id}/resume", post(resume::resume))
        .route("/v1/runs/{id}/replay", post(resume::replay))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}", post(approvals::decide).layer(once()))
        .route("/v1/questions", get(questions::list))
        .route("/v1/questions/{id}", post(questions::answer).layer(once()))
        .route("/v1/grants", get(grants::list))
        .route("/v1/grants/{id}/revoke", post(grants::revoke))
        .route("/v1/tools", get(tools::list))
        .route("/v1/tools/{name}", get(tools::show))
        .route("/v1/tools/{name}/schema", get(tools::schema))
        .route("/v1/audit", get(audit::list))
        .layer(from_fn_with_state(state.shares.clone(), within_share))
        .layer(from_fn_with_state(state.clone(), require_key));
    let api = Router::new()
        .merge(guarded)
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/openapi.json", get(openapi::serve))
        .fallback(problem::no_such_route)
        .method_not_allowed_fallback(problem::no_such_method)
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, timeout))
        .layer(CatchPanicLayer::custom(problem::panicked))
        .layer(middleware::map_response(problem::shape_plain_errors))
        .layer(middleware::map_response_with_state(state.app.clone(), problem::without_secrets));
    api.merge(beside)
        .layer(middleware::from_fn(well_named))
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(request_span)
                .on_request(())
                .on_response(log_answer)
                .on_failure(()),
        )
        .with_state(state)
}

/// Without headers and query: headers may hold a key, the query anything a client puts there.
fn request_span(request: &Request) -> Span {
    tracing::info_span!(
        "request",
        method = %request.method(),
        path = request.uri().path(),
        run_id = tracing::field::Empty,
        api_key = tracing::field::Empty,
    )
}

fn log_answer(response: &Response, latency: Duration, _span: &Span) {
    let took_ms = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
    tracing::info!(status = response.status().as_u16(), took_ms, "answered");
}
