//! Authorization for an MCP server at a `url`: a token with each request, renewed automatically.
//!
//! The protocol library does metadata, PKCE, registration and the exchange of tokens. This module decides
//! what it leaves open: which hosts may be reached, where tokens are stored, who renews them, what a
//! refusal means. A token goes to the server it was issued for and into the file of its login, and nowhere
//! else.

mod client;
mod credential_store;
mod exchange;
mod login;
mod renewal;
mod token_file;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rmcp::transport::auth::AuthError;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

pub(super) use client::AuthorizedClient;
pub use login::PendingLogin;

use luaplan_base::{Clock, Error, ErrorCode, Result, ToolFailure};

use self::exchange::OAuthExchange;
use self::token_file::{Login, TokenFile};
use super::address::Address;
use super::content::shown;
use super::http_error::HELP;
use super::settings::{OAuthGrant, OAuthSettings};
use crate::manifest::Scrubber;

/// The longest time to find the authorization server and get a token, all requests together.
const RENEWAL_MAX: Duration = Duration::from_secs(20);
/// After a failed renewal, calls fail for so long without another attempt.
const RENEWAL_PAUSE: Duration = Duration::from_secs(5);
/// The most earlier tokens that are still redacted from results: an answer may come late.
const SECRETS_MAX: usize = 16;

/// The client's name where it registers itself.
const CLIENT_NAME: &str = "luaplan";

const NO_METADATA: &str = "neither it nor its host says which authorization server gives leave";

/// The state of a login by its file. No server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginState {
    /// There is no login, or only one for another address or client.
    None,
    /// There is a token.
    Valid {
        /// When it expires, where the server said so.
        until: Option<jiff::Timestamp>,
        /// Whether it is then renewed automatically.
        renewed: bool,
    },
    /// The token has expired and cannot be renewed.
    Ended,
}

/// Gets tokens for one server.
pub struct Authorization {
    server: String,
    url: Url,
    address: Address,
    settings: OAuthSettings,
    file: TokenFile,
    exchange: Arc<OAuthExchange>,
    clock: Arc<dyn Clock>,
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    /// Every token this process has seen, newest last.
    secrets: Vec<SecretString>,
    /// Why the last request was not made, or was refused.
    failure: Option<ToolFailure>,
    /// The last renewal that failed, and until when it counts.
    pause: Option<(Timestamp, ToolFailure)>,
}

impl Authorization {
    /// Authorization for the server `server` at `url`, with its login in the file `path`.
    ///
    /// # Errors
    /// `config_invalid` for an address that is none.
    pub fn new(
        server: &str,
        url: &str,
        settings: OAuthSettings,
        path: &Path,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        let parsed = Url::parse(url).map_err(|error| {
            let key = format!("mcp.{server}.url");
            Error::new(ErrorCode::ConfigInvalid, format!("{key}: {error}")).with_detail("key", key)
        })?;
        Ok(Self {
            exchange: Arc::new(OAuthExchange::new(server, &parsed, &settings)?),
            server: server.to_owned(),
            address: Address::new(url),
            url: parsed,
            settings,
            file: TokenFile::new(path),
            clock,
            live: Mutex::default(),
        })
    }

    /// The state of the login.
    ///
    /// # Errors
    /// `config_unreadable` for a file that cannot be used.
    pub fn state(&self) -> Result<LoginState> {
        let Some(login) = self.login()? else { return Ok(LoginState::None) };
        let renewed = login.can_be_renewed() || self.is_service();
        Ok(match login.fresh_token(self.clock.now()) {
            None if !renewed => LoginState::Ended,
            _ => LoginState::Valid { until: login.ends_at(), renewed },
        })
    }

    /// Forgets the login; says whether there was one.
    ///
    /// # Errors
    /// `config_unreadable` where its file cannot be removed.
    pub async fn log_out(&self) -> Result<bool> {
        let _lock = self.file.lock(RENEWAL_MAX).await?;
        self.file.remove()
    }

    /// Gets a token by the client's own secret, for `client_credentials`.
    ///
    /// # Errors
    /// `mcp_login_failed` as the authorization server refuses.
    pub async fn log_in_as_service(&self) -> Result<()> {
        let _lock = self.file.lock(RENEWAL_MAX).await?;
        self.within(self.token_for_service())
            .await
            .map(drop)
            .map_err(|failure| Error::new(ErrorCode::McpLoginFailed, failure.message))
    }

