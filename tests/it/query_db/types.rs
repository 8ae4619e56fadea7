//! Every type of every database keeps its meaning on the way.

use luaplan::base::Value;
use luaplan::tools::query_db::Decimals;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Fixture, KINDS, Kind, call, call_value, failure, rows};

#[tokio::test]
async fn sqlite_values_keep_their_stored_type() {
    let setup = "CREATE TABLE t (i INTEGER, r REAL, x TEXT, b BLOB, yes BOOLEAN, d DATE, any_kind);
        INSERT INTO t VALUES (9223372036854775807, 0.1, 'é', x'ff00', 1, '2026-11-21', x'6869');
        INSERT INTO t VALUES (NULL, 2, '', x'', 0, NULL, NULL);";
    let fixture = Fixture::new(Kind::Sqlite, setup).await.unwrap();
    let tool = fixture.tool();
    let found = rows(&tool, json!({"table": "t"})).await;
    assert_eq!(
        found,
        json!([
            {"i": i64::MAX, "r": 0.1, "x": "é", "b": {"$bytes": "/wA="}, "yes": true, "d": "2026-11-21", "any_kind": "hi"},
            {"i": null, "r": 2.0, "x": "", "b": "", "yes": false, "d": null, "any_kind": null},
        ])
    );
}

#[tokio::test]
async fn postgres_types_become_values() {
    let setup = "CREATE TYPE mood AS ENUM ('glad', 'sad'); CREATE DOMAIN positive AS int CHECK (value > 0);
        CREATE TABLE t (b bool, s smallint, i int, l bigint, f real, d double precision, n numeric(12,4), n2 numeric,
            x text, v varchar(5), c char(4), y bytea, day date, t time, tz timetz, ts timestamp, tstz timestamptz,
            iv interval, u uuid, j json, jb jsonb, ip inet, net cidr, m mood, p positive, ints int[], texts text[][],
            cash money, bits bit(5), mac macaddr, o oid);
        INSERT INTO t VALUES (true, -2, 3, 9223372036854775807, 1.1, 0.1, 12345.6700, 12345678901234567890.5,
            'é', 'abc', 'ab', '\\xff00', '2026-11-21', '10:00:00.5', '10:00:00+05:30', '2026-11-21 10:00:00.25',
            '2026-11-21 10:00:00+02', '1 year 2 months 3 days 04:05:06.5', '0189d4f2-6b3c-7c1e-9a52-3f1f6d1c0001',
            '{\"a\": [1, null]}', '{\"b\": 1.5}', '10.0.0.1', '10.0.0.0/8', 'glad', 7, '{1,NULL,3}',
            '{{a,\"b c\"},{d,e}}', '12.34', B'10110', '08:00:2b:01:02:03', 42);
        INSERT INTO t (d, n, n2, day, ts, iv) VALUES (-0.5, -0.5, 100, 'infinity', '-infinity', '-1 day -00:00:01');";
    let Some(fixture) = Fixture::new(Kind::Postgres, setup).await else { return };
    let tool = fixture.tool();
    let found = rows(&tool, json!({"table": "t", "order_by": "b"})).await;
    let expected = json!({
        "b": true, "s": -2, "i": 3, "l": i64::MAX, "f": 1.1, "d": 0.1, "n": 12345.67, "n2": 12345678901234567890.5,
        "x": "é", "v": "abc", "c": "ab  ", "y": {"$bytes": "/wA="}, "day": "2026-11-21", "t": "10:00:00.5",
        "tz": "10:00:00+05:30", "ts": "2026-11-21T10:00:00.25", "tstz": "2026-11-21T08:00:00Z",
        "iv": "P1Y2M3DT4H5M6.5S", "u": "0189d4f2-6b3c-7c1e-9a52-3f1f6d1c0001", "j": {"a": [1, null]}, "jb": {"b": 1.5},
        "ip": "10.0.0.1", "net": "10.0.0.0/8", "m": "glad", "p": 7, "ints": [1, null, 3],
        "texts": [["a", "b c"], ["d", "e"]], "cash": 12.34, "bits": "10110", "mac": "08:00:2b:01:02:03", "o": 42,
    });
    assert_eq!(found[0], expected);
    let odd = &found[1];
    assert_eq!([&odd["d"], &odd["n"], &odd["n2"]], [&json!(-0.5), &json!(-0.5), &json!(100)]);
    assert_eq!(
        [&odd["day"], &odd["ts"], &odd["iv"]],
        [&json!("infinity"), &json!("-infinity"), &json!("P-1DT-1S")]
    );
    let unknown = failure(&tool, json!({"sql": "SELECT point(1, 2) AS place"})).await;
    assert_eq!(unknown.code, "query_failed");
    assert!(unknown.message.contains("`place`") && unknown.message.contains("POINT"), "{}", unknown.message);
    fixture.close().await;
}

