//! Functions and names that reach past the data: files, other servers, sleeping, locks, settings,
//! passwords, running a text as a query. A read-only session lets most of them through.

use super::dialect::Dialect;

/// PostgreSQL functions beginning with `pg_` are denied except these, which only describe.
const PG_ALLOWED: [&str; 12] = [
    "pg_typeof",
    "pg_column_size",
    "pg_table_size",
    "pg_relation_size",
    "pg_total_relation_size",
    "pg_indexes_size",
    "pg_database_size",
    "pg_size_pretty",
    "pg_table_is_visible",
    "pg_input_is_valid",
    "pg_collation_for",
    "pg_encoding_to_char",
];

/// PostgreSQL functions that print definitions; the other `pg_get_…` look into the server.
const PG_ALLOWED_PREFIXES: [&str; 13] = [
    "pg_get_constraintdef",
    "pg_get_expr",
    "pg_get_function",
    "pg_get_indexdef",
    "pg_get_keywords",
    "pg_get_partition_constraintdef",
    "pg_get_partkeydef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef",
    "pg_get_triggerdef",
    "pg_get_userbyid",
    "pg_get_viewdef",
];

/// Beginnings of PostgreSQL functions that are denied: large objects, queries and tables given as
/// text, other servers, upkeep of indexes (which writes even in a read-only session), raw pages.
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

const MYSQL_DENIED: [&str; 19] = [
    "load_file",
    "sleep",
    "benchmark",
    "get_lock",
    "release_lock",
    "release_all_locks",
    "is_free_lock",
    "is_used_lock",
    "master_pos_wait",
    "source_pos_wait",
    "master_gtid_wait",
    "wait_for_executed_gtid_set",
    "wait_until_sql_thread_after_gtids",
    "nextval",
    "setval",
    "sys_exec",
    "sys_eval",
    "sys_get",
    "sys_set",
];

/// Beginnings of functions that MySQL's plugins add to steer or read the server.
const MYSQL_DENIED_PREFIXES: [&str; 9] = [
    "group_replication_",
    "asynchronous_connection_failover_",
    "keyring_",
    "audit_log_",
    "version_tokens_",
    "mysql_firewall_",
    "service_",
    "spider_",
    "http_",
];

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

const SQLITE_DENIED: [&str; 9] = [
    "load_extension",
    "readfile",
    "writefile",
    "edit",
    "fts3_tokenizer",
    "zeroblob",
    "randomblob",
    "sqlite_compileoption_get",
    "sqlite_dbpage",
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

/// Whether the function `name` (lower case) may not be called.
pub(super) fn denied_function(dialect: Dialect, name: &str) -> bool {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    match dialect {
        Dialect::Sqlite => SQLITE_DENIED.contains(&name),
        Dialect::Mysql => MYSQL_DENIED.contains(&name) || begins(&MYSQL_DENIED_PREFIXES),
        Dialect::Postgres => {
            let system =
                name.starts_with("pg_") && !begins(&PG_ALLOWED_PREFIXES) && !PG_ALLOWED.contains(&name);
            system || PG_DENIED.contains(&name) || begins(&PG_DENIED_PREFIXES)
        }
    }
}

/// Where a name stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'n> {
    /// The name before its dot, lower case.
    pub(super) inside: Option<&'n str>,
    /// Whether it names a schema: a dot follows, or SHOW lists what is in it.
    pub(super) schema: bool,
}

/// Whether the table, view or schema `name` (lower case) may not be named at `place`.
pub(super) fn denied_name(dialect: Dialect, name: &str, place: Place<'_>) -> bool {
    let information = place.inside == Some("information_schema");
    match dialect {
        Dialect::Sqlite => {
            name == "sqlite_dbpage" || (name.starts_with("pragma_") && !PRAGMA_ALLOWED.contains(&name))
        }
        Dialect::Postgres => {
            let counts = PG_STAT_ALLOWED_SUFFIXES.iter().any(|suffix| name.ends_with(suffix));
            PG_SECRETS.contains(&name)
                || (name.starts_with("pg_stat_") && !counts)
                || (information && name.starts_with("user_mapping"))
        }
        Dialect::Mysql => {
            (place.schema && MYSQL_SCHEMAS_DENIED.contains(&name))
                || (information && !MYSQL_INFORMATION_ALLOWED.contains(&name))
        }
    }
}
