//! `fetch_url`: gets web pages and files from the public internet, and from other hosts only where the
//! configuration names them.
//!
//! The plan gets bodies byte for byte, after content decoding (gzip) and without any change of character
//! set. Environment proxies and cookies are not used.

mod arguments;
mod settings;
#[cfg(test)]
mod tests;
pub(crate) mod transfer;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream;
use indexmap::IndexMap;
use jiff::Timestamp;
use reqwest::header::HeaderValue;
use tokio::time::Instant;

use serde_json::{Value as Json, json};

use luaplan_base::{CallOutcome, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Invocation, Tool, short_list};
use luaplan_catalog::ToolSpec;

use self::arguments::FetchArguments;
use self::transfer::{Fetched, Transfer};
use crate::net::allow_list::AllowList;
use crate::net::client::{ClientSettings, Clients};
use crate::net::guard::{admit, parse_url};

pub use crate::net::guard::{HostLookup, SystemLookup};
pub use settings::FetchUrlSettings;

/// The tool.
pub struct FetchUrl {
    spec: ToolSpec,
    settings: FetchUrlSettings,
    allow: AllowList,
    clients: Clients,
}

impl FetchUrl {
    /// The tool as configured; also what `doctor` tries. Does no network I/O.
    ///
    /// # Errors
    /// `config_invalid` for a wrong entry in `allow_hosts`, a zero or a `ca_file` without
    /// certificates; `file_unreadable` for a `ca_file` that cannot be read.
    pub fn new(spec: ToolSpec, settings: FetchUrlSettings) -> Result<Self> {
        Self::with_lookup(spec, settings, Arc::new(SystemLookup))
    }

    /// The same with another way to resolve names.
    ///
    /// # Errors
    /// As [`FetchUrl::new`].
    pub fn with_lookup(
        spec: ToolSpec,
        settings: FetchUrlSettings,
        lookup: Arc<dyn HostLookup>,
    ) -> Result<Self> {
        settings.check()?;
        let allow = AllowList::parse(&spec.name, &settings.allow_hosts)?;
        let for_clients = ClientSettings {
            connect_timeout: settings.connect_timeout,
            read_timeout: settings.read_timeout,
            ca_file: settings.ca_file.clone(),
        };
        let clients = Clients::build(&spec.name, &for_clients, lookup)?;
        Ok(Self { spec, settings, allow, clients })
    }

    /// Whether an address may be asked for, as far as its text tells.
    fn admitted(&self, url: &str) -> Result<(), ToolFailure> {
        let admitted = parse_url(url).and_then(|parsed| admit(&self.allow, &parsed));
        admitted.map(drop).map_err(|failure| failure.with_detail("url", url))
    }

    /// How long one call fetches: a little less than the bus waits, so that the call still returns what
    /// has arrived by then and only the slow URLs fail.
    fn call_time(&self) -> Duration {
        self.spec.timeout.mul_f32(0.9)
    }

    async fn fetch_all(&self, arguments: &FetchArguments, now: Timestamp) -> IndexMap<String, CallOutcome> {
        let bytes_total = AtomicU64::new(0);
        let transfer = Transfer {
            settings: &self.settings,
            allow: &self.allow,
            clients: &self.clients,
            arguments,
            bytes_total: &bytes_total,
            now,
        };
        let call_deadline = Instant::now() + self.call_time();
        let transfer = &transfer;
        let mut outcomes: Vec<(usize, String, CallOutcome)> =
            stream::iter(arguments.urls.iter().cloned().enumerate())
                .map(|(position, url)| async move {
                    let deadline = call_deadline.min(Instant::now() + self.settings.url_timeout);
                    let limit = deadline.saturating_duration_since(Instant::now());
                    let outcome = match tokio::time::timeout_at(deadline, transfer.fetch(&url)).await {
                        Ok(outcome) => outcome.map(|fetched| value_of(fetched, arguments.detail)),
                        Err(_) => Err(crate::net::failure::timed_out(limit)),
                    };
                    let outcome = outcome.map_err(|failure| failure.with_detail("url", url.as_str()));
                    (position, url, outcome)
                })
                .buffer_unordered(self.settings.batch_concurrency as usize)
                .collect()
                .await;
        // In the order of the call, so that a result does not show which answer came first.
        outcomes.sort_by_key(|(position, ..)| *position);
        outcomes.into_iter().map(|(_, url, outcome)| (url, outcome)).collect()
    }
}

