//! The share of each API key in the server: its running requests and event streams.
//!
//! A place is held from the check of the key until the last part of the response's body was passed to the
//! connection. Data that the connection has yet to send does not count: a response in one part frees its place at
//! once, however slowly its client reads.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Extension, Request, State};
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use hyper::body::{Frame, SizeHint};

use luaplan_app::Caller;
use luaplan_app::config::ServerShares;
use luaplan_base::{Error, ErrorCode, Result};

use super::problem::Problem;

/// The places that keys hold.
pub(super) struct Shares {
    limits: ServerShares,
    held: Mutex<HeldPlaces>,
}

#[derive(Default)]
struct HeldPlaces {
    requests: u32,
    /// Holds only keys with places, so it has no more entries than requests.
    by_key: HashMap<String, OfKey>,
}

#[derive(Default)]
struct OfKey {
    requests: u32,
    streams: u32,
}

impl Shares {
    pub(super) fn new(limits: ServerShares) -> Arc<Self> {
        Arc::new(Self { limits, held: Mutex::default() })
    }

    /// A place for a request of `key`.
    ///
    /// # Errors
    /// `key_limit` where the key holds its maximum, `server_busy` where too little is free: a key
    /// gets at most as much as remains free, so that another key finds a place however many are greedy.
    fn enter(self: &Arc<Self>, key: &str, is_stream: bool) -> Result<RequestPlace> {
        let mut held = self.lock();
        let free = self.limits.max_connections - self.limits.kept_connections;
        let free = free.saturating_sub(held.requests);
        let (requests, streams) = held.by_key.get(key).map_or((0, 0), |own| (own.requests, own.streams));
        let refuse = |code, what: &str, setting: &str, limit: u32, seen: u32| {
            Err(Error::new(code, format!("{what}: `server.{setting}`")).with_limit(limit, seen))
        };
        if requests >= self.limits.max_requests_per_key {
            let what = "as many requests of this key are under way as one key may have";
            let limit = self.limits.max_requests_per_key;
            return refuse(ErrorCode::KeyLimit, what, "max_requests_per_key", limit, requests);
        }
        if is_stream && streams >= self.limits.max_streams_per_key {
            let what = "as many event streams of this key are open as one key may have";
            let limit = self.limits.max_streams_per_key;
            return refuse(ErrorCode::KeyLimit, what, "max_streams_per_key", limit, streams);
        }
        if requests >= free {
            let what = "no more connections are left than this key holds";
            let limit = self.limits.max_connections;
            return refuse(ErrorCode::ServerBusy, what, "max_connections", limit, held.requests);
        }
        held.requests += 1;
        let own = held.by_key.entry(key.to_owned()).or_default();
        own.requests += 1;
        own.streams += u32::from(is_stream);
        Ok(RequestPlace { shares: self.clone(), key: key.to_owned(), is_stream })
    }

    fn lock(&self) -> MutexGuard<'_, HeldPlaces> {
        // Each change of a count is complete, so a poisoned lock is usable.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running request; dropping it frees its place.
struct RequestPlace {
    shares: Arc<Shares>,
    key: String,
    is_stream: bool,
}

impl Drop for RequestPlace {
    fn drop(&mut self) {
        let mut held = self.shares.lock();
        held.requests -= 1;
        if let Some(own) = held.by_key.get_mut(&self.key) {
            own.requests -= 1;
            own.streams -= u32::from(self.is_stream);
            if own.requests == 0 {
                held.by_key.remove(&self.key);
            }
        }
    }
}

/// Serves a request of the API within its key's share.
pub(super) async fn within_share(
    State(shares): State<Arc<Shares>>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let is_stream = request.uri().path().ends_with("/events") || accepts_events(request.headers());
    answer(&shares, caller.name(), is_stream, request, next).await
}

pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/event-stream"))
}

/// The same for a service beside the API, whose endless streams are responses to GET.
pub(super) async fn within_share_beside(
    State(shares): State<Arc<Shares>>,
    Extension(caller): Extension<Caller>,
    request: Request,
    next: Next,
) -> Response {
    let is_stream = request.method() == Method::GET;
    answer(&shares, caller.name(), is_stream, request, next).await
}

async fn answer(shares: &Arc<Shares>, key: &str, is_stream: bool, request: Request, next: Next) -> Response {
    match shares.enter(key, is_stream) {
        Ok(place) => next.run(request).await.map(|body| Body::new(Holding { body, _held: place })),
        Err(error) => Problem(error).into_response(),
    }
}

/// A body that holds its place until it was sent or dropped.
pub(super) struct Holding<H> {
    pub(super) body: Body,
    pub(super) _held: H,
}

impl<H: Unpin> HttpBody for Holding<H> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
