//! Questions to a PostgreSQL server around a statement: which functions its names are, and whether an
//! abandoned statement has ended.

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, PgConnection, Row};

use super::super::calls::not_allowed;
use super::super::dialect::Dialect;
use super::super::failure::{Failed, refused};
use super::super::functions::is_pure;
use super::super::pool::until_gone;
use super::super::statement::Questions;

/// The server's process behind a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Backend {
    id: i32,
    /// Its start time, as ids are reused.
    began: Option<String>,
}

const QUESTIONS: &str = "\
    SELECT pg_catalog.pg_backend_pid() AS id, \
    (SELECT a.backend_start::pg_catalog.text FROM pg_catalog.pg_stat_activity a \
     WHERE a.pid = pg_catalog.pg_backend_pid()) AS began, \
    (SELECT p.proname::pg_catalog.text FROM pg_catalog.pg_proc p \
     JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
     WHERE p.proname::pg_catalog.text = ANY ($1) \
     AND (n.nspname = ANY (pg_catalog.current_schemas(true)) OR n.nspname::pg_catalog.text = ANY ($6)) \
     AND NOT (n.nspname = 'pg_catalog' AND p.proname::pg_catalog.text = ANY ($2)) LIMIT 1) AS called, \
    (SELECT p.proname::pg_catalog.text FROM pg_catalog.pg_proc p \
     JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace \
     WHERE p.proname::pg_catalog.text = ANY ($3) \
     AND n.nspname = ANY (pg_catalog.current_schemas(true)) \
     AND p.pronargs >= 1 AND p.pronargs - p.pronargdefaults <= 1 \
     AND (n.nspname <> 'pg_catalog' OR (NOT p.proname::pg_catalog.text = ANY ($4) \
     AND (p.provolatile = 'v' OR pg_catalog.starts_with(p.proname::pg_catalog.text, 'pg_')))) LIMIT 1) AS member, \
    (SELECT o.oprname::pg_catalog.text FROM pg_catalog.pg_operator o \
     JOIN pg_catalog.pg_namespace n ON n.oid = o.oprnamespace \
     JOIN pg_catalog.pg_proc p ON p.oid = o.oprcode \
     WHERE o.oprname::pg_catalog.text = ANY ($5) AND n.nspname <> 'pg_catalog' \
     AND n.nspname = ANY (pg_catalog.current_schemas(true)) AND p.provolatile = 'v' LIMIT 1) AS sign";

/// Asks the server what the names of a statement are. In the statement's own transaction.
///
/// # Errors
/// `query_refused` for a function that is neither pure nor allowed; the driver's error, through `failed`.
pub(super) async fn ask(
    connection: &mut PgConnection,
    questions: &Questions,
    failed: impl Fn(&sqlx::Error) -> Failed,
) -> Result<Backend, Failed> {
    let list = |names: &std::collections::BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>();
    let members = list(&questions.members);
    let pure: Vec<String> = members.iter().filter(|name| is_pure(Dialect::Postgres, name)).cloned().collect();
    let row = sqlx::query(QUESTIONS)
        .bind(list(&questions.called))
        .bind(list(&questions.known))
        .bind(members)
        .bind(pure)
        .bind(list(&questions.operators))
        .bind(list(&questions.schemas))
        .persistent(false)
        .fetch_one(connection)
        .await
        .map_err(|error| failed(&error))?;
    let text = |name: &str| row.try_get::<Option<String>, _>(name).map_err(|error| failed(&error));
    if let Some(name) = text("called")? {
        return Err(not_allowed(&name));
    }
    if let Some(name) = text("member")? {
        return Err(not_allowed(&name).with_detail("written", format!(".{name}")));
    }
    if let Some(operator) = text("sign")? {
        return Err(refused(format!(
            "the operator `{operator}` may run a function of the database that does more than compute"
        ))
        .with_help("write what it does with functions, or define its function as STABLE or IMMUTABLE"));
    }
    Ok(Backend { id: row.try_get("id").map_err(|error| failed(&error))?, began: text("began")? })
}

/// Ends the server's process of an abandoned session, and waits until it is gone: a computation inside one
/// function continues after the connection is closed.
pub(super) async fn end(options: PgConnectOptions, backend: Backend) {
    until_gone(|| ended(&options, &backend)).await;
}

async fn ended(options: &PgConnectOptions, backend: &Backend) -> Result<bool, sqlx::Error> {
    use sqlx::Connection as _;

    let mut connection = options.connect().await?;
    let left: i64 = sqlx::query_scalar(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
         WHERE pid = $1 AND backend_start::text IS NOT DISTINCT FROM $2",
    )
    .bind(backend.id)
    .bind(backend.began.as_deref())
    .persistent(false)
    .fetch_one(&mut connection)
    .await?;
    connection.close().await?;
    Ok(left == 0)
}
