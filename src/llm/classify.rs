//! Maps a provider's failure to our codes.

use genai::webc::{Error as WebError, StreamTimeout};
use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value as Json;

use luaplan_base::ErrorCode;

use super::failure::{AttemptFailure, presentable};
use super::retry_after::requested_wait;

/// The facts for the judgement of a failure.
pub(super) struct FailureContext<'a> {
    /// `provider/model`, for messages.
    pub(super) name: &'a str,
    /// `host:port`, for messages.
    pub(super) address: &'a str,
    pub(super) key: Option<&'a SecretString>,
    pub(super) now: Timestamp,
    pub(super) timeout_ms: u64,
    pub(super) schema_sent: bool,
}

/// Phrases by which providers say that a prompt is too long.
const OVERFLOW_PHRASES: [&str; 10] = [
    "context length",
    "context_length",
    "context window",
    "context size",
    "exceed_context_size",
    "context is",
    "prompt is too long",
    "input token count",
    "input is too long",
    "too many tokens",
];
/// Names under which providers know the reply schema.
const SCHEMA_PHRASES: [&str; 7] = [
    "response_format",
    "output_config",
    "output_format",
    "json_schema",
    "responsejsonschema",
    "response_json_schema",
    "structured output",
];
const STATUS_OVERLOADED: u16 = 529;

