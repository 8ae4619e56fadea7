//! Settings of a journal that nodes share.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

/// Where the journal is, and how nodes share it.
#[derive(Clone)]
pub struct PostgresSettings {
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.
    pub url: SecretString,
    /// How long a lease lasts without renewal.
    pub lease: Duration,
    /// The folder of this node's anchor; without one it writes none.
    pub anchors: Option<PathBuf>,
}

impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSettings").field("lease", &self.lease).finish_non_exhaustive()
    }
}
