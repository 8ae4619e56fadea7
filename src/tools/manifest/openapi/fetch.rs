//! Fetches a document: one request, to the host that the user named.

use jiff::Timestamp;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use url::{Host, Url};

use luaplan_base::{Error, ErrorCode, Result, ToolFailure};

use crate::manifest::http::{Exchange, HttpGrants, Request};
use crate::net::allow_list::AllowList;
use crate::net::client::{ClientSettings, Clients};
use crate::net::guard::{SystemLookup, parse_url};

/// The largest document that is read, from a file or a server: 32 MiB.
pub const DOCUMENT_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// Fetches a document by `https`, or by `http` from loopback; redirects stay on the host. Returns its
/// text and the requested address.
///
/// # Errors
/// `openapi_unusable` where it cannot be fetched, saying why.
pub async fn fetch(address: &str, now: Timestamp) -> Result<(String, Url)> {
    let unusable = |what: &str| {
        Error::new(ErrorCode::OpenapiUnusable, format!("{address}: {what}"))
            .with_help("look at the address, or save the document and import the file")
    };
    let failed = |failure: ToolFailure| unusable(&failure.message);
    let url = parse_url(address).map_err(failed)?;
    if url.scheme() == "http" && !is_loopback(&url) {
        return Err(unusable("it would come unprotected: use `https`, or save the document in a file"));
    }
    let host = url.host_str().unwrap_or_default().to_owned();
    let port = url.port_or_known_default().unwrap_or_default();
    let grants = HttpGrants { bytes_max: DOCUMENT_BYTES_MAX, ..HttpGrants::default() };
    let exchange = Exchange {
        allow: AllowList::parse("import", &[format!("{host}:{port}")])?,
        clients: Clients::build("import", &ClientSettings::default(), std::sync::Arc::new(SystemLookup))?,
        grants,
    };
    let accept = HeaderValue::from_static("application/json, application/yaml;q=0.9, */*;q=0.5");
    let headers = HeaderMap::from_iter([(ACCEPT, accept)]);
    let request = Request { method: reqwest::Method::GET, url: url.clone(), headers, body: None };
    let mut bytes_left = DOCUMENT_BYTES_MAX;
    let answer = exchange.send(&request, &[], &mut bytes_left, now).await.map_err(failed)?;
    let text = String::from_utf8(answer.body.into()).map_err(|_| unusable("it is not UTF-8 text"))?;
    Ok((text, url))
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}
