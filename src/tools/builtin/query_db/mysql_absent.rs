//! What stands for the MySQL driver in a build without the feature `mysql`: there is no such database.

use sqlx::error::DatabaseError;

use super::compose::Statement;
use super::database::BadUrl;
use super::failure::Failed;
use super::rows::Rows;
use super::session::Target;

pub(super) enum MysqlDatabase {}

impl MysqlDatabase {
    pub(super) fn of(_: Target, _: &str) -> Result<Self, BadUrl> {
        Err(BadUrl {
            reason: "this build of luaplan has no driver for MySQL and MariaDB".to_owned(),
            help: "use a build with the feature `mysql`, as releases are",
        })
    }

    pub(super) async fn run(&self, _: &Statement, _: &mut Rows) -> Result<(), Failed> {
        match *self {}
    }
}

pub(super) fn error_number(_: &dyn DatabaseError) -> Option<u16> {
    None
}
