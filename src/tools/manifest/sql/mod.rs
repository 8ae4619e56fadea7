//! Tools of the kind `sql`: one statement, named in a manifest, its arguments bound.
//!
//! The statement goes through `query_db`: the same check, the same read-only session, the same caps.
//! Values are bound as parameters and never become text of the statement.
//!
//! **Never here:** a statement from an argument, writing that configuration does not grant.

mod settings;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use luaplan_base::{CallOutcome, Effect, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{Invocation, Schemas, Tool as _};
use luaplan_catalog::ToolSpec;

use self::settings::ResultForm;
pub use self::settings::{SqlGrants, SqlSettings};
use crate::builtin::query_db::{DatabaseUrl, QueryDb, QueryDbSettings};
use crate::manifest::{Arguments, Maker, ManifestTool, response_invalid};

struct SqlMaker {
    settings: SqlSettings,
    /// Every parameter of the statement.
    names: Vec<String>,
    database_name: String,
    database: QueryDb,
}

/// The tool that a manifest describes, on the database `url`, known as `database_name`, with queries of SQLite
/// files in processes of `sqlite_program`. Opens nothing.
///
/// # Errors
/// `config_invalid` for a statement its database does not take, or grants that make no sense.
pub fn tool(
    spec: ToolSpec,
    grants: &SqlGrants,
    database_name: &str,
    url: &DatabaseUrl,
    base_dir: &Path,
    sqlite_program: Option<&Path>,
) -> Result<ManifestTool> {
    let settings = SqlSettings::of(&spec)?;
    let writes = spec.effect != Effect::Read && grants.write;
    let query_settings = QueryDbSettings {
        databases: IndexMap::from([(database_name.to_owned(), url.clone())]),
        rows_max: grants.rows_max,
        bytes_max: grants.bytes_max,
        connect_timeout: grants.connect_timeout,
        writes: if writes { vec![database_name.to_owned()] } else { Vec::new() },
        pool_size: spec.concurrency.min(grants.pool_size),
        allow_functions: grants.allow_functions.clone(),
        decimals: grants.decimals,
        describe: grants.describe.clone(),
        ..QueryDbSettings::default()
    };
    let database = QueryDb::new(spec.clone(), &query_settings, base_dir).map_err(|error| {
        // The settings are this tool's own, under its own name.
        let own = |text: &str| {
            let database = format!("tools.query_db.databases.{database_name}");
            text.replace(&database, &format!("tools.{}.url", spec.name))
                .replace("tools.query_db.", &format!("tools.{}.", spec.name))
        };
        let (message, key) =
            (own(error.message()), error.details().get("key").and_then(Json::as_str).map(own));
        let error = error.with_message(message);
        match key {
            Some(key) => error.with_detail("key", key),
            None => error,
        }
    })?;
    let database = database.in_processes_of(sqlite_program);
    let names = settings.outline()?.names;
    let maker = SqlMaker { settings, names, database_name: database_name.to_owned(), database };
    maker.database.try_statement(&maker.query(&Arguments::new())).map_err(|failure| {
        Error::new(ErrorCode::ConfigInvalid, format!("`settings.sql`: {}", failure.message))
            .with_detail("key", "settings.sql")
    })?;
    Ok(ManifestTool::new(spec, &[], Box::new(maker)))
}

impl SqlMaker {
    /// The call of `query_db` that runs the statement. An absent argument is NULL.
    fn query(&self, arguments: &Arguments) -> Value {
        let value = |name: &String| (name.clone(), arguments.get(name).cloned().unwrap_or_default());
        let params: IndexMap<String, Value> = self.names.iter().map(value).collect();
        let mut query = IndexMap::from([
            ("database".to_owned(), Value::from(self.database_name.as_str())),
            ("sql".to_owned(), Value::from(self.settings.sql.as_str())),
        ]);
        if !params.is_empty() {
            query.insert("params".to_owned(), Value::Object(params));
        }
        Value::Object(query)
    }

    fn formed(&self, value: Value) -> CallOutcome {
        let Value::Array(mut rows) = value else { return Ok(value) };
        if self.settings.result == ResultForm::Rows {
            return Ok(Value::Array(rows));
        }
        if rows.len() > 1 {
            return Err(response_invalid(format!(
                "the statement gave {} rows where one is expected",
                rows.len()
            ))
            .with_detail("limit", 1)
            .with_detail("observed", i64::try_from(rows.len()).unwrap_or(i64::MAX)));
        }
        let Some(row) = rows.pop() else { return Ok(Value::Null) };
        match (self.settings.result, row) {
            (ResultForm::Value, Value::Object(members)) => {
                Ok(members.into_values().next().unwrap_or_default())
            }
            (_, row) => Ok(row),
        }
    }
}

#[async_trait]
impl Maker for SqlMaker {
    async fn make(&self, arguments: Arguments, invocation: Invocation) -> CallOutcome {
        let arguments = self.query(&arguments);
        let outcome = self.database.call(Invocation { arguments, ..invocation }).await;
        self.formed(outcome?)
    }

    async fn schemas(&self) -> Arc<Schemas> {
        self.database.schemas().await
    }

    fn shape(&self, arguments: &Arguments) -> std::result::Result<Json, ToolFailure> {
        let query = self.query(arguments);
        self.database.try_statement(&query)?;
        Ok(json!({ "sql": query.to_json() }))
    }
}