    /// Whether no person is needed.
    #[must_use]
    pub fn is_service(&self) -> bool {
        self.settings.grant == OAuthGrant::ClientCredentials
    }

    /// The texts that only the server may see.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let configured = self.settings.client_secret.clone();
        self.live().secrets.iter().cloned().chain(configured).collect()
    }

    /// Why the last request was refused, where it was.
    pub(super) fn take_failure(&self) -> Option<ToolFailure> {
        self.live().failure.take()
    }

    fn note(&self, failure: Option<ToolFailure>) {
        self.live().failure = failure;
    }

    /// The token for a request; `None` without a login, as a server may require none.
    async fn token(self: &Arc<Self>) -> Result<Option<String>, ToolFailure> {
        let login = self.login().map_err(|error| self.unreadable(&error))?;
        match login {
            Some(login) => match login.fresh_token(self.clock.now()) {
                Some(token) => Ok(Some(token)),
                None => self.renewed("").await.map(Some),
            },
            None if self.is_service() => self.renewed("").await.map(Some),
            None => Ok(None),
        }
    }

    /// Another token than `refused`.
    async fn renewed(self: &Arc<Self>, refused: &str) -> Result<String, ToolFailure> {
        let (this, refused) = (Arc::clone(self), refused.to_owned());
        // The waiting call may be cancelled first. A refresh token is valid once: where the answer to it is
        // lost, so is the login.
        let renewal = tokio::spawn(async move { this.renewed_whole(&refused).await });
        renewal.await.unwrap_or_else(|_| Err(self.unavailable("its renewal broke off")))
    }

    async fn renewed_whole(&self, refused: &str) -> Result<String, ToolFailure> {
        let lock = self.file.lock(RENEWAL_MAX).await;
        let _lock = lock.map_err(|error| self.unavailable(error.message()))?;
        let login = self.login().map_err(|error| self.unreadable(&error))?;
        // Another process, or another call, may have renewed it meanwhile.
        let token = login.as_ref().and_then(|login| login.fresh_token(self.clock.now()));
        if let Some(token) = token.filter(|token| token != refused) {
            return Ok(token);
        }
        if let Some((until, failure)) = &self.live().pause
            && self.clock.now() < *until
        {
            return Err(failure.clone());
        }
        let renewed = if self.is_service() {
            self.within(self.token_for_service()).await
        } else {
            let login = login.ok_or_else(|| self.login_required("nobody is logged in"))?;
            self.within(self.refreshed(&login)).await
        };
        let until = self.clock.now().saturating_add(RENEWAL_PAUSE).unwrap_or(Timestamp::MAX);
        self.live().pause = renewed.as_ref().err().map(|failure| (until, failure.clone()));
        renewed
    }

    async fn within<T>(&self, asked: impl Future<Output = Result<T, ToolFailure>>) -> Result<T, ToolFailure> {
        let asked = tokio::time::timeout(RENEWAL_MAX, asked).await;
        asked.unwrap_or_else(|_| {
            let limit_ms = RENEWAL_MAX.as_millis();
            Err(self.unavailable(&format!("no token within {limit_ms} ms")))
        })
    }

    /// The stored login, where it is for this address and this client.
    fn login(&self) -> Result<Option<Login>> {
        let login = self.file.load()?.filter(|login| {
            let is_own_client = self.settings.client_id.as_ref().is_none_or(|id| *id == login.client_id);
            login.url == self.url.as_str() && is_own_client
        });
        if let Some(login) = &login {
            self.remember(login.secrets());
        }
        Ok(login)
    }

    fn remember(&self, secrets: impl IntoIterator<Item = String>) {
        let mut live = self.live();
        for secret in secrets {
            if live.secrets.iter().all(|known| known.expose_secret() != secret) {
                live.secrets.push(SecretString::from(secret));
            }
        }
        let too_many = live.secrets.len().saturating_sub(SECRETS_MAX);
        live.secrets.drain(..too_many);
    }

    fn client_secret(&self, registered: Option<&str>) -> Option<String> {
        let configured = self.settings.client_secret.as_ref().map(ExposeSecret::expose_secret);
        configured.or(registered).map(str::to_owned)
    }

    fn login_required(&self, why: &str) -> ToolFailure {
        let server = &self.server;
        let what_to_do = if self.is_service() {
            format!("look at `[mcp.{server}.oauth]`")
        } else {
            format!("log in: `luaplan mcp login {server}`")
        };
        let message = format!("the MCP server `{server}` wants a login: {why}; {what_to_do}");
        ToolFailure::new(ErrorCode::McpLoginRequired, message)
    }

    /// The failure for a server that accepts the token and requires further scopes.
    fn scope_required(&self, scope: &str) -> ToolFailure {
        let (server, scope) = (&self.server, shown(scope));
        let what_to_do = if self.is_service() {
            format!("add what is missing to `mcp.{server}.oauth.scopes`")
        } else {
            self.wider_login(&scope)
        };
        let message =
            format!("the MCP server `{server}` wants a login that may do more (`{scope}`); {what_to_do}");
        ToolFailure::new(ErrorCode::McpLoginRequired, message).with_detail("scope", scope)
    }

    /// The scopes of `needed` after those the login has, as the next login replaces this one. Empty where
    /// `needed` is: the present scopes alone would request nothing new.
    fn with_held(&self, needed: &str) -> Vec<String> {
        let login = self.login().ok().flatten().filter(|_| !needed.is_empty());
        let held = login.map(|login| login.credentials.granted_scopes).unwrap_or_default();
        let mut scopes = Vec::new();
        for scope in held.iter().map(|scope| shown(scope)).chain(needed.split_whitespace().map(str::to_owned))
        {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        scopes
    }

    /// The command for a login with the present scopes and `needed`.
    fn wider_login(&self, needed: &str) -> String {
        let (server, scopes) = (&self.server, self.with_held(needed));
        if !scopes.iter().all(|scope| is_plain_word(scope)) {
            return format!(
                "log in for that: `luaplan mcp login {server}`, with `--scope` and each of these names in quotes \
                 (a shell would take some of them for commands)"
            );
        }
        let flags: String = scopes.iter().map(|scope| format!(" --scope {scope}")).collect();
        format!("log in for that: `luaplan mcp login {server}{flags}`")
    }

    fn failed(&self, error: &AuthError) -> ToolFailure {
        let why = self.exchange.take_failure().map_or_else(|| words(error), |failure| failure.message);
        self.unavailable(&shown(&why))
    }

    /// Removes secrets: an authorization server may repeat what it received.
    fn scrubbed(&self, text: String) -> String {
        self.address.hide(Scrubber::new(&self.secrets()).text(text))
    }

    /// The failure for an unreadable login, which a retry does not cure.
    fn unreadable(&self, error: &Error) -> ToolFailure {
        let mut failure = self.unavailable(&format!("{}; {}", error.message(), error.help()));
        failure.retryable = false;
        failure.with_detail(HELP, error.help())
    }

    /// The server's resource identifier for the authorization server: without query and user, which may be
    /// secret (RFC 8707 section 2 advises against the former).
    fn identifier(&self) -> Url {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        // These cannot fail for an address with a host.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url
    }

    fn unavailable(&self, why: &str) -> ToolFailure {
        let why = self.scrubbed(why.to_owned());
        let message = format!("no token for the MCP server `{}`: {why}", self.server);
        ToolFailure::new(ErrorCode::McpUnavailable, message).retryable()
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An error of the library with what caused it.
fn words(error: &AuthError) -> String {
    match error {
        AuthError::MetadataError(what) => return what.clone(),
        AuthError::NoAuthorizationSupport => return format!("it asks for no login, and {NO_METADATA}"),
        _ => {}
    }
    let source = std::error::Error::source(error);
    source.map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}

/// Whether a shell reads it as one plain word: the server chooses it, and users paste it.
fn is_plain_word(scope: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/+@=,-".contains(&byte);
    !scope.starts_with('-') && scope.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_command_is_made_of_what_a_shell_would_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("far.login.json");
        let far = Authorization::new(
            "far",
            "https://far.example.com/mcp",
            OAuthSettings::default(),
            &path,
            Arc::new(luaplan_base::SystemClock),
        )
        .unwrap();
        let told = |scope: &str| far.scope_required(scope).message;
        let command = "`luaplan mcp login far --scope files.read --scope https://a.example/x`";
        assert!(told("files.read https://a.example/x").contains(command));
        for scope in
            ["a $(touch${IFS}/tmp/x)", "`id`", "a;id", "a|b", "--paste", "a&b", "a>b", "'a'", "~x", "a*"]
        {
            let told = told(scope);
            assert!(!told.contains("--scope a") && !told.contains(&format!("far --scope {scope}")), "{told}");
            assert!(told.contains("in quotes"), "{told}");
        }
    }
}
