//! `query_db`: rows from SQLite, PostgreSQL, MySQL and MariaDB.
//!
//! Two walls keep it from writing: the check of the final statement (`check`), and a read-only session
//! of the database. `request` reads a call's arguments, `compose` and `template` write SQL with holes,
//! `check` decides, and one of the three drivers runs it and counts rows and bytes as they arrive
//! (`rows`).
//!
//! **Never here:** changing a schema, more than one statement a call, a database that the
//! configuration does not name, a URL's password in a message.

mod calls;
mod check;
mod compose;
mod database;
mod denied;
mod dialect;
mod failure;
mod foreseen;
mod functions;
mod generators;
mod lex;
mod notes;
mod number;
pub(crate) mod outline;
mod pool;
mod request;
mod result_columns;
mod rows;
mod schema;
mod server_error;
mod session;
mod settings;
mod sqlite;
mod sqlite_job;
mod sqlite_process;
mod sqlite_reader;
mod statement;
mod template;

#[cfg(not(all(feature = "mysql", feature = "postgres")))]
mod driver_absent;
#[cfg(feature = "mysql")]
mod mysql;
#[cfg(feature = "postgres")]
mod postgres;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indexmap::IndexMap;
use tokio::sync::Mutex;
use tokio::time::Instant;

use luaplan_base::{CallOutcome, Effect, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Invocation, Prepared, Schemas, Tool, short_list};
use luaplan_catalog::ToolSpec;

use self::compose::compose;
use self::database::Database;
use self::failure::Failed;
use self::functions::AllowedFunctions;
use self::request::{Form, Request};
use self::rows::{Caps, Rows};
use self::settings::Forms;
pub use self::settings::{DatabaseUrl, Decimals, Describe, QueryDbSettings};
pub use self::sqlite_reader::sqlite_reader_main;
use self::statement::StatementKind;

/// The default database, if there is one of that name.
const DEFAULT_DATABASE: &str = "main";

/// How long an answer about the databases' schemas serves others who ask.
const SCHEMAS_FRESH_FOR: Duration = Duration::from_secs(5);

/// The tool `query_db` over the configured databases. Connections are opened when first needed.
pub struct QueryDb {
    spec: ToolSpec,
    databases: IndexMap<String, Database>,
    allowed: AllowedFunctions,
    rows_max: u64,
    bytes_max: u64,
    decimals: Decimals,
    describe: Describe,
    notes: Option<String>,
    /// What the databases held, and when that was read.
    schemas: Mutex<Option<(Instant, Arc<Schemas>)>>,
    timeout: Duration,
}

impl QueryDb {
    /// Sets the tool up. Paths of SQLite files start at `base_dir`. Opens nothing. Where the settings
    /// permit writes in any database, the tool's effect becomes `write` and it counts as not idempotent.
    ///
    /// # Errors
    /// `config_invalid` for a URL, a limit or a granted name that makes no sense; the message
    /// holds no password.
    pub fn new(mut spec: ToolSpec, settings: &QueryDbSettings, base_dir: &Path) -> Result<Self> {
        let zero = [
            ("rows_max", settings.rows_max == 0),
            ("bytes_max", settings.bytes_max == 0),
            ("pool_size", settings.pool_size == 0),
            ("connect_timeout", settings.connect_timeout.is_zero()),
            ("statement_timeout", settings.statement_timeout.is_some_and(|timeout| timeout.is_zero())),
        ];
        if let Some((name, _)) = zero.into_iter().find(|(_, is_zero)| *is_zero) {
            return Err(invalid(name, "must be above zero"));
        }
        if let Some(name) = settings.writes.iter().find(|name| !settings.databases.contains_key(*name)) {
            return Err(invalid("writes", &format!("names `{name}`, which is not among `databases`")));
        }
        let allowed = AllowedFunctions::new(&settings.allow_functions).map_err(|pattern| {
            invalid("allow_functions", &format!("holds `{pattern}`, which is no name of a function"))
                .with_help(
                    "write a name without its schema, or its beginning followed by `*`: `net_price`, `st_*`",
                )
        })?;
        if !settings.writes.is_empty() {
            spec.effect = spec.effect.max(Effect::Write);
            spec.idempotent = false;
        }
        let timeout = settings.statement_timeout.unwrap_or(spec.timeout).min(spec.timeout);
        let mut databases = IndexMap::new();
        for (name, url) in &settings.databases {
            databases.insert(name.clone(), Database::new(name, url, settings, timeout, base_dir)?);
        }
        let (rows_max, bytes_max, decimals) = (settings.rows_max, settings.bytes_max, settings.decimals);
        let describe = settings.describe.clone();
        let notes = settings.notes.as_ref().map(|path| notes::read(&base_dir.join(path))).transpose()?;
        Ok(Self {
            spec,
            databases,
            allowed,
            rows_max,
            bytes_max,
            decimals,
            describe,
            notes,
            schemas: Mutex::default(),
            timeout,
        })
    }

