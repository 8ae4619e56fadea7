//! Fetching one URL: every hop judged, every byte counted.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
use jiff::Timestamp;
use reqwest::header::{self, HeaderMap};
use reqwest::{Response, StatusCode};
use url::Url;

use luaplan_base::{ErrorCode, ToolFailure};

use super::arguments::FetchArguments;
use super::settings::FetchUrlSettings;
use crate::net::allow_list::AllowList;
use crate::net::client::Clients;
use crate::net::failure::{from_client, http_status};
use crate::net::guard::{admit, parse_url};
use crate::net::redirect::redirect_target;

/// Headers of a plan that may follow a redirect to another origin; the rest may hold secrets.
const HEADERS_KEPT_ACROSS_ORIGINS: [header::HeaderName; 3] =
    [header::ACCEPT, header::ACCEPT_LANGUAGE, header::USER_AGENT];

/// What came back for one URL.
#[derive(Debug)]
pub(super) struct Fetched {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Where the redirects ended.
    pub(super) url: Url,
}

/// What all URLs of one call share.
pub(super) struct Transfer<'a> {
    pub(super) settings: &'a FetchUrlSettings,
    pub(super) allow: &'a AllowList,
    pub(super) clients: &'a Clients,
    pub(super) arguments: &'a FetchArguments,
    /// Body bytes of the call so far.
    pub(super) bytes_total: &'a AtomicU64,
    pub(super) now: Timestamp,
}

impl Transfer<'_> {
    /// Fetches one URL, following redirects.
    ///
    /// # Errors
    /// `url_invalid`, `url_blocked`, `too_many_redirects`, `http_status`, `fetch_failed`,
    /// `tool_timeout`, `result_too_large`.
    pub(super) async fn fetch(&self, text: &str) -> Result<Fetched, ToolFailure> {
        let mut url = parse_url(text)?;
        let mut headers = self.arguments.headers.clone();
        let mut redirects = 0;
        loop {
            let response = self.ask(&url, headers.clone()).await?;
            let Some(target) = redirect_target(&url, &response)? else {
                return self.finish(response, url).await;
            };
            redirects += 1;
            if redirects > self.settings.redirects_max {
                return Err(ToolFailure::new(
                    ErrorCode::TooManyRedirects,
                    format!("more than {} redirects", self.settings.redirects_max),
                )
                .with_detail("limit", i64::from(self.settings.redirects_max))
                .with_detail("observed", i64::from(redirects)));
            }
            if target.origin() != url.origin() {
                headers = HEADERS_KEPT_ACROSS_ORIGINS
                    .into_iter()
                    .filter_map(|name| headers.get(&name).cloned().map(|value| (name, value)))
                    .collect();
            }
            url = target;
        }
    }

    async fn ask(&self, url: &Url, headers: HeaderMap) -> Result<Response, ToolFailure> {
        let permission = admit(self.allow, url)?;
        self.clients
            .for_permission(permission)
            .request(self.arguments.method.clone(), url.clone())
            .headers(headers)
            .send()
            .await
            .map_err(|error| from_client(&error))
    }

    async fn finish(&self, response: Response, url: Url) -> Result<Fetched, ToolFailure> {
        let (status, headers) = (response.status(), response.headers().clone());
        if !status.is_success() {
            return Err(http_status(response, self.now).await);
        }
        let body = self.read_body(response).await?;
        Ok(Fetched { status, headers, body, url })
    }

    async fn read_body(&self, mut response: Response) -> Result<Bytes, ToolFailure> {
        let limit = self.settings.bytes_max_per_url;
        if let Some(announced) = response.content_length()
            && announced > limit
            && self.arguments.method != reqwest::Method::HEAD
        {
            return Err(too_large("bytes_max_per_url", limit, announced));
        }
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| from_client(&error))? {
            let size_bytes = (body.len() + chunk.len()) as u64;
            if size_bytes > limit {
                return Err(too_large("bytes_max_per_url", limit, size_bytes));
            }
            self.count(chunk.len() as u64)?;
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    }

    fn count(&self, chunk_bytes: u64) -> Result<(), ToolFailure> {
        let limit = self.settings.bytes_max_total;
        let total = self.bytes_total.fetch_add(chunk_bytes, Ordering::Relaxed).saturating_add(chunk_bytes);
        if total > limit { Err(too_large("bytes_max_total", limit, total)) } else { Ok(()) }
    }
}

fn too_large(key: &str, limit: u64, observed: u64) -> ToolFailure {
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    ToolFailure::new(ErrorCode::ResultTooLarge, format!("the body is larger than `{key}` of {limit} bytes"))
        .with_detail("limit", number(limit))
        .with_detail("observed", number(observed))
}