#[tokio::test]
async fn mysql_types_become_values() {
    let setup = "CREATE TABLE t (yes BOOLEAN, ti TINYINT, s SMALLINT UNSIGNED, i INT, l BIGINT, ul BIGINT UNSIGNED,
            f FLOAT, d DOUBLE, n DECIMAL(12,4), n2 DECIMAL(30,1), x TEXT, v VARCHAR(5), y BLOB, day DATE, t TIME(3),
            dt DATETIME(6), ts TIMESTAMP NULL, yr YEAR, e ENUM('a','b'), st SET('p','q'), bits BIT(10));
        INSERT INTO t VALUES (true, -5, 65535, -3, 9223372036854775807, 18446744073709551615, 1.1, 0.1, 12345.67,
            12345678901234567890.5, 'é', 'abc', x'ff00', '2026-11-21', '-30:00:00.5', '2026-11-21 10:00:00.25',
            '2026-11-21 10:00:00', 2026, 'b', 'p,q', b'1000000001');
        INSERT INTO t (ti) VALUES (1);";
    let Some(fixture) = Fixture::new(Kind::Mysql, setup).await else { return };
    let tool = fixture.tool();
    let mut found = rows(&tool, json!({"table": "t", "order_by": "ti"})).await;
    let stamp = found[0]["ts"].take();
    assert!(stamp.as_str().unwrap().ends_with('Z'), "{stamp}");
    assert_eq!(
        found[0],
        json!({
            "yes": true, "ti": -5, "s": 65535, "i": -3, "l": i64::MAX, "ul": 18446744073709551615.0, "f": 1.1, "d": 0.1,
            "n": 12345.67, "n2": 12345678901234567890.5, "x": "é", "v": "abc", "y": {"$bytes": "/wA="},
            "day": "2026-11-21", "t": "-30:00:00.5", "dt": "2026-11-21T10:00:00.25", "ts": null, "yr": 2026, "e": "b",
            "st": "p,q", "bits": 513,
        })
    );
    let nulls = found[1].as_object().unwrap().iter().filter(|(_, value)| value.is_null()).count();
    assert_eq!((nulls, &found[1]["ti"]), (20, &json!(1)));
    fixture.close().await;
}

#[tokio::test]
async fn postgres_parameters_fit_whatever_type_they_meet() {
    let setup = "CREATE TYPE mood AS ENUM ('glad', 'sad');
        CREATE TABLE t (id int PRIMARY KEY, l bigint, n numeric(10,2), x text, day date, tstz timestamptz, u uuid,
            b bool, j jsonb, ip inet, m mood, f double precision, iv interval, ints int[]);
        INSERT INTO t VALUES (1, 8, 19.99, '8001', '2026-11-21', '2026-11-21T10:00:00Z',
            '0189d4f2-6b3c-7c1e-9a52-3f1f6d1c0001', true, '{\"a\": 1}', '10.0.0.1', 'glad', 0.5, '2 days', '{1,2}');";
    let Some(fixture) = Fixture::new(Kind::Postgres, setup).await else { return };
    let tool = fixture.tool();
    let fits = [
        ("l = ?", json!(8)),
        ("l = ?", json!("8")),
        ("n = ?", json!(19.99)),
        ("n > ?", json!(19)),
        ("n = ?", json!("19.99")),
        ("x = ?", json!("8001")),
        ("x = ?", json!(8001)),
        ("day = ?", json!("2026-11-21")),
        ("day >= ?", json!("2026-01-01")),
        ("tstz = ?", json!("2026-11-21T12:00:00+02:00")),
        ("u = ?", json!("0189d4f2-6b3c-7c1e-9a52-3f1f6d1c0001")),
        ("b = ?", json!(true)),
        ("b = ?", json!("true")),
        ("j @> ?", json!({"a": 1})),
        ("j @> ?", json!("{\"a\": 1}")),
        ("ip = ?", json!("10.0.0.1")),
        ("m = ?", json!("glad")),
        ("f = ?", json!(0.5)),
        ("f < ?", json!(1)),
        ("iv = ?", json!("48 hours")),
        ("id = ANY(?)", json!([1, 2])),
        ("ints = ?", json!([1, 2])),
        ("x = ANY(?)", json!(["8001", "a\"b\\,c"])),
        ("id IN (?)", json!([1, 5])),
        ("x LIKE ?", json!("80%")),
        ("id <= length(?)", json!("abc")),
    ];
    for (condition, value) in fits {
        let asked = json!({"table": "t", "columns": ["id"], "where": condition, "params": [value]});
        assert_eq!(rows(&tool, asked.clone()).await, json!([{"id": 1}]), "{asked}");
    }
    let operator = json!({"sql": "SELECT id FROM t WHERE j ? 'a'"});
    assert_eq!(
        rows(&tool, operator).await,
        json!([{"id": 1}]),
        "`?` is an operator where there are no values"
    );
    let both = json!({"sql": "SELECT ints[1:2] AS part FROM t WHERE j ? 'a' AND id = $1", "params": [1]});
    assert_eq!(rows(&tool, both).await, json!([{"part": [1, 2]}]));
    let wrong = failure(&tool, json!({"table": "t", "where": "id = ?", "params": ["abc"]})).await;
    assert_eq!((wrong.code.as_str(), wrong.retryable), ("query_failed", false));
    let untyped = failure(&tool, json!({"sql": "SELECT 1 WHERE ? IS NULL", "params": [1]})).await;
    assert!(untyped.details.contains_key("help"), "{untyped:?}");
    fixture.close().await;
}

