//! Functions and names that reach past the data: files, other servers, sleeping, locks, settings,
//! passwords, running a text as a query. A read-only session lets most of them through.

use super::dialect::Dialect;

/// Prefixes of denied PostgreSQL functions: large objects, queries and tables given as text, other
/// servers, maintenance of indexes (which writes even in a read-only session), raw pages.
const PG_DENIED_PREFIXES: [&str; 20] = [
    "lo_",
    "dblink",
    "query_to_",
    "cursor_to_",
    "database_to_",
    "schema_to_xml",
    "table_to_xml",
    "crosstab",
    "binary_upgrade_",
    "loread",
    "lowrite",
    "brin_",
    "gin_clean_",
    "postgres_fdw_",
    "autoprewarm_",
    "http_",
    "heap_page_",
    "bt_page_",
    "get_raw_page",
    "xslt_",
];

const PG_DENIED: [&str; 16] = [
    "set_config",
    "current_setting",
    "setval",
    "nextval",
    "setseed",
    "set_limit",
    "ts_stat",
    "ts_rewrite",
    "xpath_table",
    "connectby",
    "normal_rand",
    "txid_current",
    "currtid2",
    "inet_server_addr",
    "inet_server_port",
    "http",
];

/// PostgreSQL tables and views with passwords, addresses of other servers, files, accounts, or
/// what other sessions do.
const PG_SECRETS: [&str; 26] = [
    "pg_authid",
    "pg_shadow",
    "pg_user",
    "pg_roles",
    "pg_group",
    "pg_auth_members",
    "pg_user_mapping",
    "pg_user_mappings",
    "_pg_user_mappings",
    "pg_largeobject",
    "pg_hba_file_rules",
    "pg_ident_file_mappings",
    "pg_file_settings",
    "pg_settings",
    "pg_db_role_setting",
    "pg_subscription",
    "pg_replication_slots",
    "pg_replication_origin_status",
    "pg_locks",
    "pg_prepared_xacts",
    "pg_prepared_statements",
    "pg_cursors",
    "pg_backend_memory_contexts",
    "pg_shmem_allocations",
    "pg_statistic",
    "primary_conninfo",
];

/// The `pg_stat_…` views that count the use of tables; the others tell of sessions and the server.
const PG_STAT_ALLOWED_SUFFIXES: [&str; 3] = ["_tables", "_indexes", "_user_functions"];

/// MySQL's own schemas: accounts, other sessions, the server.
const MYSQL_SCHEMAS_DENIED: [&str; 3] = ["mysql", "performance_schema", "sys"];

/// Views of MySQL's `information_schema` that describe the data; the others tell of accounts,
/// sessions and the server.
const MYSQL_INFORMATION_ALLOWED: [&str; 26] = [
    "tables",
    "tables_extensions",
    "columns",
    "columns_extensions",
    "schemata",
    "statistics",
    "partitions",
    "views",
    "view_table_usage",
    "view_routine_usage",
    "sequences",
    "key_column_usage",
    "table_constraints",
    "table_constraints_extensions",
    "referential_constraints",
    "check_constraints",
    "character_sets",
    "collations",
    "collation_character_set_applicability",
    "routines",
    "parameters",
    "triggers",
    "keywords",
    "geometry_columns",
    "st_geometry_columns",
    "st_spatial_reference_systems",
];

/// SQLite's tables that read files, raw pages, or what the engine does.
const SQLITE_DENIED: [&str; 12] = [
    "sqlite_dbpage",
    "sqlite_dbdata",
    "sqlite_dbptr",
    "sqlite_stmt",
    "sqlite_memstat",
    "fsdir",
    "readfile",
    "zipfile",
    "csv",
    "completion",
    "bytecode",
    "tables_used",
];

/// SQLite's `pragma_…` tables that only describe the schema.
const PRAGMA_ALLOWED: [&str; 8] = [
    "pragma_table_info",
    "pragma_table_xinfo",
    "pragma_table_list",
    "pragma_index_list",
    "pragma_index_info",
    "pragma_index_xinfo",
    "pragma_foreign_key_list",
    "pragma_collation_list",
];

/// Whether the PostgreSQL function `name` (lower case), which is in no list of pure ones, is known to reach
/// outside. The tool asks the server about others.
pub(super) fn denied_function(name: &str) -> bool {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    name.starts_with("pg_") || PG_DENIED.contains(&name) || begins(&PG_DENIED_PREFIXES)
}

/// Where a name stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct NamePosition<'n> {
    /// The name before its dot, lower case.
    pub(super) inside: Option<&'n str>,
    /// Whether it names a schema: a dot follows, or SHOW lists what is in it.
    pub(super) schema: bool,
}

/// Types whose texts name the accounts of the server, also as arrays.
const PG_ROLE_TYPES: [&str; 4] = ["regrole", "_regrole", "aclitem", "_aclitem"];

/// Whether the table, view or schema `name` (lower case) may not be named at `place`.
pub(super) fn denied_name(dialect: Dialect, name: &str, place: NamePosition<'_>) -> bool {
    let information = place.inside == Some("information_schema");
    match dialect {
        Dialect::Sqlite => {
            SQLITE_DENIED.contains(&name) || (name.starts_with("pragma_") && !PRAGMA_ALLOWED.contains(&name))
        }
        Dialect::Postgres => {
            let counts = PG_STAT_ALLOWED_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
            PG_SECRETS.contains(&name)
                || PG_ROLE_TYPES.contains(&name)
                || (name.starts_with("pg_stat_") && !counts)
                || (information && name.starts_with("user_mapping"))
        }
        Dialect::Mysql => {
            (place.schema && MYSQL_SCHEMAS_DENIED.contains(&name))
                || (information && !MYSQL_INFORMATION_ALLOWED.contains(&name))
        }
    }
}
