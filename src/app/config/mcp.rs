//! `[mcp.NAME]`: servers whose tools plans may call.

use std::collections::BTreeMap;
use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use luaplan_base::{Effect, Error, ErrorCode, Result, parse_duration};
use luaplan_catalog::{is_builtin, is_lua_keyword};
use luaplan_journal::looks_secret;
use luaplan_plan::globals;
use luaplan_tools::mcp::{
    McpServerSettings, McpTransport, OAuthGrant, OAuthSettings, UnwrapResults, secrets_of_address,
    shown_address,
};

use super::Environment;
use super::redact::long_enough;
use super::values::{invalid, keyed};

/// `[mcp.NAME]`, as written. Exactly one of `command` and `url`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawMcpServer {
    /// The program to start, and its arguments. No shell reads them.
    pub command: Vec<String>,
    /// Variables of this environment the program gets, besides `PATH`.
    pub env: Vec<String>,
    /// The address of a server that runs already.
    pub url: String,
    /// What is sent with each request; `env:NAME` stands for the value of a variable.
    pub headers: BTreeMap<String, String>,
    /// How luaplan logs in to a server at a `url` that wants that.
    pub oauth: RawMcpOAuth,
    /// Effects of single tools: `read`, `write`, `send` or `spend`.
    pub effects: BTreeMap<String, String>,
    /// Which results plans get without the record that the server wraps them in: `auto`, `always` or `never`.
    pub unwrap_results: String,
    /// How long the server may take until it answers after its start.
    pub start_timeout: String,
    /// False takes the server's tools away.
    pub enabled: bool,
}

impl Default for RawMcpServer {
    fn default() -> Self {
        Self {
            command: Vec::new(),
            env: Vec::new(),
            url: String::new(),
            headers: BTreeMap::new(),
            oauth: RawMcpOAuth::default(),
            effects: BTreeMap::new(),
            unwrap_results: "auto".into(),
            start_timeout: "20s".into(),
            enabled: true,
        }
    }
}

/// `[mcp.NAME.oauth]`, as written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawMcpOAuth {
    /// Who gives leave: `authorization_code` (a person) or `client_credentials` (the client's secret).
    pub grant: String,
    /// The client luaplan is registered as; empty where it registers itself.
    pub client_id: String,
    /// The variable with that client's secret.
    pub client_secret_env: String,
    /// What is asked for; what the server names where this is empty.
    pub scopes: Vec<String>,
    /// The loopback port the browser is sent back to; 0 takes a free one.
    pub redirect_port: u16,
    /// Hosts the authorization server may be on, besides that of `url`.
    pub allow_hosts: Vec<String>,
}

impl Default for RawMcpOAuth {
    fn default() -> Self {
        Self {
            grant: AUTHORIZATION_CODE.into(),
            client_id: String::new(),
            client_secret_env: String::new(),
            scopes: Vec::new(),
            redirect_port: 0,
            allow_hosts: Vec::new(),
        }
    }
}

const AUTHORIZATION_CODE: &str = "authorization_code";
const CLIENT_CREDENTIALS: &str = "client_credentials";

/// What of a variable's name says that its value is secret.
const SECRET_WORDS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"];

/// `[mcp]`, checked: the servers that are enabled, and the secrets that go to servers.
pub(super) fn check(
    raw: &BTreeMap<String, RawMcpServer>,
    environment: &Environment,
) -> Result<(BTreeMap<String, McpServerSettings>, Vec<SecretString>)> {
    let (mut servers, mut secrets) = (BTreeMap::new(), Vec::new());
    for (name, raw) in raw.iter().filter(|(_, raw)| raw.enabled) {
        if !cfg!(feature = "mcp") {
            let message = format!("mcp.{name}: this build of luaplan has no MCP servers");
            return Err(Error::new(ErrorCode::ConfigInvalid, message)
                .with_help("set `enabled = false`, or use a build with the feature `mcp`, as releases are")
                .with_detail("key", format!("mcp.{name}")));
        }
        check_name(name)?;
        let mut missing = Vec::new();
        let mut taken = Taken { environment, secrets: &mut secrets, missing: &mut missing };
        let transport = transport(name, raw, &mut taken)?;
        let settings = McpServerSettings {
            name: name.clone(),
            transport,
            start_timeout: start_timeout(name, &raw.start_timeout)?,
            effects: raw.effects.iter().map(|effect| check_effect(name, effect)).collect::<Result<_>>()?,
            unwrap_results: unwrap_results(name, &raw.unwrap_results)?,
            missing: (!missing.is_empty()).then(|| missing.join("; ")),
        };
        servers.insert(name.clone(), settings);
    }
    Ok((servers, secrets.into_iter().map(SecretString::from).collect()))
}

