//! Decides which URL may be requested, and which address a name may resolve to.
//!
//! The guard judges a URL before every request, redirects included. It judges literal addresses here and
//! names at their resolution, so that the client connects to a checked address and a second resolution
//! cannot change it.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use luaplan_base::{ErrorCode, ToolFailure};

use super::allow_list::{AllowList, Permission};
use crate::net::address::refusal;

const URL_BYTES_MAX: usize = 8 * 1024;

/// Turns names into addresses.
#[async_trait]
pub trait HostLookup: Send + Sync + 'static {
    /// Every address of `host`.
    ///
    /// # Errors
    /// Where the name does not exist or cannot be resolved.
    async fn lookup(&self, host: &str) -> std::io::Result<Vec<IpAddr>>;
}

/// The operating system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemLookup;

#[async_trait]
impl HostLookup for SystemLookup {
    async fn lookup(&self, host: &str) -> std::io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

/// Parses what a plan gave as a URL.
///
/// # Errors
/// `url_invalid` for anything but an absolute http or https URL without user and password.
pub(crate) fn parse_url(text: &str) -> Result<Url, ToolFailure> {
    let invalid = |reason: String| ToolFailure::new(ErrorCode::UrlInvalid, reason);
    if text.len() > URL_BYTES_MAX {
        return Err(invalid(format!("the URL is longer than {URL_BYTES_MAX} bytes"))
            .with_detail("limit", URL_BYTES_MAX as i64)
            .with_detail("observed", text.len() as i64));
    }
    // The parser would drop line breaks and tabs silently; a URL with them is an attack or a
    // mistake.
    if text.chars().any(char::is_control) {
        return Err(invalid("the URL has a control character or a line break in it".to_owned()));
    }
    let url = Url::parse(text).map_err(|error| invalid(format!("`{text}` is not a URL: {error}")))?;
    check_form(&url)?;
    Ok(url)
}

/// The rules of form for every requested URL, redirect targets too.
pub(crate) fn check_form(url: &Url) -> Result<(), ToolFailure> {
    let invalid = |reason: String| ToolFailure::new(ErrorCode::UrlInvalid, reason);
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid(format!(
            "the scheme `{}` cannot be fetched, only http and https can",
            url.scheme()
        )));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(invalid("a URL may not carry a user or password; send a header instead".to_owned()));
    }
    if url.port() == Some(0) {
        return Err(invalid("port 0 cannot be fetched".to_owned()));
    }
    match url.host() {
        None => Err(invalid("the URL has no host".to_owned())),
        Some(_) => Ok(()),
    }
}

/// Judges a URL of correct form by its host.
///
/// # Errors
/// `url_blocked` with `rule`.
pub(crate) fn admit(allow: &AllowList, url: &Url) -> Result<Permission, ToolFailure> {
    let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
        return Err(ToolFailure::new(ErrorCode::UrlInvalid, "the URL has no host"));
    };
    let permission = allow.permission(&host, port);
    let literal = match host {
        Host::Ipv4(address) => Some(IpAddr::V4(address)),
        Host::Ipv6(address) => Some(IpAddr::V6(address)),
        Host::Domain(_) => None,
    };
    match (permission, literal.and_then(refusal)) {
        (Permission::Refused, _) => Err(blocked(
            format!("`{host}:{port}` is not on the list of allowed hosts ({allow})"),
            "allow_list",
        )),
        (Permission::Public, Some(refusal)) => {
            Err(blocked(format!("`{host}` is not a public address ({})", refusal.rule), refusal.rule))
        }
        _ => Ok(permission),
    }
}

/// The failure for an address that is refused.
pub(crate) fn blocked(message: String, rule: &'static str) -> ToolFailure {
    ToolFailure::new(ErrorCode::UrlBlocked, message).with_detail("rule", rule)
}

/// A name resolved only to addresses that may not be reached. The HTTP client carries this as the cause
/// of its connection error.
#[derive(Debug, thiserror::Error)]
#[error("`{host}` leads to an address that is not public ({rule})")]
pub(crate) struct BlockedAddress {
    host: String,
    pub(crate) rule: &'static str,
}

/// The resolver of one HTTP client: returns only addresses that passed.
pub(crate) struct GuardedResolver {
    lookup: Arc<dyn HostLookup>,
    permission: Permission,
}

impl GuardedResolver {
    /// A resolver for hosts with this permission.
    pub(crate) fn new(lookup: Arc<dyn HostLookup>, permission: Permission) -> Self {
        Self { lookup, permission }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, permission) = (self.lookup.clone(), self.permission);
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = lookup.lookup(&host).await?;
            let addresses = permitted(&host, &found, permission)?;
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

/// The permitted addresses of a name.
pub(crate) fn permitted(
    host: &str,
    found: &[IpAddr],
    permission: Permission,
) -> Result<Vec<IpAddr>, Box<dyn std::error::Error + Send + Sync>> {
    let mut refused = None;
    let mut passed = Vec::with_capacity(found.len());
    for address in found {
        match refusal(*address) {
            Some(refusal) if permission != Permission::Named || !refusal.opened_by_name => {
                refused = Some(refusal.rule);
            }
            _ => passed.push(*address),
        }
    }
    match refused {
        Some(rule) if passed.is_empty() => Err(BlockedAddress { host: host.to_owned(), rule }.into()),
        _ if passed.is_empty() => Err(format!("`{host}` has no address").into()),
        _ => Ok(passed),
    }
}