    /// Runs queries of SQLite files in processes of `program`, which must answer to `sqlite-reader` as
    /// `luaplan` does, so that they can be killed at any moment. Without one they run in this process, where
    /// nothing stops a query that computes inside one function.
    #[must_use]
    pub fn in_processes_of(mut self, program: Option<&Path>) -> Self {
        for database in self.databases.values_mut() {
            if let Some(program) = program {
                database.in_processes_of(program);
            }
        }
        self
    }

    /// Tries every configured database in order: its product and version, or why it cannot be
    /// used (`database_unreachable`, `tool_timeout`).
    pub async fn probe(&self) -> Vec<(String, Result<String>)> {
        let mut results = Vec::new();
        for (name, database) in &self.databases {
            let mut rows = self.rows(Some(1));
            let tried = tokio::time::timeout(self.timeout, database.ask_version(&mut rows)).await;
            let result = match tried {
                Ok(Ok(())) => Ok(database.describe(&rows.into_value())),
                Ok(Err(failed)) => Err(to_error(failed.tool_failure())),
                Err(_) => Err(to_error(&self.timed_out(StatementKind::Read))),
            };
            results.push((name.clone(), result));
        }
        results
    }

    /// Whether a statement with these named values could be sent; asks nothing of the database.
    ///
    /// # Errors
    /// `query_refused`, `bad_arguments`, `database_unknown`.
    pub(crate) fn try_statement(&self, arguments: &Value) -> std::result::Result<(), ToolFailure> {
        let tried = || {
            let request = Request::read(arguments)?;
            let database = self.database(request.database)?;
            compose(database.dialect(), &request, self.rows_max, database.write_granted(), &self.allowed)
                .map(drop)
        };
        tried().map_err(Failed::into_tool_failure)
    }

    async fn answer(&self, arguments: &Value, writing: &mut bool) -> Result<Value, Failed> {
        let request = Request::read(arguments)?;
        let database = self.database(request.database)?;
        let (dialect, granted) = (database.dialect(), database.write_granted());
        let statement = compose(dialect, &request, self.rows_max, granted, &self.allowed)?;
        *writing = statement.kind == StatementKind::Write;
        if request.limit == Some(0) && !*writing {
            return Ok(Value::Array(Vec::new()));
        }
        // The result of a write is read to its end before the commit, and cut afterwards. A read of a table has its
        // limit in its statement: read to its end, its connection can be reused.
        let cut = !*writing && matches!(request.form, Form::Sql(_));
        let mut rows = self.rows(request.limit.filter(|_| cut));
        let decimals = match request.exact {
            Some(true) => Decimals::Text,
            Some(false) => Decimals::Number,
            None => self.decimals,
        };
        rows.forms = Forms { decimals, intervals: request.intervals };
        database.run(&statement, &mut rows).await?;
        if !*writing {
            return Ok(rows.into_value());
        }
        let affected = i64::try_from(rows.affected).unwrap_or(i64::MAX);
        let mut result = IndexMap::from([("rows_affected".to_owned(), Value::Integer(affected))]);
        rows.keep_first(request.limit);
        if !rows.is_empty() {
            result.insert("rows".to_owned(), rows.into_value());
        }
        Ok(Value::Object(result))
    }

    fn rows(&self, limit: Option<u64>) -> Rows {
        Rows::new(Caps { rows_max: self.rows_max, bytes_max: self.bytes_max, limit })
    }

    fn database(&self, name: Option<&str>) -> Result<&Database, Failed> {
        let found = name.or_else(|| self.default_name()).and_then(|name| self.databases.get(name));
        found.ok_or_else(|| {
            let known = self.databases.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            let message = match name {
                Some(name) if !known.is_empty() => {
                    format!("there is no database `{name}`, only {known}")
                }
                _ => "no database is configured".to_owned(),
            };
            Failed::new(ErrorCode::DatabaseUnknown, message).with_help(ErrorCode::DatabaseUnknown.remedy())
        })
    }