/// What servers take from variables.
struct Taken<'a> {
    environment: &'a Environment,
    secrets: &'a mut Vec<String>,
    /// One that is not set is that server's fault alone: everything else works.
    missing: &'a mut Vec<String>,
}

impl Taken<'_> {
    fn variable(&mut self, key: &str, name: &str) -> Option<String> {
        let found = self.environment.get(name);
        if found.is_none() {
            self.missing.push(format!("`{key}` is taken from ${name}, which is not set"));
        }
        found.map(str::to_owned)
    }
}

fn check_name(name: &str) -> Result<()> {
    let key = format!("mcp.{name}");
    let well_formed = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if !well_formed || is_lua_keyword(name) {
        return Err(invalid(
            &key,
            name,
            "a name of lower-case letters, digits and `_` that is no word of Lua",
        ));
    }
    if globals::all().any(|global| global == name) || is_builtin(name) || name == "run" {
        return Err(invalid(&key, name, "a name that plans do not have for something else"));
    }
    Ok(())
}

fn transport(name: &str, raw: &RawMcpServer, taken: &mut Taken<'_>) -> Result<McpTransport> {
    let key = format!("mcp.{name}");
    match (raw.command.is_empty(), raw.url.is_empty()) {
        (false, true) => {
            if raw.oauth != RawMcpOAuth::default() {
                let message = format!("{key}.oauth is for a server at a `url`, and this one is a `command`");
                return Err(Error::new(ErrorCode::ConfigInvalid, message).with_detail("key", key.as_str()));
            }
            let mut variables = BTreeMap::new();
            for variable in raw.env.iter().map(String::as_str).chain(["PATH"]) {
                let Some(value) = taken.environment.get(variable) else { continue };
                if SECRET_WORDS.iter().any(|word| variable.to_ascii_uppercase().contains(word)) {
                    taken.secrets.push(value.to_owned());
                }
                variables.insert(variable.to_owned(), value.to_owned());
            }
            Ok(McpTransport::Command {
                command: raw.command.clone(),
                environment: variables,
                folder: taken.environment.working_dir.clone(),
            })
        }
        (true, false) => {
            if !url::Url::parse(&raw.url).is_ok_and(|url| ["http", "https"].contains(&url.scheme())) {
                return Err(invalid(
                    &format!("{key}.url"),
                    &shown_address(&raw.url),
                    "an address such as `https://example.com/mcp`",
                ));
            }
            taken.secrets.extend(secrets_of_address(&raw.url));
            let mut headers = BTreeMap::new();
            for (header, value) in &raw.headers {
                let value = match value.strip_prefix("env:") {
                    None => {
                        if looks_secret(header) {
                            taken.secrets.extend(whole_and_word(value));
                        }
                        value.clone()
                    }
                    Some(variable) => {
                        let key = format!("{key}.headers.{header}");
                        let Some(found) = taken.variable(&key, variable) else { continue };
                        let secrets = whole_and_word(&found);
                        secrets.iter().try_for_each(|secret| long_enough(&key, secret))?;
                        taken.secrets.extend(secrets);
                        found
                    }
                };
                headers.insert(header.clone(), value);
            }
            let oauth = oauth(&key, raw, taken)?;
            Ok(McpTransport::Url { url: raw.url.clone(), headers, oauth })
        }
        _ => {
            let message = format!("{key} needs exactly one of `command` and `url`");
            Err(Error::new(ErrorCode::ConfigInvalid, message).with_detail("key", key.as_str()))
        }
    }
}

