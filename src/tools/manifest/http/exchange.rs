//! Sending a request: every address judged, every byte counted, no other host.

use bytes::{Bytes, BytesMut};
use jiff::Timestamp;
use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode};
use url::Url;

use luaplan_base::{ErrorCode, ToolFailure};

use super::request::Request;
use super::settings::HttpGrants;
use crate::net::allow_list::AllowList;
use crate::net::client::Clients;
use crate::net::failure::{from_client, http_status};
use crate::net::guard::{admit, blocked};
use crate::net::redirect::redirect_target;

/// The server's answer.
#[derive(Debug)]
pub(crate) struct HttpAnswer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) url: Url,
}

/// The connection settings for the tool's host.
pub(crate) struct Exchange {
    pub(crate) clients: Clients,
    pub(crate) allow: AllowList,
    pub(crate) grants: HttpGrants,
}

impl Exchange {
    /// Sends one request. `bytes_left` is what the call may still receive. A status in `taken` is
    /// an answer too.
    ///
    /// # Errors
    /// `url_blocked`, `too_many_redirects`, `http_status`, `fetch_failed`, `tool_timeout`,
    /// `result_too_large`.
    pub(crate) async fn send(
        &self,
        request: &Request,
        taken: &[u16],
        bytes_left: &mut u64,
        now: Timestamp,
    ) -> Result<HttpAnswer, ToolFailure> {
        let mut url = request.url.clone();
        let mut redirects = 0;
        let response = loop {
            let response = self.ask(request, &url).await?;
            let may_follow = matches!(request.method, reqwest::Method::GET | reqwest::Method::HEAD);
            let target = if may_follow { redirect_target(&url, &response)? } else { None };
            let Some(target) = target else { break response };
            redirects += 1;
            if redirects > self.grants.redirects_max {
                let limit = self.grants.redirects_max;
                return Err(ToolFailure::new(
                    ErrorCode::TooManyRedirects,
                    format!("more than {limit} redirects"),
                )
                .with_detail("limit", i64::from(limit))
                .with_detail("observed", i64::from(redirects)));
            }
            same_host(&request.url, &target, "redirects to")?;
            url = target;
        };
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() && !taken.contains(&status.as_u16()) {
            return Err(http_status(response, now).await);
        }
        let body = self.read_body(response, bytes_left).await?;
        Ok(HttpAnswer { status, headers, body, url })
    }

    async fn ask(&self, request: &Request, url: &Url) -> Result<Response, ToolFailure> {
        let permission = admit(&self.allow, url)?;
        let mut asked = self
            .clients
            .for_permission(permission)
            .request(request.method.clone(), url.clone())
            .headers(request.headers.clone());
        if let Some(body) = &request.body {
            asked = asked.body(body.clone());
        }
        asked.send().await.map_err(|error| from_client(&error))
    }

    async fn read_body(&self, mut response: Response, bytes_left: &mut u64) -> Result<Bytes, ToolFailure> {
        let limit = self.grants.bytes_max;
        let too_large = |observed: u64| {
            let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
            ToolFailure::new(
                ErrorCode::ResultTooLarge,
                format!("the answer is larger than `bytes_max` of {limit} bytes"),
            )
            .with_detail("limit", number(limit))
            .with_detail("observed", number(observed))
        };
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| from_client(&error))? {
            let size = chunk.len() as u64;
            *bytes_left =
                bytes_left.checked_sub(size).ok_or_else(|| too_large(limit - *bytes_left + size))?;
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }
}

/// Refuses an address that is not on the manifest's own host.
///
/// # Errors
/// `url_blocked` with the rule `other_host`.
pub(super) fn same_host(own: &Url, other: &Url, how: &str) -> Result<(), ToolFailure> {
    if own.origin() == other.origin() {
        return Ok(());
    }
    let (own, other) = (own.origin().ascii_serialization(), other.origin().ascii_serialization());
    Err(blocked(format!("`{own}` {how} `{other}`; a tool stays on its own host"), "other_host"))
}
