//! What stands for the PostgreSQL driver in a build without the feature `postgres`: there is no such database.

use sqlx::error::DatabaseError;

use super::compose::Statement;
use super::database::BadUrl;
use super::failure::{Failed, ServerSaid};
use super::rows::Rows;
use super::session::Target;

pub(super) enum PostgresDatabase {}

impl PostgresDatabase {
    pub(super) fn of(_: Target, _: &str) -> Result<Self, BadUrl> {
        Err(BadUrl {
            reason: "this build of luaplan has no driver for PostgreSQL".to_owned(),
            help: "use a build with the feature `postgres`, as releases are",
        })
    }

    pub(super) async fn run(&self, _: &Statement, _: &mut Rows) -> Result<(), Failed> {
        match *self {}
    }
}

pub(super) fn said(_: &dyn DatabaseError) -> Option<ServerSaid> {
    None
}