    async fn read_schemas(&self) -> Schemas {
        let default = self.default_name();
        let read = self.databases.iter().map(async |(name, database)| {
            let read = schema::read(name, default == Some(name), database);
            let mut result = match tokio::time::timeout(self.timeout, read).await {
                Ok(read) => read.map_err(|failed| to_error(failed.tool_failure())),
                Err(_) => Err(to_error(&self.timed_out(StatementKind::Read))),
            };
            if let (Describe::Tables(told), Ok(schema)) = (&self.describe, &mut result) {
                schema.tables.retain(|table| told.contains(&table.name));
            }
            (name.clone(), result)
        });
        futures::future::join_all(read).await
    }

    /// The database of a call that names none.
    fn default_name(&self) -> Option<&str> {
        let first = || self.databases.keys().next().map(String::as_str);
        self.databases.contains_key(DEFAULT_DATABASE).then_some(DEFAULT_DATABASE).or_else(first)
    }

    fn timed_out(&self, kind: StatementKind) -> ToolFailure {
        let limit_ms = i64::try_from(self.timeout.as_millis()).unwrap_or(i64::MAX);
        let failure = |message: String| {
            ToolFailure::new(ErrorCode::ToolTimeout, message).with_detail("limit_ms", limit_ms)
        };
        match kind {
            StatementKind::Read => failure(format!("the query took longer than {limit_ms} ms")).retryable(),
            StatementKind::Write => failure(format!(
                "the statement took longer than {limit_ms} ms; look whether it was done before repeating it"
            )),
        }
    }
}

#[async_trait]
impl Tool for QueryDb {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        let mut writing = false;
        let answer = tokio::time::timeout(self.timeout, self.answer(&invocation.arguments, &mut writing));
        let outcome = tokio::select! {
            outcome = answer => outcome,
            () = invocation.cancellation.cancelled() => {
                return Err(ToolFailure::new(ErrorCode::Cancelled, "the run was cancelled during the query"));
            }
        };
        match outcome {
            Ok(result) => result.map_err(Failed::into_tool_failure),
            Err(_) if writing => Err(self.timed_out(StatementKind::Write)),
            Err(_) => Err(self.timed_out(StatementKind::Read)),
        }
    }

    fn could_call(&self, arguments: &Value) -> std::result::Result<(), ToolFailure> {
        self.try_statement(arguments)
    }

    fn could_ever_call(&self, call: &ForeseenCall) -> std::result::Result<(), ToolFailure> {
        self.could_ever(call)
    }

    fn not_looked_at(&self, call: &ForeseenCall) -> Option<String> {
        self.unseen(call)
    }

    async fn prepare(&self, call: &ForeseenCall) -> Prepared {
        self.looked_at(call).await
    }

    fn planning_rules(&self) -> Vec<String> {
        let mut rules = vec![format!(
            "a result of more than {} rows or {} bytes fails: let SQL sum up and filter, or page with `limit` and a \
             condition on the last key seen",
            self.rows_max, self.bytes_max
        )];
        let names: Vec<String> = self.databases.keys().cloned().collect();
        if self.describe == Describe::Off && !names.is_empty() {
            rules.push(format!("databases: {}", short_list(&names)));
        }
        if self.decimals == Decimals::Text {
            rules.push("decimal columns come as text".to_owned());
        }
        rules
    }

    fn schema_notes(&self) -> Option<&str> {
        self.notes.as_deref()
    }

    async fn schemas(&self) -> Arc<Schemas> {
        if self.describe == Describe::Off {
            return Arc::default();
        }
        // A caller that asks meanwhile waits for this answer, so that many callers cost the databases no more than one.
        let mut last = self.schemas.lock().await;
        if let Some((read_at, schemas)) = &*last
            && read_at.elapsed() < SCHEMAS_FRESH_FOR
        {
            return Arc::clone(schemas);
        }
        let schemas = Arc::new(self.read_schemas().await);
        *last = Some((Instant::now(), Arc::clone(&schemas)));
        schemas
    }
}

fn invalid(key: &str, why: &str) -> Error {
    let key = format!("tools.query_db.{key}");
    Error::new(ErrorCode::ConfigInvalid, format!("`{key}` {why}")).with_detail("key", key)
}

fn to_error(failure: &ToolFailure) -> Error {
    let code = failure.code.parse().unwrap_or(ErrorCode::ToolFailed);
    Error::new(code, failure.message.clone())
}
