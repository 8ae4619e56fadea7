//! Without API keys the loopback address is the only lock, and a web page in a browser on this
//! machine is inside it. So such a server answers only requests that name it by a loopback name
//! (a page cannot choose the `Host` of a rebound name) and that no page of another origin sent
//! (RFC 6454: browsers put `Origin` on what pages send to elsewhere).

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderName, Uri};

use crate::base::{Error, ErrorCode, Result};

/// Refuses what a web page of another site may have sent.
///
/// # Errors
/// `origin_refused`.
pub(super) fn check(request: &Request) -> Result<()> {
    let text = |name: HeaderName| request.headers().get(name).map(|value| value.to_str().unwrap_or_default());
    let host = text(HOST).or_else(|| request.uri().authority().map(Authority::as_str));
    if let Some(host) = host
        && !host.parse::<Authority>().is_ok_and(|authority| is_loopback(authority.host()))
    {
        let message = format!("the request names the server `{host}`, which is not a loopback name");
        return Err(Error::new(ErrorCode::OriginRefused, message));
    }
    if let Some(origin) = text(ORIGIN) {
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
