//! A user's login: the address to open, and the browser's redirect.

use std::sync::Arc;

use rmcp::transport::auth::{AuthError, AuthorizationManager, OAuthClientConfig};
use url::Url;

use luaplan_base::{Error, ErrorCode, Result};

use super::super::content::shown;
use super::exchange::is_safe;
use super::{Authorization, CLIENT_NAME, NO_METADATA, RENEWAL_MAX, words};

/// A login that waits for the user.
pub struct PendingLogin {
    authorization: Arc<Authorization>,
    manager: AuthorizationManager,
    address: String,
    state: String,
}

impl PendingLogin {
    /// Finds the authorization server, registers where no client is configured, and makes the address for
    /// the user. `scopes` go before the configured ones.
    ///
    /// # Errors
    /// `mcp_login_failed` with what is missing or was refused.
    pub async fn begin(
        authorization: Arc<Authorization>,
        redirect_uri: &str,
        scopes: &[String],
    ) -> Result<Self> {
        let begun = tokio::time::timeout(RENEWAL_MAX, authorization.begin(redirect_uri, scopes)).await;
        let took_too_long = || Err(authorization.login_failed("the authorization server took too long"));
        let (manager, address) = begun.unwrap_or_else(|_| took_too_long())?;
        let state = parameter(&address, "state").unwrap_or_default();
        Ok(Self { authorization, manager, address: address.into(), state })
    }

    /// The address that the user opens in a browser. It holds no secret, and is valid for this login only.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The `state` that the redirect must carry: any other does not belong to this login.
    #[must_use]
    pub fn state(&self) -> &str {
        &self.state
    }

    /// Exchanges the redirect's code for tokens, and stores them.
    ///
    /// # Errors
    /// `mcp_login_failed` where the user denied permission or the answer belongs to another login.
    pub async fn finish(self, redirected: &str) -> Result<()> {
        let authorization = &self.authorization;
        let redirected = Url::parse(redirected.trim())
            .map_err(|_| authorization.login_failed("what came back is no address"))?;
        if parameter(&redirected, "state").as_deref() != Some(self.state.as_str()) {
            return Err(
                authorization.login_failed("what came back is no answer to this login (`state` differs)")
            );
        }
        if let Some(error) = parameter(&redirected, "error") {
            let words = parameter(&redirected, "error_description").unwrap_or_default();
            let words = if words.is_empty() { error } else { format!("{error}: {words}") };
            return Err(authorization.login_failed(&format!("the authorization server refused: {words}")));
        }
        let code = parameter(&redirected, "code")
            .ok_or_else(|| authorization.login_failed("what came back has no `code`"))?;
        let issuer = parameter(&redirected, "iss");
        let _lock = authorization.file.lock(RENEWAL_MAX).await?;
        authorization.exchange.take_failure();
        let exchanged =
            self.manager.exchange_code_for_token_with_issuer(&code, &self.state, issuer.as_deref());
        match tokio::time::timeout(RENEWAL_MAX, exchanged).await {
            Ok(Ok(_)) => {
                authorization.live().pause = None;
                Ok(())
            }
            Ok(Err(error)) => Err(authorization.login_error(&error)),
            Err(_) => Err(authorization.login_failed("the authorization server took too long")),
        }
    }
}

impl Authorization {
    async fn begin(&self, redirect_uri: &str, scopes: &[String]) -> Result<(AuthorizationManager, Url)> {
        let failed = |error: AuthError| self.login_error(&error);
        let mut manager = self.manager().await.map_err(failed)?;
        let metadata = self.metadata(&manager).await.map_err(failed)?;
        // The protocol requires to refuse a server that does not announce PKCE.
        let methods = metadata.code_challenge_methods_supported.iter().flatten();
        if !methods.into_iter().any(|method| method == "S256") {
            return Err(
                self.login_failed("the authorization server does not say that it takes PKCE with S256")
            );
        }
        manager.set_metadata(metadata);
        let mut scopes = if scopes.is_empty() { self.settings.scopes.clone() } else { scopes.to_vec() };
        if scopes.is_empty() {
            scopes = manager.select_initial_scopes(&[]).await;
        }
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let secret = match &self.settings.client_id {
            Some(client_id) => {
                let mut client = OAuthClientConfig::new(client_id, redirect_uri);
                if let Some(secret) = self.client_secret(None) {
                    client = client.with_client_secret(secret);
                }
                manager.configure_client(client).map_err(failed)?;
                None
            }
            None => {
                let registered = manager.register_client(CLIENT_NAME, redirect_uri, &scopes).await;
                registered.map_err(|error| self.not_registered(&error))?.client_secret
            }
        };
        self.remember(secret.clone());
        self.keep_in(&mut manager, secret, redirect_uri);
        let address = manager.get_authorization_url(&scopes).await.map_err(failed)?;
        let address = Url::parse(&address).map_err(|error| self.login_failed(&error.to_string()))?;
        if !is_safe(&address) {
            return Err(self.login_failed("the address for the person is not https"));
        }
        Ok((manager, address))
    }

    fn not_registered(&self, error: &AuthError) -> Error {
        let server = &self.server;
        self.login_error(error).with_help(format!(
            "where luaplan may not register itself, register it by hand and set `mcp.{server}.oauth.client_id`"
        ))
    }

    fn login_error(&self, error: &AuthError) -> Error {
        let (server, failure) = (&self.server, self.exchange.take_failure());
        let why = failure.map_or_else(|| words(error), |failure| failure.message);
        match error {
            AuthError::NoAuthorizationSupport => self
                .login_failed(&words(error))
                .with_help(format!("it is used without one: `luaplan mcp accept {server}`")),
            AuthError::MetadataError(what) if what == NO_METADATA => self.login_failed(&why).with_help(format!(
                "look at `mcp.{server}.url`; a server with keys of its own takes `headers = {{ Authorization = \"env:VARIABLE\" }}` in `[mcp.{server}]`"
            )),
            _ if !is_safe(&self.url) => {
                self.login_failed(&why).with_help(format!("write `mcp.{server}.url` with https"))
            }
            _ => self.login_failed(&why),
        }
    }

    fn login_failed(&self, why: &str) -> Error {
        let server = &self.server;
        let why = self.scrubbed(shown(why));
        let message = format!("the login to the MCP server `{server}` failed: {why}");
        Error::new(ErrorCode::McpLoginFailed, message)
            .with_help(format!("begin again: `luaplan mcp login {server}`"))
    }
}

/// The query parameter `name` of an address.
pub(super) fn parameter(address: &Url, name: &str) -> Option<String> {
    address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}
