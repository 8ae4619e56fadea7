//! Where a journal is that nodes share.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use luaplan_base::Result;

use super::postgres;

/// Where the journal is, and how nodes share it.
#[derive(Clone)]
pub struct PostgresSettings {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
    pub url: SecretString,
    /// How long a node keeps its runs without renewing its lease.
    pub lease: Duration,
    /// The folder where this node notes the newest record it forced; without one it does not.
    pub anchors: Option<PathBuf>,
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSettings").field("lease", &self.lease).finish_non_exhaustive()
    }
}

impl PostgresSettings {
    /// Whether the address can be one, and this build can use it.
    ///
    /// # Errors
    /// `config_invalid`.
    pub fn check(&self) -> Result<()> {
        postgres::check(self)
    }
}