impl FailureContext<'_> {
    pub(super) fn judge(&self, error: genai::Error) -> AttemptFailure {
        use genai::Error as Genai;
        match error {
            Genai::HttpError { status, body, headers, .. } => self.judge_status(status, &body, &headers),
            Genai::WebModelCall { webc_error, .. } | Genai::WebAdapterCall { webc_error, .. } => {
                self.judge_web(webc_error)
            }
            Genai::WebStream { error, .. } => self.judge_stream(error),
            Genai::StreamParse { serde_error, .. } if serde_error.is_eof() => self.cut(),
            Genai::ChatResponse { body, .. } if error_text(&body).is_some() => self.judge_error_frame(&body),
            other => {
                let kind = format!("{other:?}");
                let kind = kind.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                self.nonsense(&format!("it could not be read as that provider's answer ({kind})"))
            }
        }
    }

    fn judge_web(&self, error: WebError) -> AttemptFailure {
        match error {
            WebError::ResponseFailedStatus { status, body, headers } => {
                self.judge_status(status, &body, &headers)
            }
            WebError::Reqwest(error) => self.judge_transport(error),
            WebError::ResponseFailedNotJson { content_type, .. } => {
                self.nonsense(&format!("its content type is `{content_type}`, not JSON"))
            }
            WebError::ResponseFailedInvalidJson { .. } => self.nonsense("its body is not valid JSON"),
            WebError::JsonValueExt(_) => self.nonsense("a field is missing or has the wrong type"),
        }
    }

    fn judge_stream(&self, error: genai::BoxError) -> AttemptFailure {
        let error = match error.downcast::<genai::Error>() {
            Ok(inner) => return self.judge(*inner),
            Err(error) => error,
        };
        if error.is::<StreamTimeout>() {
            return self.timed_out();
        }
        match error.downcast::<reqwest::Error>() {
            Ok(error) => self.judge_transport(*error),
            Err(_) => self.nonsense("it is not UTF-8 text"),
        }
    }

    fn judge_transport(&self, error: reqwest::Error) -> AttemptFailure {
        if error.is_timeout() {
            return self.timed_out();
        }
        if error.is_body() || error.is_decode() {
            return self.cut();
        }
        // The innermost cause says what happened ("connection refused"); the outer ones repeat the URL.
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(inner) = cause.source() {
            cause = inner;
        }
        let cause = presentable(&cause.to_string(), self.key);
        AttemptFailure::passing(
            ErrorCode::LlmUnavailable,
            format!("{} cannot be reached at {}: {cause}", self.name, self.address),
        )
        .with_help("start the model server, correct `llm.base_url`, or configure `llm.fallback`")
    }

    pub(super) fn judge_status(&self, status: StatusCode, body: &str, headers: &HeaderMap) -> AttemptFailure {
        let json: Option<Json> = serde_json::from_str(body).ok();
        let error = json.as_ref().map(|json| json.get("error").unwrap_or(json));
        let said = error.and_then(error_text).unwrap_or(body);
        let mut failure = self.judge_words(Some(status), said, error);
        if failure.retryable {
            failure.wait = requested_wait(headers, self.now);
        }
        failure.error = failure.error.with_detail("status", status.as_u16());
        failure
    }

    /// An error frame inside an answer that started well.
    pub(super) fn judge_error_frame(&self, frame: &Json) -> AttemptFailure {
        let error = frame.get("error").filter(|error| !error.is_null()).unwrap_or(frame);
        let text = error_text(error).unwrap_or("no reason given");
        let named = |field: &str| error.get(field).and_then(Json::as_str).unwrap_or_default().to_lowercase();
        let kind = format!("{} {} {}", named("type"), named("code"), named("status"));
        let status = match error.get("code").and_then(Json::as_u64) {
            Some(code) => u16::try_from(code).ok().and_then(|code| StatusCode::from_u16(code).ok()),
            None if kind.contains("rate_limit") => Some(StatusCode::TOO_MANY_REQUESTS),
            None if kind.contains("authentication") => Some(StatusCode::UNAUTHORIZED),
            None if kind.contains("invalid_request") => Some(StatusCode::BAD_REQUEST),
            None => None,
        };
        self.judge_words(status, text, Some(error))
    }

    fn judge_words(&self, status: Option<StatusCode>, said: &str, error: Option<&Json>) -> AttemptFailure {
        let lower = said.to_lowercase();
        let code = error
            .and_then(|error| error.get("code").or_else(|| error.get("type")))
            .and_then(Json::as_str)
            .unwrap_or_default();
        let has =
            |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase) || code.contains(phrase));
        let shown = presentable(said, self.key);
        let name = self.name;
        let number = status.map_or(500, |status| status.as_u16());

        if matches!(number, 400 | 413 | 422 | 500) && has(&OVERFLOW_PHRASES) {
            return self.overflow(&shown);
        }
        if code == "content_filter" || code == "content_policy_violation" {
            return self.refused(&shown);
        }
        if matches!(number, 401 | 403) || lower.contains("api key not valid") {
            let message = format!("{name} refused the key: {shown}");
            return AttemptFailure::lasting(ErrorCode::LlmUnauthorized, message);
        }
        if matches!(number, 400 | 422) && self.schema_sent && has(&SCHEMA_PHRASES) {
            let message = format!("{name} does not know the reply schema: {shown}");
            let failure = AttemptFailure::lasting(ErrorCode::LlmRequestRejected, message);
            return AttemptFailure { schema_unknown: true, ..failure };
        }
        match number {
            429 => {
                let message = format!("{name} asks to wait: {shown}");
                let spent = code == "insufficient_quota";
                let failure = AttemptFailure::passing(ErrorCode::LlmRateLimited, message);
                AttemptFailure { retryable: !spent, ..failure }
            }
            408 => AttemptFailure::passing(ErrorCode::LlmTimeout, format!("{name} timed out: {shown}")),
            404 => {
                AttemptFailure::lasting(ErrorCode::LlmUnavailable, format!("{name} is not there: {shown}"))
                    .with_help("check `llm.model` and `llm.base_url`")
            }
            409 | 425 | STATUS_OVERLOADED | 500..=599 => {
                let message = format!("{name} failed with status {number}: {shown}");
                let failure = AttemptFailure::passing(ErrorCode::LlmUnavailable, message);
                // A model that does not fit into memory will not fit at the next attempt either.
                let too_big = has(&["system memory", "out of memory"]);
                AttemptFailure { retryable: !too_big, ..failure }
            }
            300..=399 => AttemptFailure::lasting(
                ErrorCode::LlmRequestRejected,
                format!(
                    "{name} redirects (status {number}); redirects are not followed, because they would carry the key"
                ),
            ),
            _ => AttemptFailure::lasting(
                ErrorCode::LlmRequestRejected,
                format!("{name} does not accept the request (status {number}): {shown}"),
            ),
        }
    }

    fn overflow(&self, shown: &str) -> AttemptFailure {
        let message = format!("the prompt is too long for {}: {shown}", self.name);
        let mut failure = AttemptFailure::lasting(ErrorCode::LlmContextOverflow, message);
        if let Some((one, other)) = first_two_counts(shown) {
            failure.error = failure.error.with_limit(one.min(other), one.max(other));
        }
        failure
    }

    pub(super) fn refused(&self, reason: &str) -> AttemptFailure {
        let reason = presentable(reason, self.key);
        AttemptFailure::lasting(ErrorCode::LlmRefused, format!("{} declined: {reason}", self.name))
    }

    pub(super) fn timed_out(&self) -> AttemptFailure {
        let message = format!("{} did not answer in time", self.name);
        let mut failure = AttemptFailure::passing(ErrorCode::LlmTimeout, message);
        failure.error = failure.error.with_detail("timeout_ms", self.timeout_ms);
        failure
    }

    pub(super) fn cut(&self) -> AttemptFailure {
        let message = format!("the answer of {} broke off before its end mark", self.name);
        AttemptFailure::passing(ErrorCode::LlmStreamCut, message)
    }

    pub(super) fn nonsense(&self, why: &str) -> AttemptFailure {
        let message = format!("the answer of {} makes no sense: {why}", self.name);
        AttemptFailure::lasting(ErrorCode::LlmInvalidReply, message)
    }
}

fn error_text(error: &Json) -> Option<&str> {
    error
        .as_str()
        .or_else(|| error.get("message").and_then(Json::as_str))
        .or_else(|| error.get("error").and_then(Json::as_str))
}

/// The first two numbers that can be token counts; providers name the limit and the prompt's size.
fn first_two_counts(text: &str) -> Option<(u64, u64)> {
    const SMALLEST_WINDOW_TOKENS: u64 = 128;
    let mut numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse::<u64>().ok())
        .filter(|number| *number >= SMALLEST_WINDOW_TOKENS);
    Some((numbers.next()?, numbers.next()?))
}
