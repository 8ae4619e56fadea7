//! Tools of the kind `http`: one request, described in the manifest.
//!
//! The manifest names the host, and arguments never change it. The guard of `fetch_url` judges its
//! addresses; redirects and links to further pages stay on the host.
//!
//! **Never here:** cookies, proxies of the environment, a secret in a result or a message.

mod answer;
mod exchange;
mod request;
mod settings;
mod url_template;

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::{Value as Json, json};

pub(crate) use self::exchange::Exchange;
pub(crate) use self::request::Request;
pub(crate) use self::settings::HEADERS_REFUSED;
use luaplan_base::{CallOutcome, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::Invocation;
use luaplan_catalog::ToolSpec;

use self::settings::{Format, OnMore};
pub use self::settings::{HttpGrants, HttpSettings};
use crate::manifest::{Arguments, Maker, ManifestTool, bad_arguments, response_invalid};
use crate::net::allow_list::AllowList;
use crate::net::client::{ClientSettings, Clients};
use crate::net::guard::{HostLookup, SystemLookup};

struct HttpMaker {
    settings: HttpSettings,
    secret: Option<SecretString>,
    exchange: Exchange,
}

/// The tool a manifest describes. `secret` is the one its `auth` names. Does no network I/O.
///
/// # Errors
/// `config_invalid` for settings or grants that make no sense; `file_unreadable` for a `ca_file`
/// that cannot be read.
pub fn tool(spec: ToolSpec, grants: HttpGrants, secret: Option<SecretString>) -> Result<ManifestTool> {
    tool_with_lookup(spec, grants, secret, Arc::new(SystemLookup))
}

/// The same with another way to resolve names.
///
/// # Errors
/// As [`tool`].
pub fn tool_with_lookup(
    spec: ToolSpec,
    grants: HttpGrants,
    secret: Option<SecretString>,
    lookup: Arc<dyn HostLookup>,
) -> Result<ManifestTool> {
    let settings = HttpSettings::of(&spec)?;
    if grants.bytes_max == 0 {
        let key = format!("tools.{}.bytes_max", spec.name);
        return Err(Error::new(ErrorCode::ConfigInvalid, format!("`{key}` is zero")).with_detail("key", key));
    }
    let for_clients = ClientSettings {
        connect_timeout: grants.connect_timeout,
        read_timeout: grants.read_timeout,
        ca_file: grants.ca_file.clone(),
    };
    let exchange = Exchange {
        allow: AllowList::parse(&spec.name, &grants.allow_hosts)?,
        clients: Clients::build(&spec.name, &for_clients, lookup)?,
        grants,
    };
    let secrets: Vec<SecretString> = secret.iter().cloned().collect();
    Ok(ManifestTool::new(spec, &secrets, Box::new(HttpMaker { settings, secret, exchange })))
}

impl HttpMaker {
    fn request(&self, arguments: &Arguments) -> std::result::Result<Request, ToolFailure> {
        let mut request = Request::fill(&self.settings, arguments)?;
        // The first request names its page too, so that the server's default does not matter.
        if let Some(pages) = &self.settings.pages
            && let (Some(parameter), Some(first)) = (&pages.parameter, pages.first)
        {
            request.set_parameter(parameter, &first.to_string());
        }
        Ok(request)
    }

    fn authorized(&self, request: &Request) -> std::result::Result<Request, ToolFailure> {
        let mut request = request.clone();
        if let (Some(auth), Some(secret)) = (&self.settings.auth, &self.secret) {
            request.authorize(auth, secret)?;
        }
        Ok(request)
    }

    async fn answer(&self, request: Request, now: Timestamp) -> CallOutcome {
        let response = &self.settings.response;
        let mut bytes_left = self.exchange.grants.bytes_max;
        let mut request = request;
        let mut items: Vec<Json> = Vec::new();
        let mut number = 1;
        loop {
            let sent = self.authorized(&request)?;
            let answer = self.exchange.send(&sent, &response.null_on, &mut bytes_left, now).await?;
            if response.null_on.contains(&answer.status.as_u16()) {
                return Ok(Value::Null);
            }
            if response.format == Format::Text {
                return Ok(Value::from_lua_bytes(answer.body));
            }
            let document = answer::document(&answer)?;
            let mapped = answer::mapped(response, &document)?;
            let Some(pages) = &self.settings.pages else { return answer::value(mapped) };
            let Json::Array(page) = mapped else {
                return Err(response_invalid("the result has pages, so it must be a list"));
            };
            let count = page.len();
            items.extend(page);
            let next = answer::next_page(pages, &request, &answer, &document, count, number)?;
            match next {
                None => return answer::value(Json::Array(items)),
                Some(_) if number >= pages.max && pages.on_more == OnMore::Stop => {
                    return answer::value(Json::Array(items));
                }
                Some(_) if number >= pages.max => {
                    return Err(ToolFailure::new(
                        ErrorCode::ResultTooLarge,
                        format!("there are more than {} pages, the manifest's `pages.max`", pages.max),
                    )
                    .with_detail("limit", i64::from(pages.max))
                    .with_detail("unit", "pages"));
                }
                Some(next) => request = next,
            }
            number += 1;
        }
    }
}

#[async_trait]
impl Maker for HttpMaker {
    async fn make(&self, arguments: Arguments, invocation: Invocation) -> CallOutcome {
        let mut request = self.request(&arguments)?;
        if let Some(name) = &self.settings.idempotency_header {
            let name: HeaderName =
                name.parse().map_err(|_| bad_arguments(format!("`{name}` is not a header's name")))?;
            let key = HeaderValue::from_str(&invocation.idempotency_key)
                .map_err(|_| bad_arguments("the idempotency key is not a line of text"))?;
            request.headers.insert(name, key);
        }
        let now = invocation.log.clock().now();
        let outcome = self.answer(request, now).await;
        outcome
            .map_err(|failure| answer::with_message(failure, self.settings.response.error_message.as_deref()))
    }

    fn shape(&self, arguments: &Arguments) -> std::result::Result<Json, ToolFailure> {
        let mut shape = self.request(arguments)?.shape(self.settings.auth.as_ref());
        if let Some(name) = &self.settings.idempotency_header {
            shape["headers"][name.to_lowercase()] = "<key of the call>".into();
        }
        Ok(json!({ "http": shape }))
    }
}
