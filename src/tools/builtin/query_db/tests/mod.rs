#[cfg(not(all(feature = "mysql", feature = "postgres")))]
mod absent;
#[cfg(all(feature = "mysql", feature = "postgres"))]
mod session;

use std::time::Duration;

use indexmap::IndexMap;
use serde_json::json;

use luaplan_base::{Effect, Value};
use luaplan_catalog::read_manifest;

use super::check::Checked;
use super::dialect::Dialect;
use super::failure::{Failed, Secrets};
use super::functions::AllowedFunctions;
use super::lex::{SQL_BYTES_MAX, TokenKind, lex};
use super::number::{decimal, float, single, unsigned};
use super::rows::{Caps, Rows};
use super::settings::DatabaseUrl;
use super::settings::Decimals;
use super::statement::StatementKind;
use super::template::{Params, SqlTemplate};

const ALL: [Dialect; 3] = [Dialect::Sqlite, Dialect::Postgres, Dialect::Mysql];

fn check(dialect: Dialect, sql: &str, write_granted: bool) -> Result<StatementKind, Failed> {
    let checked = super::check::check(dialect, sql, write_granted, &AllowedFunctions::default());
    checked.map(|Checked { kind, .. }| kind)
}

#[test]
fn ordinary_reading_statements_pass_the_check() {
    let everywhere = [
        "SELECT 1",
        "select name from users where note = 'INSERT INTO x; DELETE FROM y'",
        "SELECT t.update, t.delete FROM t",
        "SELECT replace(name, 'a', 'b') FROM t",
        "SELECT substring(name FROM 1 FOR 2) FROM t",
        "SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END, sum(a) OVER (PARTITION BY b ORDER BY c) FROM t;",
        "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 2) SELECT * FROM n",
        "VALUES (1), (2)",
        "SELECT sleep FROM nights",
        "SELECT * FROM t WHERE a = 'x'';' AND b <> '--'",
        "SELECT 1 -- the end",
        "SELECT /* ; DELETE */ 1",
        "EXPLAIN SELECT 1",
        "((SELECT 1))",
    ];
    for (dialect, sql) in ALL.iter().flat_map(|dialect| everywhere.map(|sql| (*dialect, sql))) {
        let checked = check(dialect, sql, false);
        assert!(matches!(checked, Ok(StatementKind::Read)), "{sql} on {dialect:?}: {checked:?}");
    }
    let single = [
        (Dialect::Postgres, r#"SELECT "delete", "update" FROM "insert""#),
        (Dialect::Postgres, "SELECT $tag$ ; DELETE FROM t $tag$ AS text, a$b FROM t"),
        (
            Dialect::Postgres,
            "SELECT data -> 'a' ->> 'b', data @> '{}', data ?| array['x'], x::int[], y[1:2] FROM t",
        ),
        (Dialect::Postgres, r"SELECT E'it\'s; fine', '\'"),
        (Dialect::Postgres, "SELECT pg_typeof(1), pg_size_pretty(pg_total_relation_size('t'))"),
        (Dialect::Postgres, "SELECT 1 /* a /* b */ c */ + 1"),
        (Dialect::Mysql, r#"SELECT `delete`, "a;b", 'it\'s; fine' FROM `insert` # end"#),
        (Dialect::Mysql, "SELECT 5--1, insert('abc', 1, 1, 'x')"),
        (Dialect::Postgres, "SELECT relname, n_live_tup FROM pg_stat_user_tables"),
        (Dialect::Postgres, "SELECT pg_get_viewdef('v'::regclass), table_to FROM information_schema.columns"),
        (Dialect::Postgres, "SHOW server_version"),
        (Dialect::Mysql, "SHOW FULL COLUMNS FROM t"),
        (Dialect::Mysql, "SHOW FULL TABLES FROM shop"),
        (Dialect::Mysql, "SELECT mysql, sys, processlist FROM information_schema.`TABLES`"),
        (Dialect::Sqlite, "SELECT [delete], `update`, \"insert\" FROM [a;b]"),
        (Dialect::Sqlite, r"SELECT '\'"),
    ];
    for (dialect, sql) in single {
        let checked = check(dialect, sql, false);
        assert!(matches!(checked, Ok(StatementKind::Read)), "{sql}: {checked:?}");
    }
}

#[test]
fn only_a_grant_lets_data_statements_through() {
    let writes = [
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "insert ignore into t values (1)",
    ];
    for (dialect, sql) in ALL.iter().flat_map(|dialect| writes.map(|sql| (*dialect, sql))) {
        assert!(check(dialect, sql, false).is_err(), "{sql}");
        assert!(matches!(check(dialect, sql, true), Ok(StatementKind::Write)), "{sql}");
        let hidden = format!("{sql} RETURNING pg_sleep(1), sleep(1), load_extension('x')");
        assert!(check(dialect, &hidden, true).is_err(), "{hidden}");
    }
}

/// The first wall alone: every hostile statement is refused before a database sees it.
#[test]
fn the_check_refuses_every_hostile_statement_by_itself() {
    let cases: toml::Table =
        toml::from_str(include_str!("../../../../../tests/cases/query_db/hostile.toml")).unwrap();
    let mut seen = 0;
    for case in cases["case"].as_array().unwrap() {
        let Some(sql) = case["arguments"].get("sql").and_then(toml::Value::as_str) else { continue };
        let on = case.get("on").and_then(toml::Value::as_array);
        for dialect in ALL {
            let name = format!("{dialect:?}").to_lowercase();
            if on.is_none_or(|on| on.iter().any(|one| one.as_str() == Some(name.as_str()))) {
                assert!(check(dialect, sql, false).is_err(), "{dialect:?}: {sql}");
                seen += 1;
            }
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn a_text_that_is_too_long_is_refused_with_both_numbers() {
    let sql = format!("SELECT '{}'", "x".repeat(SQL_BYTES_MAX));
    let failure = lex(Dialect::Sqlite, &sql).unwrap_err().into_tool_failure();
    assert_eq!(failure.code, "query_refused");
    assert_eq!(failure.details["limit"], Value::Integer(SQL_BYTES_MAX as i64));
    assert_eq!(failure.details["observed"], Value::Integer(sql.len() as i64));
}

#[test]
fn tokens_cover_every_byte_but_white_space() {
    let text = "SELECT a.\"b\", 'c''d', 1.5e-3, 0xFF, :n, $1, é /* x */ FROM t -- y\nWHERE q >= ?";
    for dialect in ALL {
        let tokens = lex(dialect, text).unwrap();
        let mut at = 0;
        for token in &tokens {
            assert!(text[at..token.start].trim().is_empty(), "{dialect:?}: {:?}", &text[at..token.start]);
            assert_eq!(&text[token.start..token.end()], token.text);
            at = token.end();
        }
        assert_eq!(at, text.len());
        let comments = tokens.iter().filter(|token| token.kind == TokenKind::Comment).count();
        assert_eq!(comments, 2, "{dialect:?}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_lexer_or_the_check(text in "[-a-zA-Z0-9 '\"`\\[\\]$?:;/*#\\\\\n()é.,_]{0,60}") {
        for dialect in ALL {
            let _ = lex(dialect, &text);
            let _ = check(dialect, &text, true);
            let mut template = SqlTemplate::default();
            let _ = template.push_source(dialect, &text, Params::List(&[Value::Integer(1)]));
            let _ = template.push_fragment(dialect, "where", &text, Params::List(&[]));
        }
    }

    /// What is sent holds no comment, so no database can read one differently.
    #[test]
    fn a_rendered_text_lexes_to_the_same_tokens_without_comments(text in "[-a-z0-9 '\"`$;/*#\n()]{0,60}") {
        for dialect in ALL {
            let mut template = SqlTemplate::default();
            if template.push_source(dialect, &text, Params::List(&[])).is_err() {
                continue;
            }
            let sent = template.render(dialect).sql;
            let kept: Vec<_> = lex(dialect, &text).unwrap().into_iter()
                .filter(|token| token.kind != TokenKind::Comment).map(|token| token.text).collect();
            let seen: Vec<_> = lex(dialect, &sent).unwrap().iter().map(|token| token.text).collect();
            proptest::prop_assert_eq!(kept, seen, "{:?}", dialect);
        }
    }
}

#[test]
fn two_minus_signs_cannot_become_a_comment_when_the_comment_after_them_goes() {
    let mut template = SqlTemplate::default();
    let refused = template.push_source(Dialect::Mysql, "SELECT 1 --#\n, 2", Params::List(&[]));
    assert!(refused.is_err());
}

#[test]
fn placeholders_take_each_dialects_own_form() {
    let values = [Value::Integer(7), Value::from("x"), Value::Float(0.5)];
    let sql = "SELECT $1, '$1', $2, $1, $3";
    let rendered = |dialect| {
        let mut template = SqlTemplate::default();
        template.push_source(dialect, sql, Params::List(&values)).unwrap();
        let rendered = template.render(dialect);
        (rendered.sql, rendered.values.len())
    };
    assert_eq!(rendered(Dialect::Sqlite), ("SELECT ?1, '$1', ?2, ?1, ?3".to_owned(), 3));
    assert_eq!(rendered(Dialect::Postgres), ("SELECT $1, '$1', $2, $1, $3::float8".to_owned(), 3));
    assert_eq!(rendered(Dialect::Mysql), ("SELECT ?, '$1', ?, ?, ?".to_owned(), 4));
    let named = IndexMap::from([("a".to_owned(), Value::from(vec![Value::Integer(1), Value::Integer(2)]))]);
    let mut template = SqlTemplate::default();
    template.push_source(Dialect::Postgres, "x::text IN (:a) OR y = '::b'", Params::Named(&named)).unwrap();
    assert_eq!(template.render(Dialect::Postgres).sql, "x::text IN ($1, $2) OR y = '::b'");
}

#[test]
fn numbers_keep_every_digit_or_become_text() {
    let number = |text| decimal(text, Decimals::Number);
    assert_eq!(number("100"), Some(Value::Integer(100)));
    assert_eq!(number("-0.50"), Some(Value::Float(-0.5)));
    assert_eq!(number("100.00"), Some(Value::Integer(100)));
    assert_eq!(number("12345678901234567890"), Some(Value::Float(12_345_678_901_234_567_890.0)));
    assert_eq!(number("0.1234567890123456789"), Some(Value::Float(0.123_456_789_012_345_68)));
    assert_eq!(number("NaN"), None);
    assert_eq!(decimal("NaN", Decimals::Text), Some(Value::from("NaN")));
    assert_eq!(single(1.1), Some(Value::Float(1.1)));
    assert_eq!(float(f64::NEG_INFINITY), None);
    assert_eq!(unsigned(5, Decimals::Text), Some(Value::from("5")));
    assert_eq!(unsigned(u64::MAX, Decimals::Number), Some(Value::Float(18_446_744_073_709_551_615.0)));
}

#[test]
fn column_names_are_made_unique_without_taking_one_that_is_there() {
    let mut rows = Rows::new(Caps { rows_max: 9, bytes_max: 999, limit: None });
    let values = vec![Value::Integer(1), Value::Integer(2), Value::Integer(3), Value::Integer(4)];
    rows.push(values, || vec!["id", "id", "id_2", "id"]).unwrap();
    assert_eq!(rows.into_value().to_json(), json!([{"id": 1, "id_3": 2, "id_2": 3, "id_4": 4}]));
}

#[test]
fn secrets_go_out_of_messages_in_every_spelling() {
    let url = DatabaseUrl::new("postgres://u:a%2Bb+c@h/d?password=second");
    let secrets = Secrets::new(url.secrets());
    for spelled in ["a%2Bb+c", "a+b+c", "second"] {
        let message = format!("login with {spelled} failed");
        assert_eq!(secrets.remove(&message), "login with *** failed", "{spelled}");
    }
    assert!(!format!("{url} {url:?}").contains("second"));
    assert_eq!(DatabaseUrl::new("mysql://u:p%40ss w@ho st").to_string(), "mysql:…");
}

#[test]
fn the_manifest_lists_the_parameters_in_positional_order() {
    let spec = read_manifest(include_str!("../../../../../tools/query_db.toml"), "query_db.toml").unwrap();
    let parameters: Vec<_> = spec.parameters().map(|(name, _)| name).collect();
    assert_eq!(
        parameters,
        ["table", "where", "params", "columns", "order_by", "limit", "sql", "database", "exact", "intervals"]
    );
    assert_eq!((spec.effect, spec.idempotent), (Effect::Read, true));
    assert_eq!(spec.timeout, Duration::from_secs(15));
}

/// The address of a server; `None` where there is none.
///
/// # Panics
/// Where there is none and `LUAPLAN_TEST_REQUIRE` names the part.
#[expect(clippy::disallowed_methods, reason = "tests take server addresses from the environment")]
pub(super) fn server(part: &str, variable: &str) -> Option<String> {
    let url = std::env::var(variable).ok();
    let required = std::env::var("LUAPLAN_TEST_REQUIRE").unwrap_or_default();
    let is_required = required.split(',').any(|name| name.trim() == part);
    assert!(url.is_some() || !is_required, "LUAPLAN_TEST_REQUIRE names `{part}`, and {variable} is not set");
    url
}
