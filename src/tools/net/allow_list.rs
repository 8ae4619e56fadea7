//! `allow_hosts`: the hosts that may be reached.

use std::fmt;

use url::Host;

use luaplan_base::{Error, ErrorCode, Result};

/// What the list says about one host and port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    /// Not on the list.
    Refused,
    /// Allowed as long as the address is public.
    Public,
    /// Named in full, so private addresses are meant.
    Named,
}

/// The parsed list.
#[derive(Debug, Clone)]
pub(crate) struct AllowList(Vec<Entry>);

#[derive(Debug, Clone)]
struct Entry {
    pattern: Pattern,
    /// Any port where absent.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    Any,
    /// With its leading dot.
    Below(String),
    Exact(Host),
}

impl AllowList {
    /// Parses the entries; an empty list allows every public host.
    ///
    /// # Errors
    /// `config_invalid` naming the entry.
    pub(crate) fn parse(tool: &str, entries: &[String]) -> Result<Self> {
        Self::parse_under(&format!("tools.{tool}.allow_hosts"), entries)
    }

    /// As [`AllowList::parse`], for a list that stands under the configuration's `key`.
    ///
    /// # Errors
    /// `config_invalid` naming the entry.
    pub(crate) fn parse_under(key: &str, entries: &[String]) -> Result<Self> {
        if entries.is_empty() {
            return Ok(Self(vec![Entry { pattern: Pattern::Any, port: None }]));
        }
        entries.iter().map(|entry| parse_entry(key, entry)).collect::<Result<_>>().map(Self)
    }

    /// A list that allows nothing.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// The same list, and this host on this port named in full.
    pub(crate) fn and_named(mut self, host: &Host<&str>, port: u16) -> Self {
        self.0.push(Entry { pattern: Pattern::Exact(host.to_owned()), port: Some(port) });
        self
    }

    /// What the list says.
    pub(crate) fn permission(&self, host: &Host<&str>, port: u16) -> Permission {
        let mut permission = Permission::Refused;
        for entry in &self.0 {
            if entry.port.is_some_and(|wanted| wanted != port) || !entry.pattern.matches(host) {
                continue;
            }
            if matches!(entry.pattern, Pattern::Exact(_)) {
                return Permission::Named;
            }
            permission = Permission::Public;
        }
        permission
    }
}

impl fmt::Display for AllowList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, entry) in self.0.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            match &entry.pattern {
                Pattern::Any => write!(f, "{comma}*")?,
                Pattern::Below(domain) => write!(f, "{comma}*{domain}")?,
                Pattern::Exact(host) => write!(f, "{comma}{host}")?,
            }
            if let Some(port) = entry.port {
                write!(f, ":{port}")?;
            }
        }
        Ok(())
    }
}

impl Pattern {
    fn matches(&self, host: &Host<&str>) -> bool {
        match (self, host) {
            (Self::Any, _) => true,
            (Self::Below(domain), Host::Domain(name)) => {
                let name = without_root_dot(name);
                name.len() > domain.len() && name.ends_with(domain.as_str())
            }
            (Self::Exact(Host::Domain(wanted)), Host::Domain(name)) => wanted == without_root_dot(name),
            (Self::Exact(Host::Ipv4(wanted)), Host::Ipv4(address)) => wanted == address,
            (Self::Exact(Host::Ipv6(wanted)), Host::Ipv6(address)) => wanted == address,
            _ => false,
        }
    }
}

fn without_root_dot(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

fn parse_entry(key: &str, entry: &str) -> Result<Entry> {
    let invalid = || {
        Error::new(ErrorCode::ConfigInvalid, format!("`{}` in `{key}` is not a host", entry.escape_debug()))
            .with_detail("key", key)
            .with_help("use `host`, `host:port`, `*.domain` or `*`, without scheme, user or path")
    };
    // The URL library silently drops some of these.
    if entry.contains(|c: char| c.is_whitespace() || c.is_control() || "/@%?#\\".contains(c)) {
        return Err(invalid());
    }
    let (host, port) = split_port(entry).ok_or_else(invalid)?;
    let pattern = match host {
        "*" => Pattern::Any,
        _ => match host.strip_prefix("*.") {
            Some(domain) => match Host::parse(without_root_dot(domain)) {
                Ok(Host::Domain(domain)) if !domain.contains('*') => Pattern::Below(format!(".{domain}")),
                _ => return Err(invalid()),
            },
            None => match Host::parse(without_root_dot(host)) {
                Ok(Host::Domain(name)) if name.contains('*') => return Err(invalid()),
                Ok(host) => Pattern::Exact(host),
                Err(_) => return Err(invalid()),
            },
        },
    };
    Ok(Entry { pattern, port })
}

/// `host:port`, `[v6]:port`, or either without a port. A bare IPv6 address needs its brackets.
fn split_port(entry: &str) -> Option<(&str, Option<u16>)> {
    let host_end = entry.rfind(']').map_or(0, |bracket| bracket + 1);
    let Some(colon) = entry.get(host_end..)?.rfind(':').map(|at| at + host_end) else {
        return Some((entry, None));
    };
    let port: u16 = entry.get(colon + 1..)?.parse().ok()?;
    (port != 0).then_some((entry.get(..colon)?, Some(port)))
}