#[async_trait]
impl Tool for FetchUrl {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn planning_rules(&self) -> Vec<String> {
        let hosts = &self.settings.allow_hosts;
        let reached = if hosts.is_empty() {
            "public hosts alone".to_owned()
        } else {
            format!("hosts: {}", short_list(hosts))
        };
        vec![reached, format!("at most {} addresses a call", self.settings.urls_max)]
    }

    fn result_of(&self, call: &ForeseenCall) -> Option<Json> {
        let is_single = matches!(call.known.get("urls"), Some(Value::String(_)));
        let is_set = |name: &str| match call.known.get(name) {
            None | Some(Value::Null) => Some(false),
            Some(Value::Bool(value)) => Some(*value),
            Some(_) => None,
        };
        if !is_single || !call.is_certain("batch") || !call.is_certain("detail") || is_set("batch")? {
            return None;
        }
        Some(if is_set("detail")? { details() } else { json!({ "type": "string" }) })
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        let arguments = FetchArguments::read(&invocation.arguments, self.settings.urls_max)?;
        let now = invocation.log.clock().now();
        let fetched = tokio::select! {
            fetched = self.fetch_all(&arguments, now) => fetched,
            () = invocation.cancellation.cancelled() => {
                return Err(ToolFailure::new(ErrorCode::Cancelled, "the run was cancelled"));
            }
        };
        if arguments.as_map {
            return Ok(Value::Object(
                fetched.into_iter().map(|(url, outcome)| (url, embedded(outcome))).collect(),
            ));
        }
        fetched.into_iter().next().map_or(Ok(Value::Null), |(_, outcome)| outcome)
    }

    /// Each URL of a list has its own result: a blocked one does not keep the others from being fetched.
    fn could_call(&self, arguments: &Value) -> Result<(), ToolFailure> {
        let arguments = FetchArguments::read(arguments, self.settings.urls_max)?;
        match arguments.urls.as_slice() {
            [url] if !arguments.as_map => self.admitted(url),
            _ => Ok(()),
        }
    }

    /// Also an address among others: the call is made, and its part of the result is a failure whatever happens.
    fn could_ever_call(&self, call: &ForeseenCall) -> Result<(), ToolFailure> {
        call.texts("urls").try_for_each(|url| self.admitted(url))?;
        if call.is_whole() { self.could_call(&call.arguments()) } else { Ok(()) }
    }
}

fn embedded(outcome: CallOutcome) -> Value {
    outcome.unwrap_or_else(|failure| Value::Failure(Box::new(failure)))
}

/// What [`value_of`] makes with `detail`.
fn details() -> Json {
    json!({
        "type": "object",
        "properties": {
            "status": { "type": "integer" },
            "headers": { "type": "object", "additionalProperties": { "type": "string" } },
            "content_type": { "type": "string" },
            "body": { "type": "string" },
            "url": { "type": "string" },
        },
        "required": ["status", "headers", "body", "url"],
        "additionalProperties": false,
    })
}

fn value_of(fetched: Fetched, detail: bool) -> Value {
    if !detail {
        return Value::from_lua_bytes(fetched.body);
    }
    let mut headers = IndexMap::new();
    for name in fetched.headers.keys() {
        let values: Vec<&[u8]> = fetched.headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        headers.insert(name.as_str().to_owned(), Value::from_lua_bytes(values.join(&b", "[..])));
    }
    let content_type = headers.get("content-type").cloned().unwrap_or_default();
    Value::Object(IndexMap::from([
        ("status".to_owned(), Value::Integer(i64::from(fetched.status.as_u16()))),
        ("headers".to_owned(), Value::Object(headers)),
        ("content_type".to_owned(), content_type),
        ("body".to_owned(), Value::from_lua_bytes(fetched.body)),
        ("url".to_owned(), Value::String(fetched.url.to_string())),
    ]))
}
