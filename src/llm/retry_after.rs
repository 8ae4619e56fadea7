//! How long a provider asks to wait (RFC 9110, section 10.2.3, and common variants).

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};

const RETRY_AFTER_MS: &str = "retry-after-ms";

/// The wait asked for, as seconds or as a date; a date in the past is no wait.
pub(super) fn requested_wait(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text(RETRY_AFTER_MS).and_then(|value| value.parse::<u64>().ok()) {
        return Some(Duration::from_millis(milliseconds));
    }
    let value = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}
