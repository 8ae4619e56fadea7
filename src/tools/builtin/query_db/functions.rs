//! The functions that a statement may call: one list for each dialect of those that only compute, and
//! those that the configuration adds.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::dialect::Dialect;

static SQLITE: LazyLock<HashSet<&str>> = LazyLock::new(|| names(include_str!("functions/sqlite.txt")));
static POSTGRES: LazyLock<HashSet<&str>> = LazyLock::new(|| names(include_str!("functions/postgres.txt")));
static MYSQL: LazyLock<HashSet<&str>> = LazyLock::new(|| names(include_str!("functions/mysql.txt")));

fn names(list: &'static str) -> HashSet<&'static str> {
    list.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

/// Whether the function `name` (lower case) only computes.
pub(super) fn is_pure(dialect: Dialect, name: &str) -> bool {
    match dialect {
        Dialect::Sqlite => SQLITE.contains(name),
        Dialect::Postgres => POSTGRES.contains(name),
        Dialect::Mysql => MYSQL.contains(name),
    }
}

/// The functions that configuration allows beside the pure ones.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowedFunctions {
    names: HashSet<String>,
    /// The prefixes, without their `*`.
    beginnings: Vec<String>,
}

impl AllowedFunctions {
    /// Reads `allow_functions`: names without a schema, or prefixes of names followed by `*`.
    ///
    /// # Errors
    /// The first text that is neither.
    pub(super) fn new(patterns: &[String]) -> Result<Self, String> {
        let mut allowed = Self::default();
        for pattern in patterns {
            let lower = pattern.to_ascii_lowercase();
            let (name, is_beginning) =
                lower.strip_suffix('*').map_or((lower.as_str(), false), |beginning| (beginning, true));
            let well_formed = name.chars().next().is_some_and(|first| first.is_alphabetic() || first == '_')
                && name
                    .chars()
                    .all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'));
            if !well_formed {
                return Err(pattern.clone());
            }
            if is_beginning {
                allowed.beginnings.push(name.to_owned());
            } else {
                allowed.names.insert(name.to_owned());
            }
        }
        Ok(allowed)
    }

    /// Whether `name` is allowed, in whichever schema it is.
    pub(super) fn contains(&self, name: &str) -> bool {
        let name = name.to_ascii_lowercase();
        self.names.contains(&name) || self.beginnings.iter().any(|beginning| name.starts_with(beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_name_or_the_beginning_of_one() {
        let allowed = AllowedFunctions::new(&["net_price".to_owned(), "ST_*".to_owned()]).unwrap();
        for name in ["net_price", "NET_PRICE", "st_area", "st_"] {
            assert!(allowed.contains(name), "{name}");
        }
        for name in ["net_price2", "s", "pg_sleep"] {
            assert!(!allowed.contains(name), "{name}");
        }
        for wrong in ["*", "", "a.b", "a*b", "1a", "a("] {
            assert_eq!(AllowedFunctions::new(&[wrong.to_owned()]).unwrap_err(), wrong);
        }
    }

    /// A function that reaches outside must never get into a list of those that only compute.
    #[test]
    fn no_list_holds_a_function_that_reaches_outside() {
        let outside = [
            (
                Dialect::Postgres,
                "pg_read_file pg_ls_dir pg_sleep dblink dblink_exec lo_import lo_get nextval setval \
              set_config current_setting query_to_xml table_to_xml cursor_to_xml schema_to_xml database_to_xml ts_stat \
              ts_rewrite pg_terminate_backend pg_cancel_backend pg_advisory_lock pg_notify pg_stat_get_activity txid_current \
              pg_current_xact_id pg_logical_emit_message crosstab connectby http_get inet_server_addr to_regrole lastval \
              currval setseed pg_stat_file pg_reload_conf pg_hba_file_rules pg_show_all_settings aclexplode",
            ),
            (
                Dialect::Mysql,
                "load_file sleep benchmark get_lock release_lock release_all_locks is_free_lock is_used_lock \
              master_pos_wait master_gtid_wait nextval lastval setval sys_exec sys_eval last_insert_id connection_id \
              name_const kdf analyse",
            ),
            (
                Dialect::Sqlite,
                "load_extension readfile writefile edit fts3_tokenizer zeroblob randomblob \
              sqlite_compileoption_get sqlite_compileoption_used sqlite_dbpage pragma_database_list sqlite_log",
            ),
        ];
        for (dialect, list) in outside {
            for name in list.split_whitespace() {
                assert!(!is_pure(dialect, name), "{dialect:?}: {name}");
            }
        }
        for dialect in [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql] {
            for name in ["count", "lower", "round", "coalesce", "row_number"] {
                assert!(is_pure(dialect, name), "{dialect:?}: {name}");
            }
        }
    }
}
