//! The failures of a fetch, as plans see them.

use std::error::Error as StdError;
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Response, StatusCode};

use luaplan_base::{ErrorCode, ToolFailure, Value};

use crate::net::guard::{BlockedAddress, blocked};

/// So much of an error page is shown, as services explain their errors there.
const ERROR_BODY_BYTES_MAX: usize = 2 * 1024;
const RETRY_AFTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The failure for a URL that took too long.
pub(crate) fn timed_out(limit: Duration) -> ToolFailure {
    let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
    ToolFailure::new(
        ErrorCode::ToolTimeout,
        format!("the server did not answer in full within {limit_ms} ms"),
    )
    .with_detail("limit", limit_ms)
    .retryable()
}

/// The failure for an error of the HTTP client.
pub(crate) fn from_client(error: &reqwest::Error) -> ToolFailure {
    let mut reason = error.to_string();
    let mut certificate_refused = false;
    let mut cause: Option<&(dyn StdError + 'static)> = error.source();
    while let Some(current) = cause {
        if let Some(refused) = current.downcast_ref::<BlockedAddress>() {
            return blocked(refused.to_string(), refused.rule);
        }
        reason = current.to_string();
        // An I/O error keeps the error it wraps to itself.
        let wrapped = current.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        cause = match wrapped {
            Some(inner) => Some(inner),
            None => current.source(),
        };
        certificate_refused |=
            matches!(current.downcast_ref::<rustls::Error>(), Some(rustls::Error::InvalidCertificate(_)));
    }
    if error.is_timeout() {
        return ToolFailure::new(ErrorCode::ToolTimeout, "the server did not answer in time").retryable();
    }
    let what = if certificate_refused {
        "the server's certificate is not trusted"
    } else if error.is_connect() {
        "the server could not be reached"
    } else if error.is_decode() || error.is_body() {
        "the body broke off or could not be decoded"
    } else {
        "the request failed"
    };
    let failure = ToolFailure::new(ErrorCode::FetchFailed, format!("{what}: {reason}"));
    if certificate_refused { failure } else { failure.retryable() }
}

/// The failure for a status that is not 2xx, with the start of the server's answer.
pub(crate) async fn http_status(mut response: Response, now: Timestamp) -> ToolFailure {
    let status = response.status();
    let mut failure = ToolFailure::new(ErrorCode::HttpStatus, format!("the server answered {status}"))
        .with_detail("status", i64::from(status.as_u16()));
    failure.retryable = may_pass(status);
    if let Some(wait) = retry_after(response.headers(), now) {
        failure = failure.with_detail("retry_after_ms", i64::try_from(wait.as_millis()).unwrap_or(i64::MAX));
    }
    let mut body = Vec::new();
    while body.len() < ERROR_BODY_BYTES_MAX
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk);
    }
    body.truncate(ERROR_BODY_BYTES_MAX);
    let text = match std::str::from_utf8(&body) {
        Ok(text) => Some(text),
        // A cut within a character: the part before it is still text.
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&body[..error.valid_up_to()]).ok(),
        Err(_) => None,
    };
    match text {
        Some(text) if !text.is_empty() => failure.with_detail("body", Value::from(text)),
        _ => failure,
    }
}

/// Statuses that name a passing condition (RFC 9110, RFC 6585).
fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

/// `Retry-After` in either form, seconds or a date.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = match text.parse::<u64>() {
        Ok(seconds) => Duration::from_secs(seconds),
        Err(_) => {
            let at = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
            Duration::try_from(at.duration_since(now)).unwrap_or_default()
        }
    };
    Some(wait.min(RETRY_AFTER_MAX))
}
