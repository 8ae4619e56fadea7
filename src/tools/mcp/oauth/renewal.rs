//! Gets a token without a user: by the refresh token, or by the client's own secret. The caller holds the
//! lock of the token file.

use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, ClientCredentialsConfig, OAuthClientConfig,
};
use secrecy::ExposeSecret as _;
use url::Url;

use luaplan_base::{Result, ToolFailure};

use super::credential_store::FileCredentialStore;
use super::exchange::{Greeting, is_safe};
use super::login::parameter;
use super::token_file::Login;
use super::{Authorization, NO_METADATA};

impl Authorization {
    pub(super) async fn refreshed(&self, login: &Login) -> Result<String, ToolFailure> {
        if !login.can_be_renewed() {
            return Err(self.login_required("its token has ended, and nothing renews it"));
        }
        let mut manager = self.manager().await.map_err(|error| self.failed(&error))?;
        let metadata = self.metadata(&manager).await.map_err(|error| self.failed(&error))?;
        let issuer = metadata.issuer.clone();
        if login.credentials.issuer.is_some() && login.credentials.issuer != issuer {
            return Err(self.login_required("it names another authorization server than at the login"));
        }
        manager.set_metadata(metadata);
        let mut client = OAuthClientConfig::new(&login.client_id, &login.redirect_uri);
        if let Some(secret) = self.client_secret(login.client_secret.as_deref()) {
            client = client.with_client_secret(secret);
        }
        manager.configure_client(client).map_err(|error| self.failed(&error))?;
        self.keep_in(&mut manager, login.client_secret.clone(), &login.redirect_uri);
        match manager.refresh_token().await {
            Ok(_) => self.kept_token(),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => {
                // The login is useless; kept, every call would send it again.
                if let Err(error) = self.file.remove() {
                    tracing::warn!(server = self.server, %error, "a login that ended is still kept");
                }
                Err(self.login_required("the authorization server does not renew its token any more"))
            }
            Err(error) => Err(self.failed(&error)),
        }
    }

    pub(super) async fn token_for_service(&self) -> Result<String, ToolFailure> {
        let mut manager = self.manager().await.map_err(|error| self.failed(&error))?;
        let metadata = self.metadata(&manager).await.map_err(|error| self.failed(&error))?;
        manager.set_metadata(metadata);
        let (client_id, client_secret) = match (&self.settings.client_id, &self.settings.client_secret) {
            (Some(id), Some(secret)) => (id.clone(), secret.expose_secret().to_owned()),
            _ => return Err(self.login_required("no client is configured")),
        };
        let mut config = ClientCredentialsConfig::ClientSecret {
            client_id,
            client_secret,
            scopes: self.settings.scopes.clone(),
            resource: Some(self.identifier().to_string()),
        };
        manager.configure_client_credentials(&config).map_err(|error| self.failed(&error))?;
        // The server's identifier may be a prefix of its address; the library uses the address only.
        if let ClientCredentialsConfig::ClientSecret { resource, .. } = &mut config
            && let Ok(address) = manager.get_authorization_url(&[]).await
        {
            *resource = resource_in(&address).or_else(|| resource.take());
        }
        self.keep_in(&mut manager, None, "");
        match manager.exchange_client_credentials(&config).await {
            Ok(_) => self.kept_token(),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The library, with our way to the network.
    pub(super) async fn manager(&self) -> Result<AuthorizationManager, AuthError> {
        self.exchange.take_failure();
        AuthorizationManager::new_with_oauth_http_client(self.identifier(), self.exchange.clone()).await
    }

    /// What the authorization server says of itself.
    pub(super) async fn metadata(
        &self,
        manager: &AuthorizationManager,
    ) -> Result<AuthorizationMetadata, AuthError> {
        if !is_safe(&self.url) {
            let what = "its `url` is not https, and a token is sent over nothing else";
            return Err(AuthError::MetadataError(what.to_owned()));
        }
        let greeting = self.exchange.greeting(&self.url).await;
        let challenge = match &greeting {
            Greeting::Refusal(challenge) => challenge.as_deref(),
            Greeting::Welcome | Greeting::Fault => None,
        };
        let found = manager.resolve_metadata_from_challenge(challenge).await?;
        if found.source.is_discovered() {
            return Ok(found.metadata);
        }
        Err(match greeting {
            Greeting::Welcome => AuthError::NoAuthorizationSupport,
            _ => AuthError::MetadataError(NO_METADATA.to_owned()),
        })
    }

    pub(super) fn keep_in(
        &self,
        manager: &mut AuthorizationManager,
        client_secret: Option<String>,
        redirect_uri: &str,
    ) {
        manager.set_credential_store(FileCredentialStore {
            file: self.file.clone(),
            url: self.url.to_string(),
            client_secret,
            redirect_uri: redirect_uri.to_owned(),
        });
    }

    fn kept_token(&self) -> Result<String, ToolFailure> {
        let login = self.login().map_err(|error| self.unreadable(&error))?;
        // Used even if it expires soon: it is new, and there is no better one.
        login.and_then(|login| login.token()).ok_or_else(|| self.unavailable("what came holds no token"))
    }
}

fn resource_in(address: &str) -> Option<String> {
    let resource = parameter(&Url::parse(address).ok()?, "resource")?;
    Some(resource).filter(|resource| !resource.is_empty())
}
