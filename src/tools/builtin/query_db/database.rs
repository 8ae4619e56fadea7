//! One configured database, whichever of the three kinds it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use luaplan_base::{Error, ErrorCode, Result, Value};

use super::dialect::Dialect;
#[cfg(not(feature = "mysql"))]
use super::driver_absent::AbsentDatabase as MysqlDatabase;
#[cfg(not(feature = "postgres"))]
use super::driver_absent::AbsentDatabase as PostgresDatabase;
use super::failure::{Failed, Secrets};
#[cfg(feature = "mysql")]
use super::mysql::MysqlDatabase;
#[cfg(feature = "postgres")]
use super::postgres::PostgresDatabase;
use super::result_columns::ResultColumn;
use super::rows::Rows;
use super::session::DatabaseTarget;
use super::settings::{BadUrl, DatabaseUrl, QueryDbSettings};
use super::sqlite::SqliteDatabase;
use super::statement::{Questions, Statement, StatementKind};
use super::template::Rendered;

pub(super) struct Database {
    write_granted: bool,
    engine: Engine,
}

enum Engine {
    Sqlite(SqliteDatabase),
    Postgres(Box<PostgresDatabase>),
    Mysql(Box<MysqlDatabase>),
}

impl Database {
    pub(super) fn new(
        name: &str,
        url: &DatabaseUrl,
        settings: &QueryDbSettings,
        statement_timeout: Duration,
        base_dir: &Path,
    ) -> Result<Self> {
        let secrets = Secrets::new(url.secrets());
        let target = |read_error| DatabaseTarget {
            name: name.to_owned(),
            secrets: secrets.clone(),
            read_error,
            connect_timeout: settings.connect_timeout,
            statement_timeout,
            pool_size: usize::try_from(settings.pool_size).unwrap_or(usize::MAX),
        };
        let refuse = |BadUrl { reason, help }| {
            let reason = secrets.remove(&reason).into_owned();
            let key = format!("tools.query_db.databases.{name}");
            Error::new(ErrorCode::ConfigInvalid, format!("`{key}`: {reason}"))
                .with_detail("key", key)
                .with_help(help)
        };
        let text = url.expose();
        let scheme = text.split(':').next().unwrap_or_default();
        let engine = match scheme {
            "sqlite" => {
                let open = |path| {
                    Engine::Sqlite(SqliteDatabase::new(
                        target(SqliteDatabase::server_error),
                        base_dir.join(path),
                    ))
                };
                sqlite_path(text).map(open).map_err(|reason| BadUrl::malformed(&reason))
            }
            "postgres" | "postgresql" => PostgresDatabase::of(target(PostgresDatabase::server_error), text)
                .map(|database| Engine::Postgres(Box::new(database))),
            "mysql" | "mariadb" => {
                let text = text.replacen("mariadb:", "mysql:", 1);
                MysqlDatabase::of(target(MysqlDatabase::server_error), &text)
                    .map(|database| Engine::Mysql(Box::new(database)))
            }
            _ => Err(BadUrl::malformed(&"the URL does not begin with sqlite:, postgres: or mysql:")),
        };
        let engine = engine.map_err(refuse)?;
        Ok(Self { write_granted: settings.writes.iter().any(|granted| granted == name), engine })
    }

    /// Runs the statements for a SQLite file in processes of this program.
    pub(super) fn in_processes_of(&mut self, program: &Path) {
        if let Engine::Sqlite(database) = &mut self.engine {
            database.in_processes_of(program);
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        match &self.engine {
            Engine::Sqlite(_) => Dialect::Sqlite,
            Engine::Postgres(_) => Dialect::Postgres,
            Engine::Mysql(_) => Dialect::Mysql,
        }
    }

    pub(super) fn write_granted(&self) -> bool {
        self.write_granted
    }

    /// Runs a checked statement.
    ///
    /// # Errors
    /// `database_unreachable`, `query_failed`, `query_refused` by the session, `result_too_large`.
    pub(super) async fn run(&self, statement: &Statement, rows: &mut Rows) -> Result<(), Failed> {
        match &self.engine {
            Engine::Sqlite(database) => database.run(statement, rows).await,
            Engine::Postgres(database) => database.run(statement, rows).await,
            Engine::Mysql(database) => database.run(statement, rows).await,
        }
    }

    /// Has the database look at a checked statement in a read-only session, and tell what columns its result has. Nothing
    /// is executed.
    ///
    /// # Errors
    /// As [`Database::run`].
    pub(super) async fn look_at(&self, statement: &Statement) -> Result<Vec<ResultColumn>, Failed> {
        match &self.engine {
            Engine::Sqlite(database) => database.look_at(statement).await,
            Engine::Postgres(database) => database.look_at(statement).await,
            Engine::Mysql(database) => database.look_at(statement).await,
        }
    }

    /// Asks for the version, as the smallest whole query.
    pub(super) async fn ask_version(&self, rows: &mut Rows) -> Result<(), Failed> {
        let sql = match self.dialect() {
            Dialect::Sqlite => "SELECT sqlite_version() AS version, count(*) AS tables FROM sqlite_schema",
            Dialect::Postgres => "SELECT current_setting('server_version') AS version",
            Dialect::Mysql => "SELECT version() AS version",
        };
        let rendered = Rendered { sql: sql.to_owned(), values: Vec::new() };
        let questions = Questions::default();
        self.run(&Statement { rendered, kind: StatementKind::Read, questions }, rows).await
    }

    /// The version, from the answer to [`Database::ask_version`].
    pub(super) fn version_in(rows: &Value) -> Option<&str> {
        rows.as_array()?.first()?.get("version")?.as_str()
    }

    /// `PostgreSQL 16.2, read only`, from the answer to [`Database::ask_version`].
    pub(super) fn describe(&self, rows: &Value) -> String {
        let version = Self::version_in(rows).unwrap_or("of unknown version");
        let access = if self.write_granted { "writing granted" } else { "read only" };
        format!("{} {version}, {access}", self.dialect().name())
    }
}

/// The path in `sqlite:PATH` or `sqlite://PATH`. Options are refused: how the file is opened is
/// decided by `writes` alone.
fn sqlite_path(url: &str) -> Result<PathBuf, &'static str> {
    let rest = url.strip_prefix("sqlite:").unwrap_or(url);
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() || path == ":memory:" {
        return Err("a database in memory would be empty in every call; name a file");
    }
    if path.contains('?') {
        return Err("options after `?` are not taken; grant writing with `writes`");
    }
    Ok(PathBuf::from(path))
}
