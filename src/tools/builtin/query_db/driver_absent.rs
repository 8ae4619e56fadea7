//! What stands for the driver of a server in a build without its feature: there is no such database.

use sqlx::error::DatabaseError;

use super::failure::Failed;
use super::result_columns::ResultColumn;
use super::rows::Rows;
use super::server_error::ServerError;
use super::session::DatabaseTarget;
use super::settings::BadUrl;
use super::statement::Statement;

pub(super) enum AbsentDatabase {}

impl AbsentDatabase {
    pub(super) fn of(_: DatabaseTarget, url: &str) -> Result<Self, BadUrl> {
        let (driver, help) = if url.starts_with("mysql") {
            ("MySQL and MariaDB", "use a build with the feature `mysql`, as releases are")
        } else {
            ("PostgreSQL", "use a build with the feature `postgres`, as releases are")
        };
        Err(BadUrl { reason: format!("this build of luaplan has no driver for {driver}"), help })
    }

    pub(super) fn server_error(_: &dyn DatabaseError) -> ServerError {
        ServerError::default()
    }

    pub(super) async fn run(&self, _: &Statement, _: &mut Rows) -> Result<(), Failed> {
        match *self {}
    }

    pub(super) async fn look_at(&self, _: &Statement) -> Result<Vec<ResultColumn>, Failed> {
        match *self {}
    }
}