/// A header's value, and what follows `Bearer` in it, which is a secret by itself.
fn whole_and_word(value: &str) -> Vec<String> {
    let word = value.split_once(' ').map(|(_, word)| word.trim().to_owned());
    word.into_iter().chain([value.to_owned()]).collect()
}

/// `[mcp.NAME.oauth]`, checked; `None` where a configured header says who asks.
fn oauth(key: &str, raw: &RawMcpServer, taken: &mut Taken<'_>) -> Result<Option<OAuthSettings>> {
    let key = format!("{key}.oauth");
    let fault =
        |message: String| Err(Error::new(ErrorCode::ConfigInvalid, message).with_detail("key", key.as_str()));
    let oauth = &raw.oauth;
    if raw.headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) {
        if *oauth != RawMcpOAuth::default() {
            return fault(format!("{key} and an `Authorization` header cannot both say who asks"));
        }
        return Ok(None);
    }
    let grant = match oauth.grant.as_str() {
        AUTHORIZATION_CODE => OAuthGrant::AuthorizationCode,
        CLIENT_CREDENTIALS => OAuthGrant::ClientCredentials,
        other => {
            let known = format!("`{AUTHORIZATION_CODE}` or `{CLIENT_CREDENTIALS}`");
            return Err(invalid(&format!("{key}.grant"), other, &known));
        }
    };
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let variable = text(&oauth.client_secret_env);
    if (variable.is_some() || grant == OAuthGrant::ClientCredentials) && oauth.client_id.is_empty() {
        return fault(format!("{key}.client_id is missing: a secret is that of a client"));
    }
    if variable.is_none() && grant == OAuthGrant::ClientCredentials {
        return fault(format!("{key}.client_secret_env is missing: `{CLIENT_CREDENTIALS}` needs a secret"));
    }
    let secret = variable.and_then(|variable| taken.variable(&format!("{key}.client_secret_env"), &variable));
    if let Some(secret) = &secret {
        long_enough(&format!("{key}.client_secret_env"), secret)?;
        taken.secrets.push(secret.clone());
    }
    let settings = OAuthSettings {
        grant,
        client_id: text(&oauth.client_id),
        client_secret: secret.map(SecretString::from),
        scopes: check_scopes(&key, &oauth.scopes)?,
        redirect_port: oauth.redirect_port,
        allow_hosts: oauth.allow_hosts.clone(),
    };
    settings.check_hosts(&format!("{key}.allow_hosts"))?;
    Ok(Some(settings))
}

/// A scope is a word of the characters of RFC 6749 section 3.3; they are sent with blanks between them.
fn check_scopes(key: &str, scopes: &[String]) -> Result<Vec<String>> {
    let is_word = |scope: &str| {
        !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte))
    };
    if let Some(odd) = scopes.iter().find(|scope| !is_word(scope)) {
        let expected = "one word without blanks for each scope, such as `[\"notes.read\", \"notes.write\"]`";
        return Err(invalid(&format!("{key}.scopes"), &odd.escape_debug().to_string(), expected));
    }
    Ok(scopes.to_vec())
}

fn unwrap_results(server: &str, text: &str) -> Result<UnwrapResults> {
    match text {
        "auto" => Ok(UnwrapResults::Auto),
        "always" => Ok(UnwrapResults::Always),
        "never" => Ok(UnwrapResults::Never),
        _ => Err(invalid(&format!("mcp.{server}.unwrap_results"), text, "`auto`, `always` or `never`")),
    }
}

fn start_timeout(name: &str, text: &str) -> Result<Duration> {
    parse_duration(text).map_err(|error| keyed(&format!("mcp.{name}.start_timeout"), &error))
}

fn check_effect(server: &str, (tool, text): (&String, &String)) -> Result<(String, Effect)> {
    let effect = [Effect::Read, Effect::Write, Effect::Send, Effect::Spend]
        .into_iter()
        .find(|effect| effect.as_str() == text)
        .ok_or_else(|| {
            invalid(&format!("mcp.{server}.effects.{tool}"), text, "`read`, `write`, `send` or `spend`")
        })?;
    Ok((tool.clone(), effect))
}
