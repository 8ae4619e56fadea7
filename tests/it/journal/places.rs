//! The two stores, each in a place of its own, for what both must do alike.

use luaplan::journal::{Journal, PostgresSettings};
use secrecy::SecretString;
use sqlx::Executor as _;

use super::*;
use crate::postgres_support::Database;

/// Where a journal is.
pub(super) enum Place {
    File(Dir),
    Database(Box<Database>),
}

/// Long enough never to run out within a test.
pub(super) const LEASE: std::time::Duration = std::time::Duration::from_secs(3600);

pub(super) fn settings(database: &Database) -> PostgresSettings {
    PostgresSettings { url: SecretString::from(database.url()), lease: LEASE, anchors: None }
}

/// A file, and a database where there is a server for it.
pub(super) async fn places(what: &str) -> Vec<Place> {
    let mut places = vec![Place::File(Dir::new())];
    places.extend(Database::new(what).await.map(|database| Place::Database(Box::new(database))));
    places
}

impl Place {
    pub(super) async fn open(&self) -> Journal {
        match self {
            Self::File(dir) => Journal::Sqlite(dir.open().await),
            Self::Database(database) => {
                Journal::open(std::path::Path::new(""), Some(&settings(database))).await.unwrap()
            }
        }
    }

    /// Why the store itself refuses a statement of its owner.
    pub(super) async fn refusal_of(&self, sql: &'static str) -> String {
        let refused = match self {
            Self::File(dir) => dir.raw().await.execute(sql).await.map(drop),
            Self::Database(database) => database.raw().await.execute(sql).await.map(drop),
        };
        refused.unwrap_err().to_string()
    }
}