#[tokio::test]
async fn bytes_nulls_and_booleans_survive_as_parameters() {
    for (kind, blob) in [(Kind::Sqlite, "BLOB"), (Kind::Postgres, "bytea"), (Kind::Mysql, "BLOB")] {
        let setup = format!("CREATE TABLE t (id INTEGER, y {blob}, b BOOLEAN)");
        let Some(fixture) = Fixture::new(kind, &setup).await else { continue };
        let tool = fixture.tool_with(|settings| settings.writes = vec!["main".to_owned()]);
        let bytes = Value::Bytes(vec![0xff, 0x00, 0x27].into());
        let written = Value::from_iter([
            ("sql", Value::from("INSERT INTO t VALUES (?, ?, ?)")),
            ("params", Value::from(vec![Value::Null, bytes.clone(), Value::Bool(true)])),
        ]);
        let result = call_value(&tool, written, CancellationToken::new()).await.unwrap();
        assert_eq!(result.to_json(), json!({"rows_affected": 1}));
        let found = call(&tool, json!({"table": "t"})).await.unwrap();
        let row = &found.as_array().unwrap()[0];
        assert_eq!(row.get("y"), Some(&bytes), "{}", kind.name());
        assert_eq!(row.get("id"), Some(&Value::Null));
        assert_eq!(row.get("b"), Some(&Value::Bool(true)), "{}", kind.name());
        fixture.close().await;
    }
}

/// NULL first, then what a double holds and what it does not.
const PRICES: &str = "CREATE TABLE prices (id INTEGER PRIMARY KEY, price NUMERIC(30, 16));
    INSERT INTO prices VALUES (1, NULL), (2, 7), (3, 0.1), (4, 1234567890.1234567891234567), (5, -0.5);";

