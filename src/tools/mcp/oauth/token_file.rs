//! The stored logins: one file for each server, readable by its owner only.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rmcp::transport::auth::StoredCredentials;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio::time::Instant;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::create_private_folder;

use crate::mcp::state_file::{open_regular, read_regular};

const VERSION: u32 = 1;

/// How long before its expiry a token is renewed, as the call that uses it takes time.
const RENEWED_BEFORE_SECONDS: i64 = 30;

/// How often a lock that another process holds is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// A login. Holds tokens, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Login {
    version: u32,
    /// The server it is for: a token is never sent to another.
    pub(super) url: String,
    pub(super) client_id: String,
    /// From the authorization server, where luaplan registered itself.
    pub(super) client_secret: Option<String>,
    pub(super) redirect_uri: String,
    pub(super) credentials: StoredCredentials,
}

impl Login {
    pub(super) fn new(
        url: &str,
        client: (&str, Option<String>),
        redirect_uri: &str,
        credentials: StoredCredentials,
    ) -> Self {
        Self {
            version: VERSION,
            url: url.to_owned(),
            client_id: client.0.to_owned(),
            client_secret: client.1,
            redirect_uri: redirect_uri.to_owned(),
            credentials,
        }
    }

    /// The token, unless it has expired or is about to.
    pub(super) fn fresh_token(&self, now: Timestamp) -> Option<String> {
        let ends = self.ends_at();
        let is_fresh = ends.is_none_or(|ends| now.as_second() + RENEWED_BEFORE_SECONDS < ends.as_second());
        is_fresh.then(|| self.token()).flatten()
    }

    /// The token, whether still valid or not.
    pub(super) fn token(&self) -> Option<String> {
        self.member("access_token")
    }

    /// When the token expires, where the server said so.
    pub(super) fn ends_at(&self) -> Option<Timestamp> {
        let received = i64::try_from(self.credentials.token_received_at?).ok()?;
        let lasts = self.response()?.get("expires_in")?.as_i64()?;
        Timestamp::from_second(received.saturating_add(lasts)).ok()
    }

    pub(super) fn can_be_renewed(&self) -> bool {
        self.member("refresh_token").is_some()
    }

    /// Its secrets.
    pub(super) fn secrets(&self) -> impl Iterator<Item = String> {
        let tokens = ["access_token", "refresh_token"].into_iter().filter_map(|name| self.member(name));
        tokens.chain(self.client_secret.clone())
    }

    fn member(&self, name: &str) -> Option<String> {
        self.response()?.get(name)?.as_str().map(str::to_owned)
    }

    /// The library's type gives its members through traits of a library below it; its JSON is RFC 6749's.
    fn response(&self) -> Option<Json> {
        serde_json::to_value(self.credentials.token_response.as_ref()?).ok()
    }
}

/// Where a login is kept.
#[derive(Debug, Clone)]
pub(super) struct TokenFile(PathBuf);

impl TokenFile {
    pub(super) fn new(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// The stored login, if any.
    ///
    /// # Errors
    /// `config_unreadable` for a file that is there and cannot be used.
    pub(super) fn load(&self) -> Result<Option<Login>> {
        let unusable = |what: &dyn std::fmt::Display| {
            let message = format!("{}: the login cannot be read: {what}", self.0.display());
            Error::new(ErrorCode::ConfigUnreadable, message).with_help(format!(
                "remove the file, and log in again: `luaplan mcp login {}`",
                self.server()
            ))
        };
        let text = match read_regular(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&error)),
        };
        // The error names only the place of a JSON fault: its words may hold a token.
        let login: Login = serde_json::from_str(&text)
            .map_err(|error| unusable(&format_args!("line {} is not as luaplan wrote it", error.line())))?;
        if login.version != VERSION {
            return Err(unusable(&format_args!("version {} is not known", login.version)));
        }
        Ok(Some(login))
    }

    /// Keeps a login, whole or not at all.
    pub(super) fn save(&self, login: &Login) -> Result<()> {
        let text = serde_json::to_string_pretty(login)
            .map_err(|_| Error::new(ErrorCode::Internal, "a login has no JSON form"))?;
        let next = self.0.with_extension("next");
        // A file left by a process that died keeps the mode it was made with.
        let _ = std::fs::remove_file(&next);
        self.open(&next)
            .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
            .and_then(|()| std::fs::rename(&next, &self.0))
            .map_err(|error| self.unwritable(&error))
    }

    /// Forgets it; says whether there was one.
    pub(super) fn remove(&self) -> Result<bool> {
        match std::fs::remove_file(&self.0) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.unwritable(&error)),
        }
    }

    /// The right to renew it: a refresh token may be valid only once, so no two processes may send the same.
    pub(super) async fn lock(&self, wait_max: Duration) -> Result<File> {
        // Never removed: a process that waits for a removed file would hold a lock of its own.
        let file = self.open(&self.0.with_extension("lock")).map_err(|error| self.unwritable(&error))?;
        let until = Instant::now() + wait_max;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    tokio::time::sleep(LOCK_PAUSE).await;
                }
                Err(TryLockError::WouldBlock) => {
                    let message = format!("another process holds {} and does not let go", self.0.display());
                    return Err(Error::new(ErrorCode::McpUnavailable, message));
                }
                Err(TryLockError::Error(error)) => return Err(self.unwritable(&error)),
            }
        }
    }

    /// NAME of `NAME.login.json`.
    fn server(&self) -> &str {
        let name = self.0.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    }

    fn open(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        path.parent().map_or(Ok(()), create_private_folder)?;
        open_regular(&mut options, path)
    }

    fn unwritable(&self, error: &io::Error) -> Error {
        let message = format!("{}: cannot be written: {error}", self.0.display());
        Error::new(ErrorCode::ConfigUnreadable, message)
    }
}
