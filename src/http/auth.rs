//! Which requests are admitted: by their API key (a bearer token, RFC 6750), `Host` and `Origin`.
//!
//! A request names the server once, as a host with at most a port (RFC 9112, section 3.2), and its
//! page at most once: names that two parsers could read differently are refused.
//!
//! Without API keys the loopback address is the only protection, and a web page in a browser on this
//! machine can reach it. So such a server answers only requests that name it by a loopback name
//! (a page cannot choose the `Host` of a rebound name) and that no page of another origin sent
//! (RFC 6454: browsers add `Origin` to cross-origin requests).

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderName, Uri, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use luaplan_app::Caller;
use luaplan_base::{Error, ErrorCode, Result};

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
        return match check_origin(&request) {
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

/// Admits requests that name the server, and their page, unambiguously.
pub(super) async fn well_named(request: Request, next: Next) -> Response {
    match names(&request) {
        Ok(()) => next.run(request).await,
        Err(error) => Problem(error).into_response(),
    }
}

fn names(request: &Request) -> Result<()> {
    let bad = |message: String| Err(Error::new(ErrorCode::BadRequest, message));
    for name in [HOST, ORIGIN] {
        let count = request.headers().get_all(&name).iter().count();
        if count > 1 {
            return bad(format!("the request has {count} headers `{name}`, one at most can be meant"));
        }
    }
    let target = request.uri().authority();
    let Some(host) = text(request, HOST) else {
        if request.version() == Version::HTTP_11 {
            return bad("the request names no `Host`, which HTTP/1.1 requires".to_owned());
        }
        return Ok(());
    };
    let Some(host) = authority(host) else {
        return bad(format!("`Host` is {host:?}, expected a host with at most a port"));
    };
    if let Some(target) = target
        && !(authority(target.as_str()).is_some() && target.as_str().eq_ignore_ascii_case(host.as_str()))
    {
        return bad(format!("the request goes to `{target}` and its `Host` is `{host}`"));
    }
    Ok(())
}

/// A host with at most a port: no user, and a numeric port.
fn authority(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let has_port = authority.as_str().len() > authority.host().len();
    let is_plain = !authority.as_str().contains('@') && !authority.host().is_empty();
    (is_plain && (!has_port || authority.port_u16().is_some())).then_some(authority)
}

fn text(request: &Request, name: HeaderName) -> Option<&str> {
    request.headers().get(name).map(|value| value.to_str().unwrap_or_default())
}

/// Refuses a request that a web page of another site may have sent.
///
/// # Errors
/// `origin_refused`.
fn check_origin(request: &Request) -> Result<()> {
    let host = text(request, HOST).or_else(|| request.uri().authority().map(Authority::as_str));
    if let Some(host) = host
        && !authority(host).is_some_and(|authority| is_loopback(authority.host()))
    {
        let message = format!("the request names the server `{host}`, which is not a loopback name");
        return Err(Error::new(ErrorCode::OriginRefused, message));
    }
    if let Some(origin) = text(request, ORIGIN) {
        let own = origin
            .parse::<Uri>()
            .is_ok_and(|origin| origin.authority().is_some_and(|authority| Some(authority.as_str()) == host));
        if !own {
            let message = format!("the request was sent by a page of `{origin}`");
            return Err(Error::new(ErrorCode::OriginRefused, message));
        }
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