#[tokio::test]
async fn a_decimal_column_is_numbers_on_every_database() {
    for fixture in Fixture::all(PRICES).await {
        let found = rows(&fixture.tool(), json!({"table": "prices", "order_by": "id"})).await;
        let prices: Vec<_> = found.as_array().unwrap().iter().map(|row| row["price"].as_f64()).collect();
        let expected = [None, Some(7.0), Some(0.1), Some(1_234_567_890.123_456_8), Some(-0.5)];
        assert_eq!(prices, expected, "{}", fixture.kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_decimal_column_is_text_throughout_where_that_is_asked() {
    for kind in [Kind::Postgres, Kind::Mysql] {
        let Some(fixture) = Fixture::new(kind, PRICES).await else { continue };
        let by_call = json!({"table": "prices", "columns": ["price"], "order_by": "id", "exact": true});
        let found = rows(&fixture.tool(), by_call).await;
        let expected = json!([
            {"price": null}, {"price": "7.0000000000000000"}, {"price": "0.1000000000000000"},
            {"price": "1234567890.1234567891234567"}, {"price": "-0.5000000000000000"},
        ]);
        assert_eq!(found, expected, "{}", kind.name());
        let tool = fixture.tool_with(|settings| settings.decimals = Decimals::Text);
        let by_settings = json!({"table": "prices", "columns": ["price"], "order_by": "id"});
        assert_eq!(rows(&tool, by_settings).await, expected, "{}", kind.name());
        let unlike_settings =
            json!({"table": "prices", "where": "id = 2", "columns": ["price"], "exact": false});
        assert_eq!(rows(&tool, unlike_settings).await, json!([{"price": 7}]), "{}", kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn numbers_that_are_none_are_refused() {
    let Some(fixture) = Fixture::new(Kind::Postgres, "").await else { return };
    let tool = fixture.tool();
    for sql in
        ["SELECT 'NaN'::float8 AS odd", "SELECT 'NaN'::numeric AS odd", "SELECT 'Infinity'::real AS odd"]
    {
        let refused = failure(&tool, json!({"sql": sql})).await;
        assert_eq!(refused.code, "query_failed", "{sql}");
        assert!(refused.message.contains("`odd`"), "{sql}: {}", refused.message);
    }
    let kept = rows(&tool, json!({"sql": "SELECT 'NaN'::numeric AS odd", "exact": true})).await;
    assert_eq!(kept, json!([{"odd": "NaN"}]));
    fixture.close().await;
}

#[tokio::test]
async fn a_mixed_column_of_sqlite_is_refused() {
    let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, yes BOOLEAN);
        INSERT INTO t VALUES (1, NULL, 1), (2, 5, 0), (3, 'five', 7);";
    let fixture = Fixture::new(Kind::Sqlite, setup).await.unwrap();
    let tool = fixture.tool();
    let mixed = failure(&tool, json!({"table": "t", "columns": ["n"], "order_by": "id"})).await;
    assert_eq!(mixed.code, "query_failed");
    assert!(mixed.message.contains("`n` holds both numbers and text"), "{}", mixed.message);
    let neither = failure(&tool, json!({"table": "t", "columns": ["yes"]})).await;
    assert!(neither.message.contains("`yes`"), "{}", neither.message);
    let cast = rows(&tool, json!({"sql": "SELECT CAST(n AS TEXT) AS n FROM t ORDER BY id"})).await;
    assert_eq!(cast, json!([{"n": null}, {"n": "5"}, {"n": "five"}]));
}

#[tokio::test]
async fn a_mix_without_a_declared_type_is_text_in_any_order() {
    let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, loose, price NUMERIC);
        INSERT INTO t VALUES (1, NULL, 2.5), (2, 5, 7), (3, 'five', 'n/a'), (4, 2.0, NULL);";
    let fixture = Fixture::new(Kind::Sqlite, setup).await.unwrap();
    let tool = fixture.tool();
    let mut expected = vec![
        json!({"id": 1, "loose": null, "price": "2.5"}),
        json!({"id": 2, "loose": "5", "price": "7"}),
        json!({"id": 3, "loose": "five", "price": "n/a"}),
        json!({"id": 4, "loose": "2.0", "price": null}),
    ];
    for order in ["id", "id DESC"] {
        assert_eq!(rows(&tool, json!({"table": "t", "order_by": order})).await, json!(expected), "{order}");
        expected.reverse();
    }
    let numbers = rows(&tool, json!({"table": "t", "where": "id IN (2, 4)", "columns": ["loose"]})).await;
    assert_eq!(numbers, json!([{"loose": 5}, {"loose": 2.0}]));
    let each = "SELECT value FROM json_each('[1, \"a\", 0.5, null]')";
    let found = rows(&tool, json!({"sql": each})).await;
    assert_eq!(found, json!([{"value": "1"}, {"value": "a"}, {"value": "0.5"}, {"value": null}]));
    let size = 64;
    let small = fixture.tool_with(|settings| settings.bytes_max = size);
    let large = "SELECT 1 AS n UNION ALL SELECT 'text' UNION ALL SELECT 12345678901234567";
    let refused = failure(&small, json!({"sql": large})).await;
    assert_eq!(refused.code, "result_too_large");
}

#[tokio::test]
async fn a_json_column_is_tables_on_every_database() {
    let setup = r#"CREATE TABLE t (id INTEGER PRIMARY KEY, doc JSON, note TEXT);
        INSERT INTO t VALUES (1, '{"a": [1, null, {"b": 0.5}], "$bytes": "aGk="}', '[1]'), (2, NULL, '{}'), (3, '7', NULL),
            (4, '"two"', ''), (5, 'true', '1'), (6, 'null', '2'), (7, '[18446744073709551615]', 'x');"#;
    for fixture in Fixture::all(setup).await {
        let found = rows(&fixture.tool(), json!({"table": "t", "order_by": "id"})).await;
        let documents: Vec<_> = found.as_array().unwrap().iter().map(|row| &row["doc"]).collect();
        let first = json!({"a": [1, null, {"b": 0.5}], "$bytes": "aGk="});
        let expected = [
            &first,
            &json!(null),
            &json!(7),
            &json!("two"),
            &json!(true),
            &json!(null),
            &json!([18_446_744_073_709_551_615.0]),
        ];
        assert_eq!(documents, expected, "{}", fixture.kind.name());
        assert_eq!(found[0]["note"], "[1]", "{}: text stays text", fixture.kind.name());
        let joined = "SELECT l.doc AS left_doc, r.note FROM t l JOIN t r ON l.id = r.id WHERE l.id = 1";
        let joined = rows(&fixture.tool(), json!({"sql": joined})).await;
        assert_eq!(joined, json!([{"left_doc": first, "note": "[1]"}]), "{}", fixture.kind.name());
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_cell_of_a_json_column_that_is_no_json_is_refused() {
    let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, doc JSON);
        INSERT INTO t VALUES (1, '{}'), (2, 'plain'), (3, x'8c'), (4, '[[[[[[[[1]]]]]]]]');";
    let fixture = Fixture::new(Kind::Sqlite, setup).await.unwrap();
    for id in [2, 3] {
        let condition = json!({"table": "t", "where": "id = ?", "params": [id]});
        let refused = failure(&fixture.tool(), condition).await;
        assert_eq!(refused.code, "query_failed", "{id}");
        assert!(refused.message.contains("`doc` of the type JSON"), "{id}: {}", refused.message);
    }
    let small = fixture.tool_with(|settings| settings.bytes_max = 16);
    let large = failure(&small, json!({"table": "t", "columns": ["doc"], "where": "id = 4"})).await;
    assert_eq!(large.code, "result_too_large");
}

#[tokio::test]
async fn the_cast_that_a_failure_advises_works_on_its_database() {
    for kind in KINDS {
        let unreadable = if kind == Kind::Postgres { "'NaN'" } else { "5" };
        let declared = if kind == Kind::Postgres { "double precision" } else { "BOOLEAN" };
        let setup = format!("CREATE TABLE t (v {declared}); INSERT INTO t VALUES ({unreadable});");
        let Some(fixture) = Fixture::new(kind, &setup).await else { continue };
        let refused = failure(&fixture.tool(), json!({"table": "t"})).await;
        let help = refused.details["help"].as_str().unwrap();
        let (_, cast) = help.split_once(": ").unwrap();
        let found = rows(&fixture.tool(), json!({"sql": format!("SELECT {cast} AS v FROM t")})).await;
        assert_eq!(found, json!([{"v": unreadable.trim_matches('\'')}]), "{help}");
        fixture.close().await;
    }
}

#[tokio::test]
async fn a_table_that_is_altered_between_two_queries_is_read_as_it_is() {
    let setup = "CREATE TABLE t (id INTEGER PRIMARY KEY, doc JSON, note TEXT);
        INSERT INTO t VALUES (1, '[1]', '[0]');";
    for kind in [Kind::Postgres, Kind::Mysql] {
        let Some(fixture) = Fixture::new(kind, setup).await else { continue };
        let tool = fixture.tool_with(|settings| settings.pool_size = 1);
        let asked = json!({"table": "t"});
        assert_eq!(rows(&tool, asked.clone()).await, json!([{"id": 1, "doc": [1], "note": "[0]"}]));
        let altered = match kind {
            Kind::Mysql => "ALTER TABLE t ADD name TEXT DEFAULT '[2]' FIRST",
            _ => "ALTER TABLE t ADD name TEXT DEFAULT '[2]'",
        };
        fixture.execute(altered).await;
        let found = rows(&tool, asked).await;
        assert_eq!(found, json!([{"id": 1, "doc": [1], "note": "[0]", "name": "[2]"}]), "{kind:?}");
        fixture.close().await;
    }
}
