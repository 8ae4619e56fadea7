//! The token file as the library's store of credentials.

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};

use super::token_file::{Login, TokenFile};

/// Stores the library's credentials, with what a later renewal needs beside them. The caller holds the
/// file's lock.
pub(super) struct FileCredentialStore {
    pub(super) file: TokenFile,
    pub(super) url: String,
    pub(super) client_secret: Option<String>,
    pub(super) redirect_uri: String,
}

#[async_trait]
impl CredentialStore for FileCredentialStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let login = self.file.load().map_err(|error| failed(&error))?;
        Ok(login.filter(|login| login.url == self.url).map(|login| login.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let client = credentials.client_id.clone();
        let secret = self.client_secret.clone();
        let login = Login::new(&self.url, (&client, secret), &self.redirect_uri, credentials);
        self.file.save(&login).map_err(|error| failed(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.file.remove().map(drop).map_err(|error| failed(&error))
    }
}

fn failed(error: &luaplan_base::Error) -> AuthError {
    AuthError::CredentialStoreError(error.message().to_owned())
}
