//! The time of the disk and SQLite alone: the reference for journaled runs.

use std::fs::File;
use std::io::Write as _;

use criterion::{Criterion, Throughput};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};

use crate::parts::runtime;

/// Commits in one request to the connection, so that its thread does not count.
const COMMITS: u64 = 20;

/// About the size of a record.
const ROW_BYTES: usize = 700;

pub(crate) fn bench(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let mut group = criterion.benchmark_group("disk");
    group.sample_size(15);
    group.bench_function("fdatasync_4_kib", |bencher| {
        let mut file = File::create(folder.path().join("plain")).unwrap();
        let page = [7_u8; 4096];
        bencher.iter(|| {
            file.write_all(&page).unwrap();
            file.sync_data().unwrap();
        });
    });
    let runtime = runtime();
    for synchronous in ["NORMAL", "FULL"] {
        let path = folder.path().join(synchronous);
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .disable_statement_logging();
        let mut connection = runtime.block_on(options.connect()).unwrap();
        runtime.block_on(prepare(&mut connection, synchronous));
        let insert = format!("INSERT INTO rows (body) VALUES ('{}');", "x".repeat(ROW_BYTES));
        let script = insert.repeat(usize::try_from(COMMITS).unwrap());
        group.throughput(Throughput::Elements(COMMITS));
        group.bench_function(format!("sqlite_wal_20_commits_{}", synchronous.to_lowercase()), |bencher| {
            bencher.iter(|| {
                let script = AssertSqlSafe(script.clone());
                runtime.block_on(connection.execute(sqlx::raw_sql(script))).unwrap();
            });
        });
        runtime.block_on(connection.close()).unwrap();
    }
    group.finish();
}

async fn prepare(connection: &mut SqliteConnection, synchronous: &str) {
    let pragma = AssertSqlSafe(format!("PRAGMA synchronous = {synchronous}"));
    connection.execute(sqlx::raw_sql(pragma)).await.unwrap();
    connection
        .execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT")
        .await
        .unwrap();
}
