//! A report that a plan makes of 100,000 orders equals what the database answers itself.
//!
//! Amounts are compared to the cent: both sides round the exact sum once, halves away from zero. PostgreSQL and MariaDB
//! sum decimals. SQLite stores a DECIMAL as a double, so it is asked for the sum of whole hundredths of a cent.

use std::collections::BTreeMap;

use serde_json::Value as Json;
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, PgConnection, SqliteConnection};

use super::{Fixture, Kind};
use crate::app_parts::Bench;

const PLAN: &str = "tests/cases/query_db/shop_report.lua";

const ORDERS: u32 = 100_000;

/// How a database writes what the others write in another way.
struct Words {
    /// One row for each order, its number as `n`.
    numbers: &'static str,
    /// `DAYS` days after the first.
    day: &'static str,
    text: &'static str,
    month: &'static str,
    /// The revenue of a group, as text with two digits.
    revenue: &'static str,
    mean_price: &'static str,
    median_price: &'static str,
}

const SQLITE: Words = Words {
    numbers: "(WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 100000) \
              SELECT n FROM count)",
    day: "date('2025-01-01', (DAYS) || ' days')",
    text: "TEXT",
    month: "strftime('%Y-%m', ordered_on)",
    revenue: "(SELECT printf('%d.%02d', cents / 100, cents % 100) FROM (SELECT (SUM(quantity \
              * CAST(ROUND(unit_price * 100) AS INTEGER) * (100 - CAST(ROUND(discount * 100) AS INTEGER))) + 50) / 100 \
              AS cents))",
    mean_price: "ROUND(AVG(CAST(ROUND(unit_price * 100) AS INTEGER)) / 100, 2) FROM orders",
    median_price: "ROUND(AVG(cents) / 100, 2) FROM (SELECT CAST(ROUND(unit_price * 100) AS INTEGER) AS cents \
                   FROM orders ORDER BY cents LIMIT 2 OFFSET 49999)",
};

const POSTGRES: Words = Words {
    numbers: "generate_series(1::bigint, 100000) AS numbers(n)",
    day: "DATE '2025-01-01' + (DAYS)::int",
    text: "text",
    month: "to_char(ordered_on, 'YYYY-MM')",
    revenue: "ROUND(SUM(quantity * unit_price * (1 - discount)), 2)",
    mean_price: "ROUND(AVG(unit_price), 2) FROM orders",
    median_price: "ROUND((percentile_cont(0.5) WITHIN GROUP (ORDER BY unit_price))::numeric, 2) FROM orders",
};

const MYSQL: Words = Words {
    numbers: "(SELECT seq AS n FROM seq_1_to_100000) AS numbers",
    day: "DATE_ADD('2025-01-01', INTERVAL (DAYS) DAY)",
    text: "CHAR",
    month: "DATE_FORMAT(ordered_on, '%Y-%m')",
    revenue: "ROUND(SUM(quantity * unit_price * (1 - discount)), 2)",
    mean_price: "ROUND(AVG(unit_price), 2) FROM orders",
    median_price: "ROUND(MEDIAN(unit_price) OVER (), 2) FROM orders LIMIT 1",
};

impl Words {
    fn of(kind: Kind) -> &'static Self {
        match kind {
            Kind::Sqlite => &SQLITE,
            Kind::Postgres => &POSTGRES,
            Kind::Mysql => &MYSQL,
        }
    }

    fn day(&self, days: &str) -> String {
        self.day.replace("DAYS", days)
    }

    /// The shop: every value follows from the number of its row. Discounts of 5 % make halves of a cent.
    fn shop(&self) -> String {
        let (ordered, shipped) = (self.day("n * 37 % 365"), self.day("n * 37 % 365 + 3"));
        let numbers = self.numbers;
        format!(
            "CREATE TABLE products (id INTEGER PRIMARY KEY, name VARCHAR(40) NOT NULL);
            CREATE TABLE customers (id INTEGER PRIMARY KEY, country VARCHAR(40));
            CREATE TABLE orders (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, customer_id INTEGER NOT NULL,
                quantity INTEGER NOT NULL, unit_price DECIMAL(10,2) NOT NULL, discount DECIMAL(4,2) NOT NULL,
                ordered_on DATE NOT NULL, shipped_on DATE);
            INSERT INTO products SELECT n, CONCAT('Product ', n) FROM {numbers} WHERE n <= 50;
            INSERT INTO customers SELECT n, CASE WHEN n % 9 = 0 THEN NULL ELSE CONCAT('Country ', n % 7) END
                FROM {numbers} WHERE n <= 1000;
            INSERT INTO orders SELECT n, n * 7919 % 50 + 1, n * 104729 % 1000 + 1, n % 7 + 1,
                (n * 7907 % 19901 + 99) / 100.0, n * 13 % 4 * 5 / 100.0, {ordered},
                CASE WHEN n % 11 = 0 THEN NULL ELSE {shipped} END FROM {numbers};"
        )
    }

    /// Two columns of text: the name of a group, and its revenue.
    fn grouped(&self, key: &str, rest: &str) -> String {
        let Self { text, revenue, .. } = self;
        format!(
            "SELECT CAST({key} AS {text}), CAST({revenue} AS {text}) FROM orders \
             JOIN products ON products.id = product_id JOIN customers ON customers.id = customer_id \
             GROUP BY {key} {rest}"
        )
    }

    /// One row of two columns of text: the figure twice.
    fn single(&self, figure: &str) -> String {
        let (figure, rest) = figure.split_once(" FROM ").unwrap();
        let figure = format!("CAST({figure} AS {})", self.text);
        format!("SELECT {figure}, {figure} FROM {rest}")
    }
}

