//! `[mcp.NAME]`, ready to use.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use luaplan_base::{Effect, Result};

use crate::net::allow_list::AllowList;

/// How a server is reached.
#[derive(Clone)]
pub enum McpTransport {
    /// A program that is started, and spoken to over its pipes.
    Command {
        /// Program and arguments; no shell reads them.
        command: Vec<String>,
        /// All of its environment.
        environment: BTreeMap<String, String>,
        /// The folder it starts in.
        folder: PathBuf,
    },
    /// Streamable HTTP.
    Url {
        /// Where.
        url: String,
        /// What is sent with each request; the values may be secret.
        headers: BTreeMap<String, String>,
        /// How to get a token where the server requires one; `None` where `headers` authenticate the client.
        oauth: Option<OAuthSettings>,
    },
}

/// How to get tokens from the authorization server of a server at a `url`.
#[derive(Clone, Default)]
pub struct OAuthSettings {
    /// Who authorizes luaplan.
    pub grant: OAuthGrant,
    /// The client luaplan is registered as; without one it registers itself.
    pub client_id: Option<String>,
    /// The secret of that client, where it has one.
    pub client_secret: Option<SecretString>,
    /// The requested scopes; those that the server names where this is empty.
    pub scopes: Vec<String>,
    /// The loopback port the browser is sent back to; 0 takes a free one.
    pub redirect_port: u16,
    /// Hosts the authorization server may be on, as for `fetch_url`: public ones where this is empty.
    pub allow_hosts: Vec<String>,
}

/// Who authorizes luaplan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OAuthGrant {
    /// A person, in a browser: `luaplan mcp login`.
    #[default]
    AuthorizationCode,
    /// The client's own secret.
    ClientCredentials,
}

impl OAuthSettings {
    /// Refuses hosts that are none.
    ///
    /// # Errors
    /// `config_invalid` naming the entry of `key`.
    pub fn check_hosts(&self, key: &str) -> Result<()> {
        AllowList::parse_under(key, &self.allow_hosts).map(drop)
    }
}

/// Which results are taken out of the record that holds nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnwrapResults {
    /// Those that the server marks as wrapped, or whose schema has `result` as its one member.
    #[default]
    Auto,
    /// Those whose schema has one member, whatever its name.
    Always,
    /// None.
    Never,
}

/// One server, as configured.
#[derive(Clone)]
pub struct McpServerSettings {
    /// The name plans put before the dot.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// How long it may take until it answers after its start.
    pub start_timeout: Duration,
    /// Effects of single tools, where the operator does not trust the server's hints.
    pub effects: BTreeMap<String, Effect>,
    /// Which results plans get without the record that the server wraps them in.
    pub unwrap_results: UnwrapResults,
    /// The variable or secret that its configuration refers to and that is missing; such a server is not called.
    pub missing: Option<String>,
}

/// Without what may be secret.
impl fmt::Debug for McpServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerSettings").field("name", &self.name).finish_non_exhaustive()
    }
}
