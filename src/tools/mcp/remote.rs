//! A server at a `url`, spoken to by streamable HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt as _};

use super::handler::Handler;
use super::http_error::{LastHttpError, cause};
use super::oauth::{Authorization, AuthorizedClient};

/// Connects, or says in words why not.
pub(super) async fn serve(
    handler: Handler,
    url: &str,
    headers: &BTreeMap<String, String>,
    authorization: Option<Arc<Authorization>>,
    http_error: LastHttpError,
) -> Result<RunningService<RoleClient, Handler>, String> {
    // Another part may have installed it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
    let inner = client.build().map_err(|error| error.to_string())?;
    let headers: Option<HashMap<_, _>> = headers.iter().map(|(name, value)| header(name, value)).collect();
    let headers = headers.ok_or_else(|| "a header cannot be sent".to_owned())?;
    let config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(headers);
    let client = AuthorizedClient { inner, authorization, http_error };
    let transport = StreamableHttpClientTransport::with_client(client, config);
    handler.serve(transport).await.map_err(|error| cause(&error))
}

fn header(name: &str, value: &str) -> Option<(HeaderName, HeaderValue)> {
    let mut value: HeaderValue = value.parse().ok()?;
    value.set_sensitive(true);
    Some((name.parse().ok()?, value))
}