/// What the database itself answers, past the tool.
async fn asked(fixture: &Fixture, sql: String) -> Vec<(String, String)> {
    let query = AssertSqlSafe(sql);
    match fixture.kind {
        Kind::Sqlite => {
            let mut connection = SqliteConnection::connect(&fixture.url).await.unwrap();
            sqlx::query_as(query).fetch_all(&mut connection).await.unwrap()
        }
        Kind::Postgres => {
            let mut connection = PgConnection::connect(&fixture.url).await.unwrap();
            sqlx::query_as(query).fetch_all(&mut connection).await.unwrap()
        }
        Kind::Mysql => {
            let mut connection = MySqlConnection::connect(&fixture.url).await.unwrap();
            sqlx::query_as(query).fetch_all(&mut connection).await.unwrap()
        }
    }
}

fn amounts(rows: Vec<(String, String)>) -> BTreeMap<String, f64> {
    rows.into_iter().map(|(name, amount)| (name, amount.parse().unwrap())).collect()
}

/// The amounts of a table that the plan returned.
fn reported(report: &Json, name: &str) -> BTreeMap<String, f64> {
    let members = report[name].as_object().unwrap();
    members.iter().map(|(name, amount)| (name.clone(), amount.as_f64().unwrap())).collect()
}

async fn the_report_equals_the_databases_own_answer(kind: Kind) {
    let words = Words::of(kind);
    let Some(fixture) = Fixture::new(kind, &words.shop()).await else { return };
    let databases = format!("{{ main = {:?} }}", fixture.url);
    let bench = Bench::with(&[("tools.query_db.databases", &databases)], None).await;
    let plan = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(PLAN);
    let outcome = bench.run(&std::fs::read_to_string(plan).unwrap()).await;
    let report = outcome.result.unwrap().to_json();

    let country = "COALESCE(country, '(none)')";
    let groups =
        [("by_product", "products.name", 50), ("by_month", words.month, 12), ("by_country", country, 8)];
    for (figure, key, count) in groups {
        let expected = amounts(asked(&fixture, words.grouped(key, "")).await);
        assert_eq!(expected.len(), count, "{figure}");
        assert_eq!(reported(&report, figure), expected, "{figure} on {}", kind.name());
    }
    let best = asked(
        &fixture,
        words.grouped(
            "products.name",
            "ORDER BY SUM(quantity * unit_price * (1 - discount)) \
        DESC, products.name LIMIT 10",
        ),
    )
    .await;
    let best: Vec<Json> = best.into_iter().map(|(name, _)| Json::from(name)).collect();
    assert_eq!(report["best"], Json::from(best), "on {}", kind.name());
    let singles = [
        ("orders", "COUNT(*) FROM orders"),
        ("mean_price", words.mean_price),
        ("median_price", words.median_price),
        ("not_shipped", "COUNT(*) - COUNT(shipped_on) FROM orders"),
        (
            "without_country",
            "COUNT(*) - COUNT(country) FROM orders JOIN customers ON customers.id = customer_id",
        ),
    ];
    for (figure, sql) in singles {
        let expected: f64 = asked(&fixture, words.single(sql)).await[0].0.parse().unwrap();
        assert_eq!(report[figure].as_f64(), Some(expected), "{figure} on {}", kind.name());
    }
    assert_eq!(report["orders"], ORDERS);
    fixture.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_report_over_100_000_orders_equals_the_answer_of_sqlite() {
    the_report_equals_the_databases_own_answer(Kind::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_report_over_100_000_orders_equals_the_answer_of_postgres() {
    the_report_equals_the_databases_own_answer(Kind::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_report_over_100_000_orders_equals_the_answer_of_mysql() {
    the_report_equals_the_databases_own_answer(Kind::Mysql).await;
}
